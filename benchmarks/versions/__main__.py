"""One version against another: whether the interval of the difference holds at every look, and how soon one is found.

    python -m benchmarks.versions [--only interval,labels,alarm,traffic] [--series N]

Simulated verdicts with fixed seeds, looked at after each of them from 30 of each version on.
"""

import argparse
import sys

from benchmarks.running import Part, run_parts
from benchmarks.versions import figures

PARTS = {
    "interval": Part(lambda options: figures.interval(options.series)),
    "labels": Part(lambda options: figures.labels(options.series)),
    "alarm": Part(lambda options: figures.alarm(options.series)),
    "traffic": Part(lambda options: figures.traffic(options.series)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--series", type=int, default=400, help="of each rate and course (default: %(default)s)")


if __name__ == "__main__":
    sys.exit(run_parts("versions", PARTS, __doc__, _add_options))
