"""The figures: what is covered at all looks, how wide it is, and how soon a fall is told."""

from typing import Final

import numpy as np

from agents.monitor.true_rate import SHOWN_FROM
from benchmarks.labels.simulation import JUDGES, Course, run
from benchmarks.tables import table

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
