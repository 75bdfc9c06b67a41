"""The corrected success rate: whether its interval holds at every look, its width, and how soon a fall is reported.

    python -m benchmarks.labels [--only interval,alarm] [--series N]

Simulated verdicts and labels with fixed seeds, looked at after every label up to 2,000.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.monitor.label_series import LabelSeries
from agents.monitor.sampling import RECENT, STRATA
from agents.monitor.true_rate import SHOWN_FROM, Sums
from benchmarks.running import Part, run_parts
from benchmarks.tables import table

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
    series.alarm.below = course.below
    verdicts = good_ones = 0
    for begin in range(0, LABELS, _SETTLED):
        later = begin >= LABELS // 2
        sizes, good = _cells(judge, course, later=later)
        # As after many verdicts, one an hour.
        series.traffic.shares = dict(zip(STRATA, sizes.ravel().tolist(), strict=True))
        series.traffic.verdicts, series.traffic.pace = RECENT, 1.0
        series.settle()
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


_WIDE: Final = {"weak": 0.056, "ordinary": 0.041, "strong": 0.026}
_SOON: Final = {"weak": 130, "ordinary": 100, "strong": 70}
_COVERED: Final = 0.95
_FALSE: Final = 0.01

COURSES: Final = {
    "nothing happens": Course(below=0.90),
    "falls by 15 points": Course(rate=0.95, drop=0.15, late=3),
    "risky ones x4": Course(risky=4),
    "both": Course(rate=0.95, drop=0.15, late=3, risky=4),
}


def interval(series: int) -> bool:
    """Print coverage at every look, the half-width after 300 labels and false alarms; false if one misses its bound."""
    rows, held = [], True
    for name, course in COURSES.items():
        for judge in JUDGES:
            missed, false, widths, alone = 0, 0, [], []
            for seed in range(series):
                hit, fallen = True, False
                for number, (each, truth) in enumerate(run(judge, course, seed), 1):
                    fallen |= each.alarm.fallen
                    # What happens elsewhere than in the first course is looked at after every fifth label.
                    if number < SHOWN_FROM or (course.below is None and number % 5):
                        continue
                    if (rate := each.rate()) is None:
                        continue
                    hit &= rate.low <= truth <= rate.high
                    if number == 300:
                        widths.append((rate.high - rate.low) / 2)
                        alone.append(rate.alone)
                missed += not hit
                false += fallen
            covered, width = 1 - missed / series, float(np.mean(widths))
            held &= covered >= _COVERED
            alarms = ""
            if course.below is not None:
                held &= width <= _WIDE[judge] and false / series <= _FALSE
                alarms = f"{false / series:.4f}"
            rows.append([name, judge, f"{covered:.3f}", f"{width:.3f}", f"{np.mean(alone):.3f}", alarms])
    print(table(["course", "judge", "covered at all looks", "half-width at 300", "labels alone", "false alarms"], rows))
    return held


def alarm(series: int) -> bool:
    """Print how many labels it takes to find a fall to .80 from a bound of .90; false if a median misses its bound."""
    rows, held = [], True
    for judge in JUDGES:
        found = [_labels_until_told(judge, seed) for seed in range(series)]
        median = float(np.median(found))
        held &= median <= _SOON[judge]
        rows.append([judge, f"{median:.0f}", f"{np.quantile(found, 0.9):.0f}"])
    print(table(["judge", "labels until it is told, median", "nine of ten"], rows))
    return held


def _labels_until_told(judge: str, seed: int) -> float:
    course = Course(rate=0.80, below=0.90)
    told = (number for number, (each, _) in enumerate(run(judge, course, seed), 1) if each.alarm.fallen)
    return next(told, float("inf"))


PARTS = {
    "interval": Part(lambda options: interval(options.series)),
    "alarm": Part(lambda options: alarm(options.series)),
}


if __name__ == "__main__":
    sys.exit(run_parts("labels", PARTS, __doc__, {"--series": (400, "of each judge and course")}))
