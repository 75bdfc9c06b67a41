"""Records of one application and model, as `assay send` keys them: what more workers add."""

import asyncio
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.tables import table
from schemas import read_record
from streams.messages import Publisher, record_message
from streams.settings import StreamSettings
from tests.support.kafka import KafkaBroker, running_kafka
from tests.support.scenarios import Place
from tests.support.traffic import collect, record

_GOALS = {2: 1.9, 4: 3.6}
"""Times the rate of one worker, where the checker waits."""

_AT_ONCE = 2
"""Records of a worker under way at once: so few that the checker's wait limits it, and not the two cores."""

_PARTITIONS = 24
_RECORDS = 2_000
_CHECKERS: dict[str, dict[str, Any]] = {
    "waits 20 ms": {"type": "sleep", "seconds": 0.02, "spread": 0},
    "computes 5 ms": {"type": "computing", "seconds": 0.005},
}


def measure() -> bool:
    """Measure and print; whether the goals are reached."""
    rows, kept = [], True
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        for number, (label, checker) in enumerate(_CHECKERS.items()):
            alone = None
            for workers in (1, *_GOALS):
                place = Place(broker.bootstrap_servers, f"one{number}{workers}", Path(folder))
                rate = _rate(broker, place, checker, workers)
                alone = alone or rate
                rows.append([label, str(workers), f"{rate:.0f}", f"{rate / alone:.2f}"])
                kept &= number > 0 or rate >= _GOALS.get(workers, 1) * alone
    print(table(["the checker", "workers", "records a second", "times one"], rows))
    print(f"the goals, where it waits: {', '.join(f'{times} with {workers}' for workers, times in _GOALS.items())}")
    return kept


def _rate(broker: KafkaBroker, place: Place, checker: dict[str, Any], workers: int) -> float:
    raw = place.settings(partitions=_PARTITIONS, concurrency=_AT_ONCE)
    settings = place.prepare(raw)
    with ExitStack() as stack:
        running = [stack.enter_context(place.worker([checker], raw, f"worker{each}")) for each in range(workers)]
        for each in running:
            each.wait_ready()
        # Until the last one that joined has its partitions.
        asyncio.run(_send(settings, range(_RECORDS, _RECORDS + 200)))
        asyncio.run(collect(broker.bootstrap_servers, settings.topics, records=200))
        begun = time.monotonic()
        asyncio.run(_send(settings, range(_RECORDS)))
        asyncio.run(collect(broker.bootstrap_servers, settings.topics, records=_RECORDS + 200))
        return _RECORDS / (time.monotonic() - begun)


async def _send(settings: StreamSettings, numbers: range) -> None:
    records = [read_record(record(number), max_bytes=settings.records.max_bytes) for number in numbers]
    publisher = Publisher(settings)
    await publisher.start()
    await publisher.publish(*(record_message(each, settings.topics) for each in records))
    await publisher.stop()
