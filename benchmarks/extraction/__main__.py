"""The extraction checker next to its paper.

    python -m benchmarks.extraction [--runs 10000]

`simulated`: extractors that are linear, at a known distance from it, or noisy in a known way: how often each is
accepted and rejected, next to the bound of theorem 3.1, and the calls of the full and sequential schedules.
"""

import argparse
import sys

from benchmarks.extraction.simulated import print_simulated
from benchmarks.running import Part, run_parts

PARTS = {"simulated": Part(lambda options: print_simulated(options.runs))}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10_000, help="records a subject (default: %(default)s)")


if __name__ == "__main__":
    sys.exit(run_parts("extraction", PARTS, __doc__, _add_options))
