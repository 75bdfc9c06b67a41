"""Long-tail probes: what simulated subjects come out at, and what the gap between head and tail shows.

    python -m benchmarks.longtail [--only subjects,gap] [--runs N]

`subjects`: simulated subjects over a made-up corpus, through `assay probes run`. `gap`: how soon a drop in the tail
shows, and how often chance shows one.
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.longtail import gap, subjects
from benchmarks.running import Part, run_parts

PARTS = {
    "subjects": Part(lambda _: subjects.run()),
    "gap": Part(lambda options: gap.run(options.runs)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=1000, help="of each simulation of `gap` (default: %(default)s)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("longtail", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
