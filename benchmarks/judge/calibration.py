"""Calibrated thresholds: how often they keep their promise."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks import datasets
from benchmarks.datasets import Example
from benchmarks.tables import table
from checkers.calibration import GRID, Labelled, calibrate
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from models.concurrent import gather_or_cancel
from models.local_judges import local_judge
from models.local_settings import LocalSettings
from models.meter import MeteredJudge
from schemas import Generation

RESAMPLINGS = 1000
LABELS = 500
"""Drawn with replacement, so that a set is all there is: what a threshold does to it is known exactly."""
CONFIDENCE = 0.95
ERRORS = (0.1, 0.2, 0.3)
SEED = 20261122
AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the records that each threshold of the grid decides, and of those decided wrongly."""

    records: int
    accepted: list[int]
    wrongly_accepted: list[int]
    rejected: list[int]
    wrongly_rejected: list[int]

    @classmethod
    def of(cls, labelled: Sequence[Labelled]) -> Counts:
        """A score of at least a threshold is accepted by it, one below it rejected."""
        good, bad = (np.sort([one.score for one in labelled if one.accept is kind]) for kind in (True, False))
        good_below, bad_below = np.searchsorted(good, GRID), np.searchsorted(bad, GRID)
        return cls(
            len(labelled),
            (len(labelled) - good_below - bad_below).tolist(),
            (len(bad) - bad_below).tolist(),
            (good_below + bad_below).tolist(),
            good_below.tolist(),
        )

    def outcome(self, accept: float | None, reject: float | None) -> Outcome:
        """The decisions of two thresholds of the grid."""
        first = (0, 0)
        second = (0, 0)
        if accept is not None:
            place = GRID.index(accept)
            first = (self.accepted[place], self.wrongly_accepted[place])
        if reject is not None:
            place = GRID.index(reject)
            second = (self.rejected[place], self.wrongly_rejected[place])
        return Outcome(self.records, first, second)

    def as_found(self, error: float) -> tuple[float | None, float | None]:
        """The thresholds that decide the most with at most this share of errors among these very records."""
        accept = reject = None
        for place, value in enumerate(GRID):
            if accept is None and 0 < self.accepted[place] * error >= self.wrongly_accepted[place]:
                accept = value
            if 0 < self.rejected[place] * error >= self.wrongly_rejected[place]:
                reject = value
        return accept, reject


@dataclass(frozen=True, slots=True)
class Outcome:
    """Apply thresholds to a set; (decided, of them wrong) for either side."""

    records: int
    accepted: tuple[int, int]
    rejected: tuple[int, int]

    @property
    def decided(self) -> int:
        return self.accepted[0] + self.rejected[0]

    @property
    def wrong(self) -> int:
        return self.accepted[1] + self.rejected[1]

    def keeps(self, error: float) -> bool:
        """True if at most this share of either side is wrong."""
        return all(wrong <= error * decided for decided, wrong in (self.accepted, self.rejected))


def run(data: Path) -> bool:
    """Print the table; False if a promise is kept in less than the promised share of resamplings."""
    sets: dict[str, tuple[Sequence[Example], str]] = {
        "QAGS": ([*datasets.qags(data, "cnndm"), *datasets.qags(data, "xsum")], "human"),
        "FaithBench": (datasets.faithbench(data), "not Unwanted"),
        "SummEdits": (datasets.summedits(data), "consistent"),
        "PAWS-Wiki": (datasets.paraphrases(data, "paws_wiki"), "same"),
        "MSRP": (datasets.paraphrases(data, "msrp_test_part"), "same"),
    }
    settings = LocalSettings()
    print(f"judge: {local_judge(settings).name}\n")
    promises = []
    fine = True
    for name, labelled in asyncio.run(_scored(sets, settings)).items():
        population = Counts.of(labelled)
        for error in ERRORS:
            draw = random.Random(SEED)
            calibrated, naive = [], []
            for _ in range(RESAMPLINGS):
                drawn = draw.choices(labelled, k=LABELS)
                found = calibrate(drawn, error=error, confidence=CONFIDENCE)
                calibrated.append(population.outcome(found.accept.value, found.reject.value))
                naive.append(population.outcome(*Counts.of(drawn).as_found(error)))
            kept = fmean(one.keeps(error) for one in calibrated)
            fine &= kept >= CONFIDENCE
            promised = [one for one in calibrated if one.decided]
            decided = fmean(one.decided / one.records for one in calibrated)
            wrong = sum(one.wrong for one in promised) / max(1, sum(one.decided for one in promised))
            promises.append(
                [
                    f"{name}, {len(labelled)}",
                    f"{error:g}",
                    f"{kept:.1%}",
                    f"{len(promised) / RESAMPLINGS:.1%}",
                    f"{decided:.1%}",
                    f"{wrong:.1%}" if promised else None,
                    f"{fmean(one.keeps(error) for one in naive):.1%}",
                ]
            )
    print(table(["set", "error", "kept", "promised at all", "decided", "wrong of it", "kept without a test"], promises))
    return fine


async def _scored(
    sets: Mapping[str, tuple[Sequence[Example], str]], settings: LocalSettings
) -> dict[str, list[Labelled]]:
    """The scores of the consistency checker's verdicts, by set; those that abstain have none."""
    judge = MeteredJudge(local_judge(settings), cached=True)
    checker = ConsistencyChecker(ConsistencySettings(deadline_seconds=3600), Models(judge=judge))

    async def scored(example: Example) -> float | None:
        record = Generation(
            kind="generation",
            source="benchmark",
            model=example.group or "model",
            task=example.task,
            reference=example.references[0],
            response=example.response,
        )
        return (await checker.check(record)).score

    found = {}
    for name, (examples, truth) in sets.items():
        scores: list[float | None] = []
        for start in range(0, len(examples), AT_ONCE):
            scores += await gather_or_cancel(scored(example) for example in examples[start : start + AT_ONCE])
        found[name] = [
            Labelled(score, accept=example.truth[truth] == 1)
            for score, example in zip(scores, examples, strict=True)
            if score is not None
        ]
    await judge.close()
    return found
