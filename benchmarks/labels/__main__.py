"""The corrected success rate: whether its interval holds at every look, its width, and how soon a fall is reported.

    python -m benchmarks.labels [--only interval,alarm] [--series N]

Simulated verdicts and labels with fixed seeds, looked at after every label up to 2,000.
"""

import argparse
import sys

from benchmarks.labels import figures
from benchmarks.running import Part, run_parts

PARTS = {
    "interval": Part(lambda options: figures.interval(options.series)),
    "alarm": Part(lambda options: figures.alarm(options.series)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--series", type=int, default=400, help="of each judge and course (default: %(default)s)")


if __name__ == "__main__":
    sys.exit(run_parts("labels", PARTS, __doc__, _add_options))
