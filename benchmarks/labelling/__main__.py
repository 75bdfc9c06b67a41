"""The No-Data Algorithm against its paper.

    python -m benchmarks.labelling [--data FOLDER] [--seeds 20] [--only tables,bounds,accuracy,frisian,speed]

`tables`: table 2 (its tree half) and table 3. `bounds`: how many lies stay undetected. `accuracy`: theorem 1.
`frisian`: the
recorded judgements of answers in West Frisian, replayed. `speed`: 515 datapoints in plain language against an
endpoint of 100 ms a call. `tables` and `frisian` need the paper's data in FOLDER/no_data_algorithm.

Exit status 1 where a figure is not what it should be.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.datasets import DataMissing

_PARTS = ("tables", "bounds", "accuracy", "frisian", "speed")
_NEED_DATA = ("tables", "frisian")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; 1 where a figure is not what it should be."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.labelling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the public data sets")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default=",".join(_PARTS), help=f"some of {', '.join(_PARTS)}, separated by commas")
    options = parser.parse_args(arguments)
    parts = [part.strip() for part in options.only.split(",")]
    if unknown := sorted(set(parts) - set(_PARTS)):
        parser.error(f"there is no part {unknown[0]!r}; allowed are {', '.join(_PARTS)}")
    if options.data is None and (needing := [part for part in parts if part in _NEED_DATA]):
        print(f"without --data, {' and '.join(needing)} are left out", file=sys.stderr)
        parts = [part for part in parts if part not in _NEED_DATA]
    kept = True
    try:
        for part in parts:
            print(f"\n### {part}\n", flush=True)
            kept &= _run(part, options.data, options.seeds)
    except DataMissing as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if kept else 1


def _run(part: str, data: Path | None, seeds: int) -> bool:
    if part == "bounds":
        from benchmarks.labelling.bounds import bounds

        return asyncio.run(bounds())
    if part == "accuracy":
        from benchmarks.labelling.accuracy import accuracy

        return asyncio.run(accuracy(seeds))
    if part == "speed":
        from benchmarks.labelling.speed import speed

        return speed()
    from benchmarks.labelling.datasets import training_file
    from benchmarks.labelling.frisian import agreement
    from benchmarks.labelling.reproduction import reproduce

    folder = data or Path()
    return asyncio.run(reproduce(training_file(folder), seeds) if part == "tables" else agreement(folder))


if __name__ == "__main__":
    sys.exit(main())
