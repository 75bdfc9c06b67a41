"""Processor time a record: a worker and aiokafka alone, in turns."""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import GroupCoordinatorNotAvailableError

from benchmarks.delivery.throughput import cpu_seconds
from benchmarks.tables import table
from streams.settings import StreamSettings
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import ROOT

OF_AIOKAFKA = 8.0
"""Times the processor time of aiokafka alone that a record may take where all are checked."""

P99_SECONDS = 0.1
"""From a record's arrival at the broker to its verdict's, at half the rate that one worker reaches."""

_SHARES = (1.0, 0.05, 0.0)
_PARTITIONS = (1, 4)
_FEWER_CHECKED = 8
"""Times the records of a run, where most are left out, and of what is on the topic twice as many."""

_TEXT = "The parcel left Leipzig on Monday and arrives on Wednesday before noon. " * 10
_SOURCES = 8
_LONGEST_RUN_SECONDS = 300.0
_POLL_SECONDS = 0.2
_SECONDS_AT_HALF_LOAD = 20.0


class _Cost(NamedTuple):
    micros: float
    """Processor time a record."""
    rate: float
    """Records a second."""


class _Run(NamedTuple):
    place: Place
    settings: StreamSettings
    records: int
    """That are there."""
    share: float
    """Those of them that are answered."""
    name: str
    """The last part of the group's name."""

    @property
    def group(self) -> str:
        return f"{self.place.prefix}.{self.name}"


_Start = Callable[[_Run], psutil.Popen]


def measure(records: int, rounds: int) -> bool:
    """Measure and print; whether the bounds are kept."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        starts: dict[str, _Start] = {"worker": _worker, "aiokafka": _bare}
        kept, rows, cost = True, [], 0.0
        for partitions in _PARTITIONS:
            there = 2 * records * _FEWER_CHECKED
            place, settings = _filled(broker.bootstrap_servers, Path(folder), partitions, there)
            for share in _SHARES:
                number = records if share == 1 else records * _FEWER_CHECKED
                costs: dict[str, list[_Cost]] = {name: [] for name in starts}
                for turn in range(rounds):
                    for name, start in starts.items():
                        run = _Run(place, settings, there, share, f"{name}-{share}-{turn}")
                        costs[name].append(_cost(start(run), run, number))
                        print(f"{partitions} {share} {name}", *costs[name][-1], flush=True, file=sys.stderr)
                ratio = _ratio(costs["worker"], costs["aiokafka"])
                kept &= share < 1 or ratio <= OF_AIOKAFKA
                rows.append(_row(partitions, share, costs, ratio))
                cost = statistics.median(each.micros for each in costs["worker"]) if share == 1 else cost
        print(table(["partitions", "checked", *starts, "a second, in this order", "of aiokafka"], rows))
        print(f"all checked: at most {OF_AIOKAFKA:g} times aiokafka")
        kept &= _keeps_pace(broker.bootstrap_servers, Path(folder), 0.5 * 1e6 / cost)
    return kept


def _row(partitions: int, share: float, costs: dict[str, list[_Cost]], ratio: float) -> list[str]:
    micros = [f"{statistics.median(each.micros for each in found):,.0f} µs" for found in costs.values()]
    rates = " / ".join(f"{statistics.median(each.rate for each in found):,.0f}" for found in costs.values())
    return [str(partitions), f"{share:.0%}", *micros, rates, f"{ratio:.2f}"]


def _ratio(ours: list[_Cost], theirs: list[_Cost]) -> float:
    """The median of the turns' ratios of processor time."""
    return statistics.median(one.micros / other.micros for one, other in zip(ours, theirs, strict=True))


def _filled(servers: str, folder: Path, partitions: int, records: int) -> tuple[Place, StreamSettings]:
    place = Place(servers, f"cost{partitions}", folder)
    settings = place.prepare(place.settings(partitions=partitions))
    lines = (record(number, source=f"app-{number % _SOURCES}", response=_TEXT) for number in range(records))
    asyncio.run(put(servers, settings.topics.outputs, lines, spread=True))
    return place, settings


def _worker(run: _Run) -> psutil.Popen:
    raw = run.place.settings(partitions=run.settings.topics.partitions) | {"http": {"port": 0}}
    spec = {"checker": run.name, "share": run.share, "settings": raw}
    return _process("accepting", spec, run.place)


def _bare(run: _Run) -> psutil.Popen:
    topics = run.settings.topics
    spec: dict[str, Any] = {
        "servers": run.place.servers,
        "group": run.group,
        "source": topics.outputs,
        "share": run.share,
        "verdicts": topics.accepted,
        "outcomes": topics.outcomes,
        # As long as those of the worker.
        "verdict_bytes": 1000,
        "outcome_bytes": 500,
    }
    return _process("bare_client", spec, run.place)


