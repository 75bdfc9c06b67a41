"""The questions that DCE and AMC put to a judge, rendered from templates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, get_args

from checkers.consistency.control import control_sentence
from checkers.consistency.replies import CONSISTENT, Entries, whole_entries
from checkers.consistency.sentences import Sentence
from models.claims import ClaimKind, Claims
from models.fencing import fence_tag
from models.prompts import Placeholders, PromptSet, as_element, as_list, list_of
from models.protocol import Question
from schemas import Task

TASKS: tuple[Task, ...] = get_args(Task)
_CONVERT = "convert"
_SHOWN_BEFORE = 5
"""Sentences: so far back a pronoun reaches."""


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
    """Of the fences in all questions about this response and reference, so that they begin alike."""

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
        """Of all its sentences."""
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
        """What the user asked, for a fence."""
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


class ConsistencyQuestions(PromptSet):
    """What a judge is asked about a response, and about its own reasons."""

    package = "checkers.consistency.prompts"
    placeholders: ClassVar = {
        **{
            task: Placeholders(
                ("reference", "question", "response", "sentences"), ("count",), ("question", "response", "count")
            )
            for task in TASKS
        },
        _CONVERT: Placeholders(("reasons",), ("count",), ("count",)),
    }

    def version(self, task: Task) -> dict[str, str]:
        """The digests of the templates that one check of `task` may use."""
        return {used: self[used].version for used in (task, _CONVERT)}

    def about(self, material: CheckedResponse, numbers: Sequence[int], *, excerpt: bool = False) -> Question[Entries]:
        """DCE: an entry for each sentence with one of these numbers, and for the control sentence.

        `excerpt` shows of the response only what is around those sentences.
        """
        own = [number for number in numbers if number != material.control]
        listed = (*own, material.control)
        fenced = {
            "reference": material.reference,
            "question": material.asker,
            "response": material.around(own or [1]) if excerpt else material.response,
            "sentences": material.listed(listed),
        }
        return self._entries(material.task, fenced, listed, tag=material.tag)

    def conversion(self, reasons: Mapping[int, str]) -> Question[Entries]:
        """AMC: an entry for each of `reasons`, by number."""
        listed = as_list([{"number": number, "reason": reason} for number, reason in reasons.items()])
        return self._entries(_CONVERT, {"reasons": listed}, tuple(reasons))

    def _entries(
        self, name: str, fenced: Mapping[str, str], numbers: Sequence[int], *, tag: str | None = None
    ) -> Question[Entries]:
        return self._question(
            name,
            f"consistency.{name}",
            Entries,
            fenced,
            {"count": str(len(numbers))},
            tag=tag,
            complaint=_lacks_all(numbers),
            graded=CONSISTENT,
            salvage=whole_entries,
        )


def _lacks_all(numbers: Sequence[int]) -> Callable[[Entries], str | None]:
    """A reply is refused only if nothing of it can be used: else only what it lacks is asked again."""
    known = frozenset(numbers)

    def complaint(reply: Entries) -> str | None:
        if any(entry.number in known for entry in reply.entries):
            return None
        return f"'entries' has none with a number of the list: {', '.join(map(str, numbers))}"

    return complaint
