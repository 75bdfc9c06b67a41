"""The corrected success rate: whether its interval holds at every look, how wide it is, and how soon a fall is told.

    python -m benchmarks.labels [--only interval,alarm] [--series N]

Simulated verdicts and labels with fixed seeds, looked at after every label up to 2,000.
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.labels import figures
from benchmarks.running import Part, run_parts

PARTS = {
    "interval": Part(lambda options: figures.interval(options.series)),
    "alarm": Part(lambda options: figures.alarm(options.series)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--series", type=int, default=400, help="of each judge and course (default: %(default)s)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("labels", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
