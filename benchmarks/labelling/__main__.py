"""The No-Data Algorithm against its paper.

    python -m benchmarks.labelling [--data FOLDER] [--seeds 20]

`tables`: table 2 (its tree half) and table 3; FOLDER holds no_data_algorithm/.
"""

import argparse
import asyncio
import sys

from benchmarks.labelling.reproduction import reproduce
from benchmarks.running import Part, run_parts

PARTS = {
    "tables": Part(lambda options: asyncio.run(reproduce(options.data, options.seeds)), needs_data=True),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=20, help="test sets of each cell")


if __name__ == "__main__":
    sys.exit(run_parts("labelling", PARTS, __doc__, _add_options))
