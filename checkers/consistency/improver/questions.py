"""The questions that RAI puts to a writer, rendered from templates."""

from collections.abc import Sequence
from typing import ClassVar

from checkers.consistency.improver.rewrites import (
    SentenceRewrites,
    WholeRewrite,
    too_long,
    usable_rewrites,
    whole_rewrites,
)
from checkers.consistency.questions import CheckedResponse
from models.fencing import fence_tag
from models.prompts import Placeholders, PromptSet, as_list
from models.protocol import Question
from schemas import SentenceFinding, Task

_SENTENCES = "improve"
_WHOLE = "improve.paragraph"
_MATERIAL = ("reference", "response", "question")
_OPTIONAL = ("question", "source", "text")

_WORDS: dict[Task, dict[str, str]] = {
    "summary": {"source": "article", "text": "summary"},
    "answer": {"source": "passages", "text": "answer"},
    "paraphrase": {"source": "true answer", "text": "attempt at it"},
}
"""What a task's reference and response are called; the other placeholders are the same for all tasks."""


class ImproverQuestions(PromptSet):
    """What a writer is asked for."""

    package = "checkers.consistency.prompts"
    placeholders: ClassVar = {
        _SENTENCES: Placeholders(
            (*_MATERIAL, "sentences"), ("source", "text", "count"), (*_OPTIONAL, "response", "count")
        ),
        _WHOLE: Placeholders((*_MATERIAL, "reason"), ("source", "text"), _OPTIONAL),
    }

    def about_sentences(
        self, material: CheckedResponse, faults: Sequence[SentenceFinding], numbers: Sequence[int]
    ) -> Question[SentenceRewrites]:
        """RAI: a rewrite for those of `faults` with these numbers (from 1); they stand in `material.response`."""
        fenced = {**_fenced(material), "sentences": _listed(faults, numbers)}
        # All parts of the list begin alike, as the judge's questions do.
        tag = fence_tag([*_fenced(material).values(), _listed(faults, range(1, len(faults) + 1))])
        wanted = {number: faults[number - 1].text for number in numbers}

        def complaint(reply: SentenceRewrites) -> str | None:
            if usable_rewrites(reply, wanted):
                return None
            return (
                f"'sentences' needs one entry for each number of the list ({', '.join(map(str, numbers))}), and in "
                "'improved' no more than about three times the sentence's length"
            )

        return self._question(
            _SENTENCES,
            f"{_SENTENCES}.{material.task}",
            SentenceRewrites,
            fenced,
            {**_WORDS[material.task], "count": str(len(numbers))},
            tag=tag,
            complaint=complaint,
            salvage=whole_rewrites,
        )

    def about_whole(self, material: CheckedResponse, reason: str) -> Question[WholeRewrite]:
        """RAI in paragraph granularity: the whole response anew, given why it is not consistent."""

        def complaint(reply: WholeRewrite) -> str | None:
            if not reply.improved.strip():
                return "'improved' is empty"
            if too_long(reply.improved.strip(), material.response):
                return "'improved' is more than three times as long as the text"
            return None

        return self._question(
            _WHOLE,
            f"{_WHOLE}.{material.task}",
            WholeRewrite,
            {**_fenced(material), "reason": reason},
            _WORDS[material.task],
            complaint=complaint,
        )


def _listed(faults: Sequence[SentenceFinding], numbers: Sequence[int]) -> str:
    return as_list(
        [
            {"number": number, "sentence": faults[number - 1].text, "reason": faults[number - 1].reason}
            for number in numbers
        ]
    )


def _fenced(material: CheckedResponse) -> dict[str, str]:
    return {
        "reference": material.reference,
        "response": material.response,
        "question": material.asker,
    }
