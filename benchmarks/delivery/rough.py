"""The pace with a judge that fails now and then, as a share of the pace with the same judge that does not."""

import asyncio
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks.delivery.endpoint import endpoint
from benchmarks.delivery.throughput import cpu_seconds, verdict_times
from benchmarks.tables import table
from tests.support.kafka import KafkaBroker, running_kafka
from tests.support.scenarios import Place
from tests.support.stub_acts import Act, good, nonsense, status, too_many
from tests.support.stub_request import StubRequest
from tests.support.traffic import put, record

OF_QUIET = 0.8
"""The share of the quiet judge's pace that is kept with the rough one."""

_MOST = 0.95
"""The pace is that of so many of the records: the last ones wait for calls that hang, and say nothing of a stream."""

_PARTITIONS = 24
_RANDOM = random.Random(7)


def quiet(request: StubRequest) -> Act:
    """Any number at once, each in .02 to .3 s."""
    return good(delay=_RANDOM.uniform(0.02, 0.3))


def rough(request: StubRequest) -> Act:
    """The same; of 1,000 requests 10 are refused as too many, 10 fail, 3 hang for 40 s and 7 get rubbish."""
    drawn = _RANDOM.random()
    if drawn < 0.01:
        return too_many("1")
    if drawn < 0.02:
        return status(500)
    if drawn < 0.023:
        return good(delay=40)
    return nonsense() if drawn < 0.03 else quiet(request)


def measure(records: int, rounds: int) -> bool:
    """Measure in turns and print; whether the bound is kept."""
    rows, rates = [], []
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        for turn in range(rounds):
            pair = []
            for script in (quiet, rough):
                place = Place(broker.bootstrap_servers, f"{script.__name__}{turn}", Path(folder))
                rate, last, cpu = _run(broker, place, script, records)
                pair.append(rate)
                rows.append([script.__name__, f"{rate:.0f}", f"{cpu * 1000:.1f}", f"{last:.0f}"])
            rates.append(pair)
    print(table(["judge", "records a second", "ms of CPU a record", "last after s"], rows))
    share = min(with_faults / without for without, with_faults in rates)
    print(f"{share:.1%} of the quiet judge's pace at least; the bound is {OF_QUIET:.0%}")
    return share >= OF_QUIET


def _run(
    broker: KafkaBroker, place: Place, script: Callable[[StubRequest], Act], records: int
) -> tuple[float, float, float]:
    """Records a second, seconds to the last verdict, and the workers' processor seconds a record."""
    raw = place.settings(partitions=_PARTITIONS)
    settings = place.prepare(raw)
    texts = (f"Parcel {number} left the hub. It weighs {number % 7} kg." for number in range(records))
    lines = [record(number, response=text, reference=text) for number, text in enumerate(texts)]
    with (
        endpoint(script=f"{__name__}:{script.__name__}") as agent,
        place.worker([agent], raw, "first") as first,
        place.worker([agent], raw, "second") as second,
    ):
        workers = [psutil.Process(each.wait_ready().pid) for each in (first, second)]
        before = sum(map(cpu_seconds, workers))
        asyncio.run(put(broker.bootstrap_servers, settings.topics.outputs, lines, spread=True))
        topics = (settings.topics.accepted, settings.topics.rejected, settings.topics.abstained)
        times, _ = asyncio.run(verdict_times(broker.bootstrap_servers, topics, records))
        used = sum(map(cpu_seconds, workers)) - before
    most = times[int(_MOST * records)]
    return _MOST * records / (most - times[0]), times[-1] - times[0], used / records
