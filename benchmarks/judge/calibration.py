"""Calibrated thresholds: how often they keep their promise."""

import asyncio
import math
import random
from collections.abc import Mapping, Sequence
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

Sides = tuple[tuple[int, int], tuple[int, int]]
"""How many records are accepted and how many of them wrongly, and the same of those rejected."""


class Scored:
    """The scores of records, and their labels."""

    def __init__(self, labelled: Sequence[Labelled]) -> None:
        self.scores = np.array([one.score for one in labelled])
        self.good = np.array([one.accept for one in labelled])

    def sides(self, accept: float | None, reject: float | None) -> Sides:
        """A score of at least a threshold is accepted by it, one below it rejected."""
        accepted = self.scores >= (math.inf if accept is None else accept)
        rejected = self.scores < (-math.inf if reject is None else reject)
        return (
            (int(accepted.sum()), int((accepted & ~self.good).sum())),
            (int(rejected.sum()), int((rejected & self.good).sum())),
        )

    def as_found(self, error: float) -> tuple[float | None, float | None]:
        """The thresholds that decide the most with at most this share of errors among these very records."""
        above, good = self.scores[:, None] >= np.array(GRID), self.good[:, None]
        accepted = zip(GRID, above.sum(0), (above & ~good).sum(0), strict=True)
        rejected = zip(GRID, (~above).sum(0), (good & ~above).sum(0), strict=True)
        accepts = [value for value, count, wrong in accepted if 0 < count * error >= wrong]
        rejects = [value for value, count, wrong in rejected if 0 < count * error >= wrong]
        return min(accepts, default=None), max(rejects, default=None)


def _keeps(sides: Sides, error: float) -> bool:
    """True if at most this share of either side is wrong."""
    return all(wrong <= error * decided for decided, wrong in sides)


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
        population = Scored(labelled)
        for error in ERRORS:
            draw = random.Random(SEED)
            calibrated, naive = [], []
            for _ in range(RESAMPLINGS):
                drawn = draw.choices(labelled, k=LABELS)
                found = calibrate(drawn, error=error, confidence=CONFIDENCE)
                calibrated.append(population.sides(found.accept.value, found.reject.value))
                naive.append(population.sides(*Scored(drawn).as_found(error)))
            kept = fmean(_keeps(one, error) for one in calibrated)
            fine &= kept >= CONFIDENCE
            decided, wrong = (
                [accepted[place] + rejected[place] for accepted, rejected in calibrated] for place in (0, 1)
            )
            promised = sum(map(bool, decided))
            promises.append(
                [
                    f"{name}, {len(labelled)}",
                    f"{error:g}",
                    f"{kept:.1%}",
                    f"{promised / RESAMPLINGS:.1%}",
                    f"{fmean(decided) / len(labelled):.1%}",
                    f"{sum(wrong) / sum(decided):.1%}" if promised else None,
                    f"{fmean(_keeps(one, error) for one in naive):.1%}",
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
