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
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError

from benchmarks.delivery.endpoint import cpu_seconds
from benchmarks.tables import table
from streams.settings import StreamSettings
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import ROOT

OF_AIOKAFKA = 8.0
"""Times the processor time of aiokafka alone that a record may take where all are checked."""

_SHARES = (1.0, 0.05, 0.0)
_PARTITIONS = (1, 4)
_FEWER_CHECKED = 8
"""Times the records of a run, where most are left out, and of what is on the topic twice as many."""

_TEXT = "The parcel left Leipzig on Monday and arrives on Wednesday before noon. " * 10
_SOURCES = 8
_LONGEST_RUN_SECONDS = 300.0
_POLL_SECONDS = 0.2


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


_Start = Callable[[_Run], psutil.Process]


def measure(records: int, rounds: int) -> bool:
    """Measure and print; whether the bound is kept."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        starts: dict[str, _Start] = {"worker": _worker, "aiokafka": _bare}
        kept, rows = True, []
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
        print(table(["partitions", "checked", *starts, "a second, in this order", "of aiokafka"], rows))
        print(f"all checked: at most {OF_AIOKAFKA:g} times aiokafka")
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


def _worker(run: _Run) -> psutil.Process:
    raw = run.place.settings(partitions=run.settings.topics.partitions)
    rules = [] if run.share == 1 else [{"share": run.share}]
    agent = {"type": "accept", "name": run.name, "routing": {"rules": rules}}
    return psutil.Process(run.place.worker([agent], raw, run.name).pid)


def _bare(run: _Run) -> psutil.Process:
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
    command = [sys.executable, "-m", "benchmarks.delivery.bare_client", json.dumps(spec)]
    with (run.place.folder / "cost.log").open("ab") as log:
        return psutil.Popen(command, stdout=log, stderr=log, cwd=ROOT)


def _cost(process: psutil.Process, run: _Run, records: int) -> _Cost:
    try:
        return asyncio.run(_timed(process, run, records))
    finally:
        process.kill()
        process.wait()


async def _timed(process: psutil.Process, run: _Run, records: int) -> _Cost:
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
            if time.monotonic() > deadline:
                raise RuntimeError(f"{records} records are not finished by {run.group}; see {run.place.folder}")
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        await client.close()
