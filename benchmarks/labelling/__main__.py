"""The No-Data Algorithm against its paper.

    python -m benchmarks.labelling [--data FOLDER] [--only tables,speed] [--seeds 20]

`tables`: table 2 (its tree half) and table 3; FOLDER holds no_data_algorithm/. `speed`: 515 datapoints in plain
language against an endpoint of 100 ms a call.
"""

import argparse
import asyncio
import sys

from benchmarks.labelling.reproduction import reproduce
from benchmarks.labelling.speed import speed
from benchmarks.running import Part, run_parts

PARTS = {
    "tables": Part(lambda options: asyncio.run(reproduce(options.data, options.seeds)), needs_data=True),
    "speed": Part(lambda _: speed()),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=20, help="test sets of each cell")


if __name__ == "__main__":
    sys.exit(run_parts("labelling", PARTS, __doc__, _add_options))
