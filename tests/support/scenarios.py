"""A worker's life in production, in short: it is killed, its broker goes away, it is sent rubbish.

Each scenario runs to its end and returns what was found; tests and benchmarks judge it.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streams.settings import StreamSettings
from streams.topics import create_topics
from tests.support.kafka import KafkaBroker
from tests.support.malformed import MAX_BYTES, SHAPES
from tests.support.traffic import Seen, collect, put, record
from tests.support.workers import WorkerProcess


@dataclass
class Found:
    """The result of a scenario."""

    records: int
    seen: Seen
    seconds: float
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        return self.records - len(self.seen.verdicts)

    @property
    def row(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "lost": self.lost,
            "repeated": self.seen.repeats,
            "clashing ids": len(self.seen.clashes),
            "dead letters": len(self.seen.letters),
            "seconds": round(self.seconds, 1),
        } | self.notes


@dataclass(frozen=True)
class Place:
    """A broker, topics of their own on it, and a folder for logs."""

    servers: str
    prefix: str
    folder: Path

    def settings(
        self,
        *,
        partitions: int = 1,
        records: dict[str, Any] | None = None,
        session_seconds: float = 6,
        instance_id: str | None = None,
        **delivery: Any,
    ) -> dict[str, Any]:
        """Settings of a worker here; `delivery` over what makes tests quick."""
        properties: dict[str, Any] = {"session.timeout.ms": int(session_seconds * 1000)}
        properties |= {} if instance_id is None else {"group.instance.id": instance_id}
        return {
            "kafka": {"bootstrap_servers": self.servers, "properties": properties},
            "topics": {"prefix": self.prefix, "partitions": partitions},
            "records": records or {},
            "delivery": {"drain_seconds": 10} | delivery,
        }

    def checked(self, **delivery: Any) -> StreamSettings:
        """The same, as the service reads them."""
        return StreamSettings.model_validate(self.settings(**delivery))

    def prepare(self, settings: dict[str, Any]) -> StreamSettings:
        checked = StreamSettings.model_validate(settings)
        asyncio.run(create_topics(checked))
        return checked

    async def ready(self, **settings: Any) -> tuple[dict[str, Any], StreamSettings]:
        """Settings, as they are given and as the service reads them; their topics are there."""
        raw = self.settings(**settings)
        return raw, await asyncio.to_thread(self.prepare, raw)

    def worker(self, checkers: list[dict[str, Any]], settings: dict[str, Any], name: str = "worker") -> WorkerProcess:
        return WorkerProcess(checkers, settings, self.folder / f"{name}.log")


def kill_often(place: Place, *, records: int, malformed: int, kills: int, seed: int = 7) -> Found:
    """kill -9 at random moments, starting included, and a restart each time."""
    rng = random.Random(seed)
    # Slow enough that the kills meet it at work: all of it takes about kills x 1 s.
    limit = 32
    seconds = limit * kills / records
    raw = place.settings(concurrency=limit, instance_id="only")
    settings = place.prepare(raw)
    begun = time.monotonic()
    messages = [*map(record, range(records)), *[b"{"] * malformed]
    rng.shuffle(messages)
    asyncio.run(put(place.servers, settings.topics.outputs, messages))
    progress = []
    checkers = [{"type": "sleep", "seconds": seconds, "answers": True}]
    for _ in range(kills):
        with place.worker(checkers, raw) as worker:
            if rng.random() < 0.85:
                worker.wait_ready()
                time.sleep(rng.uniform(0, 1.6))
                progress.append(int(worker.metric('assay_checker_records_total{checker="sleep",kind="generation"}')))
            else:
                time.sleep(rng.uniform(0, 1.5))
            worker.kill()
    with place.worker(checkers, raw) as last:
        seen = asyncio.run(collect(place.servers, settings.topics, records=records, letters=malformed))
        status = last.terminate()
    notes = {"kills": kills, "exit status": status, "begun before each kill": progress}
    return Found(records, seen, time.monotonic() - begun, notes)


def outage(place: Place, broker: KafkaBroker, *, records: int, seconds: float = 10.0) -> Found:
    """The broker is stopped for a while, then killed and started again, under one worker."""
    raw = place.settings(concurrency=16)
    settings = place.prepare(raw)
    begun = time.monotonic()
    asyncio.run(put(place.servers, settings.topics.outputs, map(record, range(records))))
    series = 'assay_checker_records_total{checker="sleep",kind="generation"}'
    with place.worker([{"type": "sleep", "seconds": 0.1}], raw) as worker:
        worker.wait_ready()
        worker.wait_for(series, records / 5)
        broker.stop()
        time.sleep(seconds)
        broker.start()
        back = time.monotonic()
        before = worker.metric(series)
        worker.wait_for(series, before + records / 5)
        resumed = time.monotonic() - back
        broker.kill()
        broker.start()
        seen = asyncio.run(collect(place.servers, settings.topics, records=records))
        survived = worker.exit_status is None
        status = worker.terminate()
    notes = {"worker lived": survived, "exit status": status, "a fifth more after (s)": round(resumed, 1)}
    return Found(records, seen, time.monotonic() - begun, notes)


def one_of_two_killed(place: Place, *, records: int) -> Found:
    """Two workers share the group; one is killed, the other one takes over."""
    raw = place.settings(concurrency=16, partitions=4)
    settings = place.prepare(raw)
    begun = time.monotonic()
    series = 'assay_checker_records_total{checker="sleep",kind="generation"}'
    checkers = [{"type": "sleep", "seconds": 0.1}]
    with place.worker(checkers, raw, "first") as first, place.worker(checkers, raw, "second") as second:
        first.wait_ready()
        second.wait_ready()
        asyncio.run(put(place.servers, settings.topics.outputs, map(record, range(records)), spread=True))
        first.wait_for(series, records / 8)
        second.wait_for(series, records / 8)
        shares = {"first's share": int(first.metric(series))}
        first.kill()
        seen = asyncio.run(collect(place.servers, settings.topics, records=records))
        shares["second's share"] = int(second.metric(series))
        status = second.terminate()
    return Found(records, seen, time.monotonic() - begun, shares | {"exit status": status})


def rubbish(place: Place, *, malformed: int, good: int, huge: int, seed: int = 7) -> Found:
    """Malformed messages of every shape, some of 5 MB, among good records."""
    rng = random.Random(seed)
    raw = place.settings(records={"max_bytes": MAX_BYTES})
    settings = place.prepare(raw)
    shapes = [SHAPES[name] for name in SHAPES if name != "oversized"]
    messages: list[bytes | None] = [record(number) for number in range(good)]
    messages += [shapes[number % len(shapes)](rng) for number in range(malformed - huge)]
    rng.shuffle(messages)
    text = b'{"kind":"generation","response":"' + b"a word " * 714_000 + b'"}'
    for _ in range(huge):
        messages.insert(rng.randrange(len(messages)), text)
    begun = time.monotonic()
    with place.worker([{"type": "accept", "answers": True}], raw) as worker:
        worker.wait_ready()
        before = worker.resident_bytes
        asyncio.run(put(place.servers, settings.topics.outputs, messages))
        seen = asyncio.run(collect(place.servers, settings.topics, records=good, letters=malformed))
        alive, most = worker.exit_status is None, worker.most_bytes
        status = worker.terminate()
    notes = {
        "malformed": malformed,
        "reasons": len({letter.reason for letter in seen.letters.values()}),
        "worker lived": alive,
        "exit status": status,
        "grew by (MB)": round((most - before) / 1e6),
    }
    return Found(good, seen, time.monotonic() - begun, notes)
