"""A response with its numbered sentences, and what it is held against: a reference, contexts, or other samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from checkers.checker import Undecidable
from checkers.consistency.control import control_sentence
from checkers.consistency.sentences import Sentence
from models.claims import ClaimKind, Claims
from models.fencing import fence_tag
from models.prompts import as_element, list_of
from schemas import Generation, Task

_SHOWN_BEFORE = 5
"""Sentences: so far back a pronoun reaches."""

_MOST_SAMPLES = 20
"""Samples that a response is compared with."""


@dataclass(frozen=True, slots=True)
class ResponseSource:
    """The texts that a response is held against, one by one."""

    against: Literal["reference", "contexts", "samples"]
    texts: tuple[str, ...]
    """One where there is a reference or contexts, else a text a sample."""


def source_of(record: Generation) -> ResponseSource:
    """The texts that `record` brings along.

    Raises:
        Undecidable: `no_reference` where it brings nothing.
    """
    # Contexts and a true answer are both what the response may draw on.
    texts = [text for text in (*record.contexts, record.reference or "") if text.strip()]
    if texts:
        return ResponseSource("reference" if record.reference else "contexts", ("\n\n".join(texts),))
    samples = tuple(text for text in record.samples if text.strip())[:_MOST_SAMPLES]
    if samples:
        return ResponseSource("samples", samples)
    raise Undecidable("no_reference", "the record has neither a reference nor contexts nor other samples")


@dataclass(frozen=True, slots=True)
class CheckedResponse:
    """A response with its numbered sentences, and what it is held against."""

    task: Task
    reference: str
    response: str
    prompt: str | None
    sentences: tuple[Sentence, ...]
    """Numbered from 1."""
    elements: tuple[str, ...]
    """The sentences as lines of a list for a fence, each with its number, and the control sentence behind them."""
    tag: str
    """The tag of the fences in all questions about this response and reference, so that they begin alike."""

    @classmethod
    def of(cls, task: Task, reference: str, response: str, prompt: str | None, sentences: Sequence[Sentence]) -> Self:
        """With the tag of all that its questions may show."""
        sentences = tuple(sentences)
        elements = tuple(
            as_element({"number": number, "sentence": one.text}) for number, one in enumerate(sentences, start=1)
        )
        tag = fence_tag((reference, response, prompt or "", *elements))
        control = as_element({"number": len(sentences) + 1, "sentence": control_sentence(tag)})
        return cls(task, reference, response, prompt, sentences, (*elements, control), tag)

    @property
    def numbers(self) -> range:
        """The numbers of all its sentences."""
        return range(1, len(self.sentences) + 1)

    @property
    def control(self) -> int:
        """The number of the control sentence."""
        return len(self.elements)

    @property
    def claims(self) -> Claims:
        """For a judge that grades: the sentences against the reference."""
        sentences = tuple(one.text for one in self.sentences)
        return Claims(self.reference, sentences, ClaimKind(self.task), self.prompt)

    @property
    def asker(self) -> str:
        """The user's question, for a fence."""
        return self.prompt or "(not known)"

    def listed(self, numbers: Sequence[int]) -> str:
        """The sentences with these numbers, for a fence."""
        return list_of([self.elements[number - 1] for number in numbers])

    def around(self, numbers: Sequence[int]) -> str:
        """The stretch of the response from a few sentences before these to the one behind them."""
        first, last = max(min(numbers) - _SHOWN_BEFORE, 1), min(max(numbers) + 1, len(self.sentences))
        return self.response[self.sentences[first - 1].start : self.sentences[last - 1].end]

    def against(self, reference: str) -> Self:
        """The same against a piece of its reference."""
        return replace(self, reference=reference)
