"""What a response is held against: its reference and contexts as one text, or several other samples."""

from dataclasses import dataclass
from typing import Literal

from checkers.checker import Undecidable
from schemas import Generation


@dataclass(frozen=True, slots=True)
class ResponseSource:
    """The texts that a response is held against, one by one."""

    against: Literal["reference", "contexts", "samples"]
    texts: tuple[str, ...]
    """One where there is a reference or contexts, else a text a sample."""


def source_of(record: Generation, *, max_samples: int) -> ResponseSource:
    """What `record` brings along.

    Raises:
        Undecidable: `no_reference` where it brings nothing.
    """
    # Contexts and a true answer are both what the response may draw on.
    texts = [text for text in (*record.contexts, record.reference or "") if text.strip()]
    if texts:
        return ResponseSource("reference" if record.reference else "contexts", ("\n\n".join(texts),))
    samples = tuple(text for text in record.samples if text.strip())[:max_samples]
    if samples:
        return ResponseSource("samples", samples)
    raise Undecidable("no_reference", "the record has neither a reference nor contexts nor other samples")
