"""The local judge on public data sets, and how long a response a judge behind an endpoint may be asked about.

    python -m benchmarks.judge --data FOLDER [--only qags,...,outcomes] [--model NAME] [--threads N] [--limit N]

All parts but those below: agreement with people and with other judges. Every baseline is computed in the same
run with the same model; what other judges said is taken from the sets, and published figures are named with their
source: they are over whole sets, the rows here over what the files hold.

`calibration`: how often thresholds that `assay calibrate` finds keep their promise, over resamplings of the sets, and
the share of calls that a cascade with them makes.

`stream`: recorded responses of deployed models (FOLDER/llm_summary_traffic) through Apache Kafka and a worker. Prints
the success rate by model beside the detectors' rates, how well the models' order and single responses agree with the
detectors, records a second, and the worker's peak memory.

`outcomes`: what becomes of responses at the default settings, beside what people said of them.

`reasons`: of the reasons that the judge gives for these sets how many state something of the reference that is not so.

`everyday`: the same of 125 everyday answers of our own, and how much of what is decided is right.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from benchmarks.judge import agreement, calibration, everyday, outcomes, reasons, stream
from benchmarks.running import CannotRun, Part, run_parts
from models.local import ModelUnusable


@cache
def _bench(model: str | None, threads: int) -> agreement.Bench:
    try:
        return agreement.Bench(model, threads)
    except ModelUnusable as error:
        raise CannotRun(str(error)) from error


def _agreement(run: Callable[[agreement.Bench, Path], None]) -> Part:
    return Part(lambda options: run(_bench(options.model, options.threads), options.data), needs_data=True)


def _stream(options: argparse.Namespace) -> None:
    stream.run(options.data, options.limit)


PARTS = {name: _agreement(run) for name, run in agreement.RUNS.items()} | {
    "calibration": Part(lambda options: calibration.run(options.data), needs_data=True),
    "outcomes": _agreement(outcomes.run_outcomes),
    "reasons": _agreement(reasons.run_reasons),
    "stream": Part(_stream, needs_data=True),
    "everyday": Part(lambda options: everyday.run_everyday()),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", help="of the plain measures, a name or path (default: the bundled one)")
    parser.add_argument("--threads", type=int, default=2, help="threads of the baselines (default: %(default)s)")
    parser.add_argument("--limit", type=int, help="responses that `stream` sends at most")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    warnings.filterwarnings("ignore", message="An input array is constant")
    return run_parts("judge", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
