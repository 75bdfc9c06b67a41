"""What each method is worth with one model behind an endpoint, as subject, writer and judge.

    python -m benchmarks.methods --base-url URL --model NAME --data FOLDER [--only retrieval,...] [--rows N]

Answers are kept in --keep: a run that was broken off asks nothing twice.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.methods import retrieval
from benchmarks.running import Part, run_parts

PARTS = {"retrieval": Part(retrieval.measure, needs_data=True)}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base-url", required=True, help="of the API, up to what stands before /chat/completions")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=100, help="of each set at most (default: %(default)s)")
    parser.add_argument("--keep", type=Path, default=Path("out/methods.answers"), help="(default: %(default)s)")


if __name__ == "__main__":
    sys.exit(run_parts("methods", PARTS, __doc__, _options))
