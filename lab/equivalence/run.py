"""A subject's own yes and no about pairs of sentences, next to what is proved and what stands."""

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from assay.cli.common import (
    CannotRun,
    models_of,
    progress,
)
from assay.config import Configuration
from checkers.checker import Undecidable
from checkers.equivalence.checker import EquivalenceChecker, EquivalenceSettings
from checkers.intervals import wilson
from checkers.lines import read_forms
from checkers.model_patience import ModelPatience
from lab.kept_answers import kept_run
from lab.report import table
from models.billing import billed
from models.concurrent import in_order
from schemas import Paraphrase, Usage

_WINDOW = 16


class Pair(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(frozen=True)

    sentence1: str
    sentence2: str
    label: bool | None = None
    """True if the sentences mean the same; never shown to the subject."""


class PairResult(Pair):
    """A line of the output."""

    number: int
    """Its place in the file, from 1."""
    answer: bool | None = None
    """The subject's yes or no; null if it gave none."""
    outcome: Literal["accept", "reject", "abstain"] = "abstain"
    reason: str
    usage: Usage = Usage()


class PairFigures:
    """Accuracy of the answers, and the shares of them that the checker accepts, by label."""

    def __init__(self, results: Sequence[PairResult]) -> None:
        self._results = results

    def summary(self) -> dict[str, Any]:
        """A row for each label that occurs, and one for all; shares are 0 to 1, null if nothing was counted."""
        labels = {"same": True, "different": False}
        rows = {name: [one for one in self._results if one.label is label] for name, label in labels.items()}
        rows["all"] = list(self._results)
        return {name: _row(found) for name, found in rows.items() if found}

    def lines(self) -> Iterator[str]:
        """A table for a person."""
        rows = self.summary()
        yield from table(
            ["label", *next(iter(rows.values()), {})], ([name, *row.values()] for name, row in rows.items())
        )
        yield "a yes is proved or not, a no stands or not; neither becomes the other, and the rest is undecided"


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


def read_pairs(path: Path) -> list[Pair]:
    """The pairs on the lines of a file; raises CannotRun for a line that is none."""
    return list(read_forms(Pair, path, "pair of sentences", fault=CannotRun))


async def answered(configured: Configuration, pairs: Sequence[Pair], subject: str, out: Path | None) -> PairFigures:
    """The subject's answers to all pairs, with their verdicts.

    Raises:
        CannotRun: there is no such subject, or several and none was named.
    """
    section = configured.checkers.get("equivalence")
    settings = section if isinstance(section, EquivalenceSettings) else EquivalenceSettings()
    names = list(configured.subjects)
    name = subject or (names[0] if len(names) == 1 else "")
    if name not in names:
        raise CannotRun(f"--subject {name or 'is needed'}: the subjects configured are: {', '.join(names) or 'none'}")
    async with models_of(configured) as models:
        with kept_run(out, models) as (kept, results), progress(len(pairs)) as shown:
            checker = EquivalenceChecker(settings, kept)
            patience = ModelPatience(shown.say)

            async def result(numbered: tuple[int, Pair]) -> PairResult:
                number, pair = numbered
                fields = {"id": str(number), "kind": "paraphrase", "source": "file", "model": name, "answer": True}
                record = Paraphrase.model_validate(fields | pair.model_dump(exclude={"label"}))
                given = pair.model_dump() | {"number": number}
                with billed() as bill:
                    try:
                        answer = await patience.until_answered(lambda: checker.answer_of(record))
                    except Undecidable as error:
                        return PairResult(**given, reason=error.detail, usage=bill.usage)
                verdict = await patience.until_answered(
                    lambda: checker.check(record.model_copy(update={"answer": answer}))
                )
                spent = bill.usage + verdict.usage
                return PairResult(**given, answer=answer, outcome=verdict.outcome, reason=verdict.reason, usage=spent)

            async def each() -> AsyncIterator[tuple[int, Pair]]:
                for numbered in enumerate(pairs, start=1):
                    yield numbered

            def emit(one: PairResult) -> None:
                results.append(one)
                shown.at(len(results), f"{len(results)} pairs")

            await in_order(each(), result, emit, window=_WINDOW)
            await checker.close()
    return PairFigures(results)
