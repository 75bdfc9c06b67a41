"""The long half of what a worker promises."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.tables import table
from tests.support.kafka import KafkaBroker, running_kafka
from tests.support.scenarios import Found, Place, kill_often, one_of_two_killed, outage, rubbish

_MALFORMED = 10_000

SCENARIOS: dict[str, tuple[str, Callable[[Place, KafkaBroker], Found]]] = {
    "kill": ("kill -9 at 20 random moments", lambda place, _: kill_often(place, records=4000, malformed=0, kills=20)),
    "outage": ("broker stopped 10 s, then killed", lambda place, broker: outage(place, broker, records=4000)),
    "two": ("two workers, one killed", lambda place, _: one_of_two_killed(place, records=4000)),
    "rubbish": (
        "10,000 malformed messages",
        lambda place, _: rubbish(place, malformed=_MALFORMED, good=4000, huge=100),
    ),
}

_COLUMNS = ("records", "lost", "repeated", "clashing ids", "dead letters", "seconds")


def keeps_promise(name: str, _: object) -> bool:
    """Run a scenario on its own broker and print what it came to; whether the promise was kept."""
    title, run = SCENARIOS[name]
    with tempfile.TemporaryDirectory() as folder, running_kafka() as broker:
        found = run(Place(broker.bootstrap_servers, name, Path(folder)), broker)
    print(f"{title}: " + ", ".join(f"{key} {value}" for key, value in found.notes.items()))
    print(table(["", *_COLUMNS], [[title, *(str(found.row[column]) for column in _COLUMNS)]]))
    letters = _MALFORMED if name == "rubbish" else 0
    return found.lost == 0 and not found.seen.clashes and len(found.seen.letters) == letters
