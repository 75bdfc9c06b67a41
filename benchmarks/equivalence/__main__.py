"""The equivalence checker next to the oracle-checker paper.

    python -m benchmarks.equivalence --data FOLDER

`proofs`: proof rates on labelled paraphrase pairs: the local judge answering the phrase questions, in the sentences
that they stand in and alone, and a subject that says yes to everything.
"""

import argparse
import asyncio
import sys

from benchmarks.equivalence.alignments import bench, print_proofs
from benchmarks.running import Part, run_parts

PARTS = {"proofs": Part(lambda options: asyncio.run(print_proofs(bench(), options)), needs_data=True)}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, help="of each set at most, drawn (default: all)")


if __name__ == "__main__":
    sys.exit(run_parts("equivalence", PARTS, __doc__, _add_options))
