"""The trust monitor: how soon it finds a drop, and how often it raises a false alarm.

    python -m benchmarks.trust [--only drops,cycles,releases,drift] [--data FOLDER] [--streams N] [--verdicts N]
        [--out FOLDER]

`drops`: simulated verdicts, fixed seeds, beside other methods. `cycles`: traffic that goes up and down, or fails
together, with nothing wrong. `releases`: each a little worse than the one before. `drift`: recorded traffic whose model
is exchanged half way, watched by a real Prometheus and a real Alertmanager; FOLDER holds llm_summary_traffic/.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.running import Part, run_parts
from benchmarks.trust import cycles, drift, drops, releases

PARTS = {
    "drops": Part(lambda options: drops.run(options.streams, options.verdicts, options.out)),
    "cycles": Part(lambda options: cycles.run(options.streams)),
    "releases": Part(lambda options: releases.run(min(options.streams, 100))),
    "drift": Part(lambda options: drift.run(options.data), needs_data=True),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    pictures = Path(__file__).parent.parent / "pictures"
    parser.add_argument("--streams", type=int, default=1000, help="side by side (default: %(default)s)")
    parser.add_argument("--verdicts", type=int, default=100_000, help="of each stream of `drops` without a drop")
    parser.add_argument("--out", type=Path, default=pictures, help="folder of the picture of `drops`")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("trust", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
