"""Calibrated thresholds: how often they keep their promise."""

import asyncio
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import datasets
from benchmarks.datasets import Example
from benchmarks.tables import table
from checkers.calibration import GRID, Labelled, calibrate
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from models.local_grader import local_judge
from models.meter import MeteredJudge
from models.settings import LocalSettings
from models.work import gather_or_cancel
from schemas import Generation

RESAMPLINGS = 1000
LABELS = 500
"""Drawn with replacement, so that a set is all there is: what a threshold does to it is known exactly."""
CONFIDENCE = 0.95
ERRORS = (0.1, 0.2)
SEED = 20261122
AT_ONCE = 64


class Scored:
    """The scores of records, and their labels."""

    def __init__(self, labelled: Sequence[Labelled]) -> None:
        self.scores = np.array([score for score, _ in labelled])
        self.good = np.array([accept for _, accept in labelled])

    def sides(self, accept: float | None, reject: float | None) -> np.ndarray:
        """Accepted and rejected, of each how many and how many wrongly.

        A score of at least a threshold is accepted by it, one below it rejected.
        """
        accepted = self.scores >= (math.inf if accept is None else accept)
        rejected = self.scores < (-math.inf if reject is None else reject)
        return np.array(
            [
                [accepted.sum(), (accepted & ~self.good).sum()],
                [rejected.sum(), (rejected & self.good).sum()],
            ]
        )

    def as_found(self, error: float) -> tuple[float | None, float | None]:
        """The thresholds that decide the most with at most this share of errors among these very records."""
        above, good = self.scores[:, None] >= np.array(GRID), self.good[:, None]
        accepted = zip(GRID, above.sum(0), (above & ~good).sum(0), strict=True)
        rejected = zip(GRID, (~above).sum(0), (good & ~above).sum(0), strict=True)
        accepts = [value for value, count, wrong in accepted if 0 < count * error >= wrong]
        rejects = [value for value, count, wrong in rejected if 0 < count * error >= wrong]
        return min(accepts, default=None), max(rejects, default=None)


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
    promises: list[list[object]] = []
    fine = True
    for name, labelled in asyncio.run(_scored(sets, settings)).items():
        for error in ERRORS:
            calibrated, naive = _resampled(labelled, error)
            decided, wrong = calibrated.sum(axis=1).T
            kept, kept_naively = (
                float((sides[:, :, 1] <= error * sides[:, :, 0]).all(axis=1).mean()) for sides in (calibrated, naive)
            )
            fine &= kept >= CONFIDENCE
            promised = float((decided > 0).mean())
            shares = [kept, promised, float(decided.mean()) / len(labelled)]
            of_it = f"{wrong.sum() / decided.sum():.1%}" if promised else None
            shown = [*(f"{share:.1%}" for share in shares), of_it, f"{kept_naively:.1%}"]
            promises.append([f"{name}, {len(labelled)}", f"{error:g}", *shown])
    print(table(["set", "error", "kept", "promised at all", "decided", "wrong of it", "kept without a test"], promises))
    return fine


def _resampled(labelled: Sequence[Labelled], error: float) -> tuple[np.ndarray, np.ndarray]:
    """What calibrated thresholds and those as found make of all records, by resampling."""
    population, draw = Scored(labelled), random.Random(SEED)
    calibrated, naive = [], []
    for _ in range(RESAMPLINGS):
        drawn = draw.choices(labelled, k=LABELS)
        accept, reject = calibrate(drawn, error=error, confidence=CONFIDENCE)
        calibrated.append(population.sides(accept.value, reject.value))
        naive.append(population.sides(*Scored(drawn).as_found(error)))
    return np.array(calibrated), np.array(naive)


async def _scored(
    sets: Mapping[str, tuple[Sequence[Example], str]], settings: LocalSettings
) -> dict[str, list[Labelled]]:
    """The scores of the consistency checker's verdicts, by set; those that abstain have none."""
    judge = MeteredJudge(local_judge(settings))
    checker = ConsistencyChecker(ConsistencySettings(), Models(judge=judge, record_seconds=3600))

    async def scored(example: Example) -> float | None:
        record = Generation(
            kind="generation",
            source="benchmark",
            model=example.group or "model",
            task=example.task,
            reference=example.reference,
            response=example.response,
        )
        return (await checker.check(record)).score

    found = {}
    for name, (examples, truth) in sets.items():
        scores: list[float | None] = []
        for start in range(0, len(examples), AT_ONCE):
            scores += await gather_or_cancel(scored(example) for example in examples[start : start + AT_ONCE])
        found[name] = [
            (score, example.truth[truth] == 1)
            for score, example in zip(scores, examples, strict=True)
            if score is not None
        ]
    await judge.close()
    return found
