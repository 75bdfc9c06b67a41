"""The questions of DCE and AMC to a judge, and the entries that it answers (paper, appendix A.2)."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, get_args

from pydantic import BaseModel, ConfigDict

from checkers.consistency.material import CheckedResponse, NumberedResponse
from models.prompts import Placeholders, PromptSet, as_list
from models.protocol import Question
from models.replies import salvaging
from schemas import Task

CONVERT = "convert"

TOKENS_AN_ENTRY = 60
"""Tokens of an entry with a long reason; most take half of it."""

CONSISTENT = "consistent"
"""The field of an entry that decides."""


class Entry(BaseModel):
    """The judge's word on one numbered sentence, or on one numbered reason.

    The fields are in the order in which they are to be written: a model that has told why decides better.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    reason: str
    consistent: bool | None
    """None: the sentence claims nothing."""


class Entries(BaseModel):
    """An answer: an entry a number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: list[Entry]


whole_entries = salvaging(Entries, "entries")
"""The entries of an answer that was cut off, without the last if that is not whole."""


class ConsistencyQuestions(PromptSet):
    """Questions about a response, and about the judge's own reasons."""

    package = "checkers.consistency.prompts"
    placeholders: ClassVar = {
        **{
            task: Placeholders(
                ("reference", "question", "response"), ("marks", "numbers", "count"), ("question", "count")
            )
            for task in get_args(Task)
        },
        CONVERT: Placeholders(("reasons",), ("count",), ("count",)),
    }

    def about(self, material: CheckedResponse, shown: NumberedResponse) -> Question[Entries]:
        """DCE: an entry for each sentence that is asked about."""
        fenced = {"reference": material.reference, "question": material.asker, "response": shown.text}
        first, last = shown.asked[0], shown.asked[-1]
        in_a_row = last - first < len(shown.asked)
        numbers = f"{first} to {last}" if in_a_row else ", ".join(map(str, shown.asked))
        marks = f"{material.mark(1)} and {material.mark(2)}"
        return self._entries(material.task, fenced, shown.asked, tag=material.tag, marks=marks, numbers=numbers)

    def conversion(self, reasons: Mapping[int, str]) -> Question[Entries]:
        """AMC: an entry for each of `reasons`, by number."""
        listed = as_list([{"number": number, "reason": reason} for number, reason in reasons.items()])
        return self._entries(CONVERT, {"reasons": listed}, tuple(reasons))

    def _entries(
        self, name: str, fenced: Mapping[str, str], asked: Sequence[int], *, tag: str | None = None, **plain: str
    ) -> Question[Entries]:
        return self._question(
            name,
            f"consistency.{name}",
            Entries,
            fenced,
            {**plain, "count": str(len(asked))},
            tag=tag,
            complaint=_lacks_all(asked),
            graded=CONSISTENT,
            salvage=whole_entries,
            written=TOKENS_AN_ENTRY * len(asked),
        )


def _lacks_all(numbers: Sequence[int]) -> Callable[[Entries], str | None]:
    """A reply is refused only if nothing of it can be used: else only what it lacks is asked again."""
    known = frozenset(numbers)

    def complaint(reply: Entries) -> str | None:
        if any(entry.number in known for entry in reply.entries):
            return None
        return f"'entries' has none with a number of the list: {', '.join(map(str, numbers))}"

    return complaint
