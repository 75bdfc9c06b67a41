"""The long half of what a worker promises, on Apache Kafka; the tests run the short half of the same scenarios.

    python -m benchmarks.delivery [--only kill,outage,two,rubbish]

Prints what each came to. Exit status 1 where a record was lost, a repeat carried another id, or a malformed message
has no dead letter.
"""

import argparse
import logging
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.tables import table
from tests.support.kafka import KafkaBroker, running_kafka
from tests.support.scenarios import Found, Place, kill_often, one_of_two_killed, outage, rubbish

_MALFORMED = 10_000

SCENARIOS: dict[str, tuple[str, Callable[[Place, KafkaBroker], Found]]] = {
    "kill": ("kill -9 at 20 random moments", lambda place, _: kill_often(place, records=4000, kills=20)),
    "outage": ("broker stopped 10 s, then killed", lambda place, broker: outage(place, broker, records=4000)),
    "two": ("two workers, one killed", lambda place, _: one_of_two_killed(place, records=4000)),
    "rubbish": (
        "10,000 malformed messages",
        lambda place, _: rubbish(place, malformed=_MALFORMED, good=4000, huge=100),
    ),
}


def main() -> int:
    """Run the scenarios, print the table, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SCENARIOS), help="names, separated by commas")
    names = parser.parse_args().only.split(",")
    if unknown := [name for name in names if name not in SCENARIOS]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    kept = True
    rows = []
    notes = []
    with tempfile.TemporaryDirectory() as folder, running_kafka() as broker:
        for name in names:
            title, run = SCENARIOS[name]
            found = run(Place(broker.bootstrap_servers, name, Path(folder)), broker)
            row = found.row
            expected = _MALFORMED if name == "rubbish" else 0
            kept &= found.lost == 0 and not found.seen.clashes and len(found.seen.letters) == expected
            rows.append([title, *(str(row[column]) for column in _COLUMNS)])
            notes.append(f"{title}: " + ", ".join(f"{key} {value}" for key, value in found.notes.items()))
            print(notes[-1], flush=True)
    print(table(["", *_COLUMNS], rows))
    return 0 if kept else 1


_COLUMNS = ("records", "lost", "repeated", "clashing ids", "dead letters", "seconds")

if __name__ == "__main__":
    sys.exit(main())
