"""The No-Data Algorithm against its paper.

    python -m benchmarks.labelling [--data FOLDER] [--seeds 20] [--only tables,bounds,accuracy,frisian,speed]

`tables`: table 2 (its tree half) and table 3. `bounds`: how many lies stay undetected. `accuracy`: theorem 1.
`frisian`: the recorded judgements of answers in West Frisian, replayed. `speed`: 515 datapoints in plain language
against an endpoint of 100 ms a call.

FOLDER holds no_data_algorithm/, which `tables` and `frisian` need.
"""

import argparse
import asyncio
import sys

from benchmarks.labelling.accuracy import accuracy
from benchmarks.labelling.bounds import bounds
from benchmarks.labelling.frisian import agreement
from benchmarks.labelling.reproduction import reproduce
from benchmarks.labelling.speed import speed
from benchmarks.running import Part, run_parts

PARTS = {
    "tables": Part(lambda options: asyncio.run(reproduce(options.data, options.seeds)), needs_data=True),
    "bounds": Part(lambda _: asyncio.run(bounds())),
    "accuracy": Part(lambda options: asyncio.run(accuracy(options.seeds))),
    "frisian": Part(lambda options: asyncio.run(agreement(options.data)), needs_data=True),
    "speed": Part(lambda _: speed()),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=20, help="test sets of each cell")


if __name__ == "__main__":
    sys.exit(run_parts("labelling", PARTS, description=__doc__, add_options=_add_options))
