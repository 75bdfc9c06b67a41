"""Records a second from one partition of Apache Kafka."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil
from aiokafka import AIOKafkaConsumer

from benchmarks.delivery.endpoint import endpoint
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.traffic import put, record

OF_THE_ENDPOINT = 0.95
"""The calls' share of what the endpoint can do."""

_DELAY_SECONDS = 0.2
_AT_ONCE = 64
_CALLS_A_RECORD = 2

_LONGEST_RUN_SECONDS = 570.0
_LOOK_SECONDS = 0.2


def measure(calls: int) -> bool:
    """Measure and print; whether the bound is kept."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        return _with_an_endpoint(Place(broker.bootstrap_servers, "endpoint", Path(folder)), calls)


def _with_an_endpoint(place: Place, calls: int) -> bool:
    raw = place.settings()
    settings = place.prepare(raw)
    # Each record is of one sentence, and a different one, so that each is a call and its control.
    records, accepted = calls // _CALLS_A_RECORD, settings.topics.accepted
    texts = (f"Parcel {number} arrives on Wednesday before noon." for number in range(records))
    lines = [
        record(number, task="answer", prompt="When?", response=text, reference=text)
        for number, text in enumerate(texts)
    ]
    asyncio.run(put(place.servers, settings.topics.outputs, lines))
    with endpoint(delay=_DELAY_SECONDS, limit=_AT_ONCE) as agent, place.worker([agent], raw) as worker:
        process = psutil.Process(worker.wait_ready().pid)
        used = cpu_seconds(process)
        times, _ = asyncio.run(verdict_times(place.servers, (accepted,), records))
        used = cpu_seconds(process) - used
    # The work on the first began a call before it.
    rate = _CALLS_A_RECORD * records / (times[-1] - times[0] + _DELAY_SECONDS)
    share = rate / (_AT_ONCE / _DELAY_SECONDS)
    print(f"endpoint: {rate:.0f} calls/s ({used / calls * 1e6:.0f} µs of CPU a call), {share:.1%} of what it can do")
    print(f"the bound is {OF_THE_ENDPOINT:.0%}")
    return share >= OF_THE_ENDPOINT


async def verdict_times(
    servers: str, topics: Sequence[str], records: int, *, others: Sequence[str] = ()
) -> tuple[list[float], int]:
    """When each of so many verdicts was written, in order; and how many are on the other topics by then."""
    times: list[float] = []
    aside = 0
    consumer = AIOKafkaConsumer(*topics, *others, bootstrap_servers=servers, auto_offset_reset="earliest")
    async with consumer, asyncio.timeout(_LONGEST_RUN_SECONDS):
        while len(times) < records:
            # Reading along takes the processor from what is measured.
            await asyncio.sleep(_LOOK_SECONDS)
            for place, messages in (await consumer.getmany(timeout_ms=500)).items():
                if place.topic in others:
                    aside += len(messages)
                else:
                    times += [message.timestamp / 1000 for message in messages]
    return sorted(times), aside


def cpu_seconds(process: psutil.Process) -> float:
    """Processor time that a process has taken."""
    times = process.cpu_times()
    return float(times.user + times.system)
