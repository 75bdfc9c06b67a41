"""A response with its numbered sentences, and what it is held against: a reference, contexts, or other samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from checkers.checker import Undecidable
from checkers.consistency.control import control_sentence, drawn
from checkers.consistency.sentences import Sentence
from models.claims import ClaimKind, Claims
from models.fencing import fence_tag
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
class NumberedResponse:
    """A response as one question shows it: with a number before each sentence, and a control sentence among them."""

    text: str
    own: dict[int, int]
    """The response's sentences that are asked about: by the number shown, their place in the response, from 1."""
    control: int
    """The number shown before the control sentence."""

    @property
    def asked(self) -> list[int]:
        """The numbers shown before all sentences that are asked about."""
        return sorted((*self.own, self.control))


@dataclass(frozen=True, slots=True)
class CheckedResponse:
    """A response with its sentences, and what it is held against."""

    task: Task
    reference: str
    response: str
    prompt: str | None
    sentences: tuple[Sentence, ...]
    control: str
    """The control sentence."""
    drawn: int
    """A large number that depends on reference and response alone."""
    tag: str
    """The tag of the fences in all questions about this reference, so that they begin alike."""
    code: str
    """Stands beside each number in its mark, and in none of the texts: they cannot number a sentence."""

    @classmethod
    def of(cls, task: Task, reference: str, response: str, prompt: str | None, sentences: Sequence[Sentence]) -> Self:
        """With a control sentence, and codes that stand in none of the texts."""
        number = drawn(f"{reference}\n{response}")
        control = control_sentence([one.text for one in sentences], reference, number)
        texts = (reference, response, prompt or "", control)
        tag, code = fence_tag(texts, of=reference), fence_tag(texts, of=reference, length=4)
        return cls(task, reference, response, prompt, tuple(sentences), control, number, tag, code)

    @property
    def numbers(self) -> range:
        """The numbers of its own sentences."""
        return range(1, len(self.sentences) + 1)

    @property
    def claims(self) -> Claims:
        """For a judge that grades: the sentences against the reference."""
        sentences = tuple(one.text for one in self.sentences)
        return Claims(self.reference, sentences, ClaimKind(self.task), self.prompt)

    @property
    def asker(self) -> str:
        """The user's question, for a fence."""
        return self.prompt or "(not known)"

    def numbered(self, numbers: Sequence[int], *, excerpt: bool) -> NumberedResponse:
        """The response to ask about the sentences with these numbers, in order.

        The control sentence stands before one of them, never the last of several; the numbers count on over it.
        `excerpt` shows the stretch around them, from a few sentences before them to the one behind.
        """
        place = drawn(f"{self.drawn} {numbers[0]}") % max(len(numbers), 2)
        control = [*numbers, numbers[-1] + 1][place]
        first = max(numbers[0] - _SHOWN_BEFORE, 1) if excerpt else 1
        last = min(numbers[-1] + 1, len(self.sentences)) if excerpt else len(self.sentences)
        end = self.sentences[first - 1].start if first > 1 else 0
        shown: list[str] = []
        for number in range(first, last + 1):
            sentence = self.sentences[number - 1]
            between = self.response[end : sentence.start]
            if number == control:
                shown += (between, self.mark(control), " ", self.control)
                # An item of a list for itself, unless the list counts its items.
                between = " " if number == 1 or any(map(str.isalnum, between)) else between
            shown += (between, self.mark(number + (number >= control)), " ", sentence.text)
            end = sentence.end
        if control > last:
            shown += (" ", self.mark(control), " ", self.control)
        if last == len(self.sentences):
            shown.append(self.response[end:])
        return NumberedResponse("".join(shown), {one + (one >= control): one for one in numbers}, control)

    def mark(self, number: int) -> str:
        """Stands before the sentence with this number."""
        return f"[{number}-{self.code}]"

    def against(self, reference: str) -> Self:
        """The same against a piece of its reference."""
        return replace(self, reference=reference)
