"""Series of verdicts and labels whose true rate is known, many of them, through the program that watches real ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.monitor.label_series import LabelSeries
from agents.monitor.sampling import RECENT, STRATA
from agents.monitor.true_rate import Sums

JUDGES: Final = {"weak": (0.72, 0.50), "ordinary": (0.92, 0.70), "strong": (0.98, 0.90)}
"""The share of good outputs that a judge accepts, and of bad ones that it rejects."""

LABELS: Final = 2000
_SETTLED: Final = 10
"""Labels between two changes of who is asked."""

_DRAWN: Final = 0.05
"""The share of the verdicts that is drawn: 40,000 verdicts for 2,000 labels."""

SCORED_LOW: Final = (0.15, 0.55)
"""The shares of the good and of the bad outputs whose score is low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The course of a series."""

    rate: float = 0.90
    drop: float = 0.0
    """By how much the rate falls halfway."""
    late: float = 1.0
    """The factor by which more are drawn from then on."""
    risky: float = 1.0
    """The factor by which verdicts with a low score are drawn more often."""
    below: float | None = None
    """The rate below which it alarms."""


def run(judge: str, course: Course, seed: int) -> Iterator[tuple[LabelSeries, float]]:
    """The series after each label, and the share of good ones among its verdicts so far."""
    rng = np.random.default_rng([seed, *judge.encode()])
    series = LabelSeries()
    series.strata = {name: Sums() for name in STRATA}
    verdicts = good_ones = 0
    for begin in range(0, LABELS, _SETTLED):
        later = begin >= LABELS // 2
        sizes, good = _cells(judge, course, later=later)
        # As after many verdicts, one an hour.
        series.traffic.shares = dict(zip(STRATA, sizes.ravel().tolist(), strict=True))
        series.traffic.verdicts, series.traffic.pace = RECENT, 1.0
        series.settle(course.below)
        chances = series.traffic.chances(series.allocation, _DRAWN * (course.late if later else 1.0))
        times = np.array([course.risky, 1.0])
        by_cell = np.array([chances[name] for name in STRATA]).reshape(sizes.shape)
        # As many of each outcome as before.
        by_cell = (
            by_cell * times * (sizes * by_cell).sum(1, keepdims=True) / (sizes * by_cell * times).sum(1, keepdims=True)
        )
        by_cell = np.minimum(1.0, by_cell)
        drawn = sizes * by_cell
        passed = rng.multinomial(
            rng.geometric(drawn.sum(), _SETTLED) - 1, ((sizes - drawn) / (1 - drawn.sum())).ravel()
        )
        cells = rng.choice(drawn.size, _SETTLED, p=(drawn / drawn.sum()).ravel())
        is_good = (rng.random(_SETTLED) < good.ravel()[cells]).tolist()
        good_passed = rng.binomial(passed, good.ravel()).sum(axis=1).tolist()
        for index, (cell, counts) in enumerate(zip(cells.tolist(), passed.tolist(), strict=True)):
            counts[cell] += 1
            for each, count in enumerate(counts):
                series.strata[STRATA[each]].verdicts += count
            verdicts += sum(counts)
            good_ones += good_passed[index] + is_good[index]
            draw = series.draw(STRATA[cell], chances)._replace(probability=float(by_cell.flat[cell]))
            series.label(str(begin + index), draw, None, float(is_good[index]))
            yield series, good_ones / verdicts


def _cells(judge: str, course: Course, *, later: bool) -> tuple[np.ndarray, np.ndarray]:
    """By outcome and height of the score: the share of the verdicts, and of the good ones in it."""
    accepts, rejects = JUDGES[judge]
    rate = course.rate - (course.drop if later else 0.0)
    low = np.array([SCORED_LOW, (1 - SCORED_LOW[0], 1 - SCORED_LOW[1])]).T
    good = rate * np.outer([accepts, 1 - accepts], low[0])
    bad = (1 - rate) * np.outer([1 - rejects, rejects], low[1])
    return good + bad, good / (good + bad)
