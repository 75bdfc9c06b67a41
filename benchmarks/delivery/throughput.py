"""Records a second from one partition of Apache Kafka."""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil
from aiokafka import AIOKafkaConsumer, TopicPartition

from benchmarks.delivery.endpoint import endpoint
from streams.settings import StreamSettings
from tests.support.kafka import running_kafka
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import ROOT

OF_BARE_FAUST = 0.8
"""The worker's share of the bare agent's rate."""

OF_THE_ENDPOINT = 0.95
"""The calls' share of what the endpoint can do."""

_DELAY_SECONDS = 0.2
_AT_ONCE = 64
_CALLS_A_RECORD = 2

_LONGEST_RUN_SECONDS = 180.0
"""20,000 records at 500 a second, a tenth of the usual rate, take 40 s, and the start some more."""

_TEXT = "The parcel left Leipzig on Monday and arrives on Wednesday before noon. " * 10


def measure(records: int, rounds: int, calls: int) -> bool:
    """Measure and print; whether the bounds are kept."""
    kept = True
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        if records:
            kept &= _against_bare_faust(Place(broker.bootstrap_servers, "bare", Path(folder)), records, rounds)
        if calls:
            kept &= _with_an_endpoint(Place(broker.bootstrap_servers, "endpoint", Path(folder)), calls)
    return kept


def _against_bare_faust(place: Place, records: int, rounds: int) -> bool:
    raw = place.settings()
    settings = place.prepare(raw)
    lines = [record(number, response=_TEXT) for number in range(records)]
    asyncio.run(put(place.servers, settings.topics.outputs, lines))
    ratios = []
    for turn in range(rounds):
        bare, bare_cpu = _measure(_bare(place, settings, turn), settings.topics.improved, place, records)
        worker = place.worker([{"type": "accept", "name": f"accept{turn}"}], raw)
        ours, our_cpu = _measure(psutil.Process(worker.pid), settings.topics.accepted, place, records)
        ratios.append(ours / bare)
        print(
            f"round {turn + 1}: worker {ours:,.0f}/s ({our_cpu:.0f} µs of CPU a record), "
            f"bare agent {bare:,.0f}/s ({bare_cpu:.0f} µs), ratio {ours / bare:.2f} (CPU {bare_cpu / our_cpu:.2f})"
        )
    ratio = statistics.median(ratios)
    print(f"median ratio {ratio:.2f}; the bound is {OF_BARE_FAUST:.2f}")
    return ratio >= OF_BARE_FAUST


def _with_an_endpoint(place: Place, calls: int) -> bool:
    raw = place.settings()
    settings = place.prepare(raw)
    # Each record is of one sentence, and a different one, so that each is a call and its control.
    lines = [
        record(number, task="answer", prompt="When?", response=text, reference=text)
        for number, text in (
            (number, f"Parcel {number} arrives on Wednesday before noon.") for number in range(calls // _CALLS_A_RECORD)
        )
    ]
    asyncio.run(put(place.servers, settings.topics.outputs, lines))
    with endpoint(delay=_DELAY_SECONDS, limit=_AT_ONCE) as port:
        worker = place.worker(
            [{"type": "asking", "checker": "consistency", "base_url": f"http://127.0.0.1:{port}/v1"}], raw
        )
        rate, cpu = _measure(
            psutil.Process(worker.pid), settings.topics.accepted, place, calls // _CALLS_A_RECORD, lead=_DELAY_SECONDS
        )
    rate, cpu = rate * _CALLS_A_RECORD, cpu / _CALLS_A_RECORD
    share = rate / (_AT_ONCE / _DELAY_SECONDS)
    print(f"endpoint: {rate:.0f} calls/s ({cpu:.0f} µs of CPU a call), {share:.1%} of what it can do")
    print(f"the bound is {OF_THE_ENDPOINT:.0%}")
    return share >= OF_THE_ENDPOINT


def _bare(place: Place, settings: StreamSettings, turn: int) -> psutil.Popen:
    spec = {
        "servers": place.servers,
        "group": f"{place.prefix}.agent{turn}",
        "source": settings.topics.outputs,
        "target": settings.topics.improved,
    }
    with (place.folder / "bare.log").open("ab") as log:
        return psutil.Popen(
            [sys.executable, "-m", "benchmarks.delivery.bare_agent", json.dumps(spec)], stdout=log, stderr=log, cwd=ROOT
        )


def _measure(
    process: psutil.Process, target: str, place: Place, records: int, *, lead: float = 0.0
) -> tuple[float, float]:
    """Records a second that the process puts onto `target`, and CPU µs each.

    From `lead` seconds before the first message, which is when work on it began, to the last.
    """
    try:
        seconds, cpu = asyncio.run(_timed(place.servers, target, records, process))
        return records / (seconds + lead), cpu
    finally:
        process.kill()
        process.wait()


async def _timed(servers: str, target: str, records: int, process: psutil.Process) -> tuple[float, float]:
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False, fetch_max_wait_ms=50)
    await consumer.start()
    try:
        place = TopicPartition(target, 0)
        consumer.assign([place])
        first = (await consumer.end_offsets([place]))[place]
        deadline = time.monotonic() + _LONGEST_RUN_SECONDS
        started: tuple[int, float] | None = None
        # Asking is cheap for the broker; reading along would take the processor from what is measured.
        while (done := (await consumer.end_offsets([place]))[place] - first) < records:
            if done and started is None:
                started = done, cpu_seconds(process)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{records} messages did not come onto {target}")
            await asyncio.sleep(0.2)
        before, cpu = started or (0, 0.0)
        cpu = (cpu_seconds(process) - cpu) / (records - before) * 1e6
        consumer.seek(place, first)
        times: list[int] = []
        while len(times) < records:
            for messages in (await consumer.getmany(timeout_ms=1000)).values():
                times += [message.timestamp for message in messages]
        return (max(times) - min(times)) / 1000, cpu
    finally:
        await consumer.stop()


def cpu_seconds(process: psutil.Process) -> float:
    """Processor time that a process has taken."""
    times = process.cpu_times()
    return float(times.user + times.system)