def _process(module: str, spec: dict[str, Any], place: Place) -> psutil.Popen:
    command = [sys.executable, "-m", f"benchmarks.delivery.{module}", json.dumps(spec)]
    with (place.folder / "cost.log").open("ab") as log:
        return psutil.Popen(command, stdout=log, stderr=log, cwd=ROOT)


def _cost(process: psutil.Popen, run: _Run, records: int) -> _Cost:
    try:
        return asyncio.run(_timed(process, run, records))
    finally:
        process.kill()
        process.wait()


async def _timed(process: psutil.Popen, run: _Run, records: int) -> _Cost:
    """From the first commit seen to the one with which `records` more are finished."""
    client = AIOKafkaAdminClient(bootstrap_servers=run.place.servers)
    await client.start()
    try:
        deadline = time.monotonic() + _LONGEST_RUN_SECONDS
        begun: tuple[int, float, float] | None = None
        while True:
            try:
                offsets = await client.list_consumer_group_offsets(run.group)
            except GroupCoordinatorNotAvailableError:
                # The broker's first group.
                offsets = {}
            done = sum(max(0, at.offset) for tp, at in offsets.items() if tp.topic == run.settings.topics.outputs)
            now = done, cpu_seconds(process), time.monotonic()
            if begun is None and done:
                begun = now
            elif begun is not None and done >= min(begun[0] + records, run.records):
                number, cpu, seconds = (after - before for after, before in zip(now, begun, strict=True))
                return _Cost(cpu / number * 1e6, number / seconds)
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{records} records are not finished by {run.group}; see {run.place.folder}")
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        await client.close()


def _keeps_pace(servers: str, folder: Path, rate: float) -> bool:
    place = Place(servers, "pace", folder)
    settings = place.prepare(place.settings())
    process = _worker(_Run(place, settings, 0, 1.0, "pace"))
    try:
        seconds = asyncio.run(_waits(place, settings, rate))
    finally:
        process.kill()
        process.wait()
    median, p99 = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.99)]
    print(f"at {rate:,.0f} records a second, half of what a worker can: median {median * 1e3:.0f} ms from a record's ")
    print(f"arrival to its verdict's, 99% within {p99 * 1e3:.0f} ms; the bound is {P99_SECONDS * 1e3:.0f} ms")
    return p99 < P99_SECONDS


async def _waits(place: Place, settings: StreamSettings, rate: float) -> list[float]:
    """Seconds from each record to its verdict, by the broker's clock, in order."""
    topics = settings.topics
    admin = AIOKafkaAdminClient(bootstrap_servers=place.servers)
    await admin.start()
    by_the_broker = {"message.timestamp.type": "LogAppendTime"}
    await admin.alter_configs(
        [ConfigResource(ConfigResourceType.TOPIC, topic, by_the_broker) for topic in (topics.outputs, topics.accepted)]
    )
    await admin.close()
    await put(place.servers, topics.outputs, [record(-1)])
    await _read(place.servers, topics.accepted, 1)
    number = await _put_at(rate, place.servers, topics.outputs)
    sent = {message.offset: message.timestamp for message in await _read(place.servers, topics.outputs, number + 1)}
    answers = await _read(place.servers, topics.accepted, number + 1)
    return sorted(
        (message.timestamp - sent[json.loads(message.value)["origin"]["offset"]]) / 1000 for message in answers[1:]
    )


async def _put_at(rate: float, servers: str, topic: str) -> int:
    number, begun = 0, time.monotonic()
    async with AIOKafkaProducer(bootstrap_servers=servers, linger_ms=2) as producer:
        while (passed := time.monotonic() - begun) < _SECONDS_AT_HALF_LOAD:
            while number < passed * rate:
                await producer.send(topic, record(number, response=_TEXT), partition=0)
                number += 1
            await asyncio.sleep(0.005)
    return number


async def _read(servers: str, topic: str, number: int) -> list[Any]:
    """The first so many messages of a topic of one partition."""
    messages: list[Any] = []
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False, auto_offset_reset="earliest")
    async with consumer, asyncio.timeout(_LONGEST_RUN_SECONDS):
        consumer.assign([place := TopicPartition(topic, 0)])
        await consumer.seek_to_beginning(place)
        while len(messages) < number:
            messages += (await consumer.getmany(timeout_ms=500)).get(place, [])
    return messages
