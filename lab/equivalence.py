"""A subject's own yes and no about pairs of sentences, next to what is proved and what stands."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from assay.config import Configuration
from checkers.checker import Models, Undecidable
from checkers.equivalence import PLUGIN
from checkers.equivalence.checker import EquivalenceChecker, EquivalenceSettings
from checkers.intervals import wilson
from checkers.model_patience import ModelPatience
from lab.report import Report, table
from lab.runs import Run, subject_name
from models.work import Work
from schemas import Paraphrase, Usage


class LabelledPair(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(frozen=True)

    sentence1: str
    sentence2: str
    label: bool | None = None
    """True if the sentences mean the same; never shown to the subject."""


class PairResult(LabelledPair):
    """A line of the output."""

    number: int
    """Its place in the file, from 1."""
    answer: bool | None = None
    """The subject's yes or no; null if it gave none."""
    outcome: Literal["accept", "reject", "abstain"] = "abstain"
    reason: str
    usage: Usage = Usage()


def report(results: Sequence[PairResult]) -> Report:
    """Accuracy of the answers, and the shares of them that the checker accepts, by label.

    A row for each label that occurs, and one for all; shares are 0 to 1, null if nothing was counted.
    """
    labels = {"same": True, "different": False}
    by_label = {name: [one for one in results if one.label is label] for name, label in labels.items()}
    rows = {name: _row(found) for name, found in (by_label | {"all": list(results)}).items() if found}
    header = ["label", *next(iter(rows.values()), {})]
    said = "a yes is proved or not, a no stands or not; neither becomes the other, and the rest is undecided"
    return Report(rows, [*table(header, ([name, *row.values()] for name, row in rows.items())), said])


def _row(results: Sequence[PairResult]) -> dict[str, Any]:
    answered = [one for one in results if one.answer is not None]
    compared = [one.answer == one.label for one in answered if one.label is not None]
    right, (low, high) = sum(compared), wilson(sum(compared), len(compared))
    row: dict[str, Any] = {"pairs": len(results), "right": right / len(compared) if compared else None}
    row["interval"] = f"{low:.3f}-{high:.3f}" if compared else None
    for word, answer, done in (("yes", True, "proved"), ("no", False, "stands")):
        decided = [one.outcome == "accept" for one in answered if one.answer is answer and one.outcome != "abstain"]
        row |= {word: sum(one.answer is answer for one in answered), f"{word} decided": len(decided)}
        row[done] = sum(decided)
    return row | {"undecided": sum(one.outcome == "abstain" for one in results)}


class PairRun(Run[tuple[int, LabelledPair], PairResult]):
    """A subject's answers to pairs, with their verdicts."""

    things, plugin = "pairs", PLUGIN

    def __init__(self, configured: Configuration, pairs: Iterable[LabelledPair], subject: str, models: Models) -> None:
        section = configured.checkers.get("equivalence")
        settings = section if isinstance(section, EquivalenceSettings) else EquivalenceSettings()
        self.items = list(enumerate(pairs, start=1))
        self._subject = subject_name(configured, subject, "--subject")
        self.asked = [models.subjects[self._subject]]
        self._checker = EquivalenceChecker(settings, models)

    async def result(self, item: tuple[int, LabelledPair], patience: ModelPatience) -> PairResult:
        number, pair = item
        fields = {"id": str(number), "kind": "paraphrase", "source": "file", "model": self._subject, "answer": True}
        record = Paraphrase.model_validate(fields | pair.model_dump(exclude={"label"}))
        given = pair.model_dump() | {"number": number}
        with Work() as bill:
            try:
                answer = await patience.until_answered(lambda: self._checker.answer_of(record))
            except Undecidable as error:
                return PairResult(**given, reason=error.detail, usage=bill.usage)
        answered = record.model_copy(update={"answer": answer})
        verdict = await patience.until_answered(lambda: self._checker.check(answered))
        spent = bill.usage + verdict.usage
        return PairResult(**given, answer=answer, outcome=verdict.outcome, reason=verdict.reason, usage=spent)

    def figures(self, results: Sequence[PairResult]) -> Report:
        return report(results)

    async def close(self) -> None:
        await self._checker.close()
