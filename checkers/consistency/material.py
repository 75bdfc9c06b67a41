"""A response with its numbered sentences, and what it is held against: a reference, contexts, or other samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from checkers.checker import Undecidable
from checkers.consistency.control import control_sentence, drawn
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
    control_text: str
    """The control sentence."""
    place: int
    """Sentences before it."""
    tag: str
    """The tag of the fences in all questions about this reference, so that they begin alike."""

    @classmethod
    def of(cls, task: Task, reference: str, response: str, prompt: str | None, sentences: Sequence[Sentence]) -> Self:
        """With a control sentence among the others, never the last, and a tag that stands in none of the texts."""
        sentences = tuple(sentences)
        number = drawn(f"{reference}\n{response}")
        control = control_sentence([one.text for one in sentences], reference, number)
        tag = fence_tag((reference, response, prompt or "", control), of=reference)
        return cls(task, reference, response, prompt, sentences, control, number % max(len(sentences), 1), tag)

    @property
    def numbers(self) -> range:
        """The numbers of its own sentences."""
        return range(1, len(self.sentences) + 1)

    @property
    def control(self) -> int:
        """The number of the control sentence."""
        return len(self.sentences) + 1

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
        """The sentences with these numbers, for a fence, the control sentence among them and never the last."""
        texts = [*(one.text for one in self.sentences), self.control_text]
        lines = [as_element({"number": number, "sentence": texts[number - 1]}) for number in numbers]
        lines.insert(
            self.place % max(len(lines), 1), as_element({"number": self.control, "sentence": self.control_text})
        )
        return list_of(lines)

    def shown(self, numbers: Sequence[int] = ()) -> str:
        """The response with the control sentence in its place; of several numbers only the stretch around them.

        That begins a few sentences before them and ends with the one behind them.
        """
        own = [number - 1 for number in numbers if number != self.control]
        first = max(min(own) - _SHOWN_BEFORE, 0) if own else 0
        last = min(max(own) + 1, len(self.sentences) - 1) if own else len(self.sentences) - 1
        start = self.sentences[first].start if own else 0
        end = self.sentences[last].end if own else len(self.response)
        if not first <= self.place <= last:
            return self.response[start:end]
        before = self.sentences[self.place].start
        return f"{self.response[start:before]}{self.control_text} {self.response[before:end]}"

    def against(self, reference: str) -> Self:
        """The same against a piece of its reference."""
        return replace(self, reference=reference)
