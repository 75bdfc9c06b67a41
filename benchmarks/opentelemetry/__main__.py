"""OpenTelemetry's spans under attack, and through kills, on Apache Kafka.

    python -m benchmarks.opentelemetry [--only attack,kill] [--records N] [--pairs N] [--spans N] [--kills N]

`attack`: the pace of a worker that has as many records to judge as it can, with a checker that costs nothing, and the
same while someone attacks it: 2,000 broken messages on its topic of spans, and hostile requests to its receiver
(bombs, lies about length, slow bodies, wrong types, no token), 40 at a time, the next one as soon as one is answered.
Stretches of equally many records in turns, of one worker. Pace is told by the clock, and by the processor's time that
the worker takes for a record, all that it does for the attackers included: what these take themselves, and the broker
and other programs on the same machine, is not in it. The bound is for the median of the latter.

`kill`: `kill -9` again and again while a worker makes records of spans from a topic. A figure is wrong if a span has no
record, or one under another id.
"""

import argparse
import sys

from benchmarks.opentelemetry import attack, kill
from benchmarks.running import Part, run_parts

PARTS = {
    "attack": Part(lambda options: attack.measure(options.records, options.pairs)),
    "kill": Part(lambda options: kill.measure(options.spans, options.kills)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--records", type=int, default=5_000, help="of each stretch of attack (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=10, help="of stretches of attack (default: %(default)s)")
    parser.add_argument("--spans", type=int, default=20_000, help="of kill (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=10, help="(default: %(default)s)")


if __name__ == "__main__":
    sys.exit(run_parts("opentelemetry", PARTS, __doc__, _add_options))
