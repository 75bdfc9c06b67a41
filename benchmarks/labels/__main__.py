"""The corrected success rate: whether its interval holds at every look, how wide it is, and how soon a fall is told.

    python -m benchmarks.labels [--only interval,alarm,stream] [--series N] [--stream-series N]

Simulated verdicts and labels with fixed seeds, looked at after every label up to 2,000; and many series at once
through a real broker and the agent, looked at whenever it tells something.
"""

import argparse
import sys

from benchmarks.labels import figures, stream
from benchmarks.running import Part, run_parts

PARTS = {
    "interval": Part(lambda options: figures.interval(options.series)),
    "alarm": Part(lambda options: figures.alarm(options.series)),
    "stream": Part(lambda options: stream.run(options.stream_series)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stream-series", type=int, default=60, help="of each judge by way of Kafka (default: %(default)s)"
    )
    parser.add_argument("--series", type=int, default=400, help="of each judge and course (default: %(default)s)")


if __name__ == "__main__":
    sys.exit(run_parts("labels", PARTS, __doc__, _add_options))
