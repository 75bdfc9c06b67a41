"""The local judge on public data sets.

    python -m benchmarks.judge --data FOLDER [--only qags,...,outcomes]

All parts but those below: agreement with people and with other judges. Every baseline is computed in the same
run with the same model; what other judges said is taken from the sets, and published figures are named with their
source: they are over whole sets, the rows here over what the files hold.

`calibration`: how often thresholds that `assay calibrate` finds keep their promise, over resamplings of the sets.

`traffic`: recorded responses of deployed models (FOLDER/llm_summary_traffic): the success rate by model next to the
detectors' rates, and how well the models' order and single responses agree with the detectors.

`outcomes`: what becomes of responses at the default settings, next to what people said of them.

`everyday`: the same for our everyday answers, and how much of what is decided is right.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.judge import agreement, calibration, everyday, outcomes, traffic
from benchmarks.running import Part, run_parts

_bench = cache(agreement.Bench)


def _agreement(run: Callable[[agreement.Bench, Path], None]) -> Part:
    return Part(lambda options: run(_bench(), options.data), needs_data=True)


PARTS = {name: _agreement(run) for name, run in agreement.RUNS.items()} | {
    "calibration": Part(lambda options: calibration.run(options.data), needs_data=True),
    "outcomes": _agreement(outcomes.run_outcomes),
    "traffic": _agreement(traffic.run),
    "everyday": Part(lambda options: everyday.run_everyday()),
}


if __name__ == "__main__":
    sys.exit(run_parts("judge", PARTS, __doc__))
