"""The local judge on public data sets.

    python -m benchmarks.judge --data FOLDER [--only qags,...,outcomes] [--model NAME] [--threads N] [--limit N]

All parts but those below: agreement with people and with other judges. Every baseline is computed in the same
run with the same model; what other judges said is taken from the sets, and published figures are named with their
source: they are over whole sets, the rows here over what the files hold.

`calibration`: how often thresholds that `assay calibrate` finds keep their promise, over resamplings of the sets, and
the share of calls that a cascade with them makes.

`stream`: recorded responses of deployed models (FOLDER/llm_summary_traffic) through Apache Kafka and a worker. Prints
the success rate by model next to the detectors' rates, how well the models' order and single responses agree with the
detectors, records a second, and the worker's peak memory.

`outcomes`: what becomes of responses at the default settings, next to what people said of them.

`everyday`: the same for our everyday answers, and how much of what is decided is right.
"""

import argparse
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.judge import agreement, calibration, everyday, outcomes, stream
from benchmarks.running import Part, run_parts

_bench = cache(agreement.Bench)


def _agreement(run: Callable[[agreement.Bench, Path], None]) -> Part:
    return Part(lambda options: run(_bench(options.model, options.threads), options.data), needs_data=True)


PARTS = {name: _agreement(run) for name, run in agreement.RUNS.items()} | {
    "calibration": Part(lambda options: calibration.run(options.data), needs_data=True),
    "outcomes": _agreement(outcomes.run_outcomes),
    "stream": Part(lambda options: stream.run(options.data, options.limit), needs_data=True),
    "everyday": Part(lambda options: everyday.run_everyday()),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", help="of the plain measures, a name or path (default: the bundled one)")
    parser.add_argument("--threads", type=int, default=2, help="threads of the baselines (default: %(default)s)")
    parser.add_argument("--limit", type=int, help="responses that `stream` sends at most")


if __name__ == "__main__":
    sys.exit(run_parts("judge", PARTS, __doc__, _add_options))
