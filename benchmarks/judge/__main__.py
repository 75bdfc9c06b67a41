"""The local judge on public data sets.

    python -m benchmarks.judge --data FOLDER [--only agreement,...,everyday]

`agreement`: with people, next to plain baselines of the same run and to other judges' scores that the sets hold.

`calibration`: how often thresholds that `assay calibrate` finds keep their promise, over resamplings of the sets.

`outcomes`: what becomes of responses at the default settings, next to what people said of them.

`everyday`: the same for our everyday answers, and how much of what is decided is right.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.judge import agreement, calibration, everyday, outcomes
from benchmarks.running import Part, run_parts

_bench = cache(agreement.Bench)


def _agreement(run: Callable[[agreement.Bench, Path], None]) -> Part:
    return Part(lambda options: run(_bench(), options.data), needs_data=True)


PARTS = {
    "agreement": _agreement(agreement.run),
    "calibration": Part(lambda options: calibration.run(options.data), needs_data=True),
    "outcomes": _agreement(outcomes.run_outcomes),
    "everyday": Part(lambda options: everyday.run_everyday()),
}


if __name__ == "__main__":
    sys.exit(run_parts("judge", PARTS, __doc__))
