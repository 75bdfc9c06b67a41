"""A worker's pace while someone attacks it, as a share of its pace in peace."""

import asyncio
import contextlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psutil
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import NewTopic

from benchmarks.delivery.throughput import cpu_seconds
from streams.clients import admin
from streams.settings import StreamSettings
from tests.support.kafka import running_kafka
from tests.support.otlp_attacks import broken_messages, hostile, raw_answer
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import ROOT, WorkerProcess

OF_THE_PACE = 0.9

_AT_ONCE = 40
_MESSAGES = 2000
_TOKEN = "sesame-sesame-sesame"  # noqa: S105 - of a receiver on loopback, for a minute
_TEXT = "The parcel left Leipzig on Monday and arrives on Wednesday before noon. " * 10


def measure(records: int, pairs: int) -> bool:
    """Measure and print; whether the bound is kept."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        place = Place(broker.bootstrap_servers, "attack", Path(folder))
        settings = place.prepare(place.settings())
        # The first may find the worker half awake, and is not counted.
        backlog = (2 * pairs + 1) * records
        asyncio.run(put(place.servers, settings.topics.outputs, [record(at, response=_TEXT) for at in range(backlog)]))
        topic, port = f"{place.prefix}-spans", free_port()
        asyncio.run(_create(settings, topic))
        receiver = {"type": "otlp", "spans_topic": topic, "listen": f"127.0.0.1:{port}", "token": _TOKEN}
        command = [sys.executable, "-m", __spec__.name, place.servers, topic, str(port), str(_MESSAGES // pairs)]
        with (
            place.worker([{"type": "accept"}, receiver], place.settings()) as worker,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as attacker,
        ):
            stretches = asyncio.run(
                _stretches(place.servers, settings.topics.accepted, worker, attacker, records=records, pairs=pairs)
            )
            out, _ = attacker.communicate()
            grown = worker.resident_bytes
    paces, costs = [], []
    for peace, attacked in zip(stretches[::2], stretches[1::2], strict=True):
        paces.append(attacked.pace / peace.pace)
        costs.append(peace.cost / attacked.cost)
        print(
            f"{peace.pace:,.0f}/s ({peace.cost:.0f} µs of CPU a record), attacked {attacked.pace:,.0f}/s "
            f"({attacked.cost:.0f} µs): {paces[-1]:.0%} by the clock, {costs[-1]:.0%} by CPU"
        )
    answers = Counter(json.loads(out))
    told = ", ".join(f"{number} {status}" for status, number in sorted(answers.items()))
    print(f"{_MESSAGES // pairs * pairs:,} broken messages; {answers.total():,} hostile requests, answered {told}")
    print(f"memory at the end {grown / 1e6:.0f} MB, before the first attack {stretches[0].bytes / 1e6:.0f} MB")
    pace, cost = statistics.median(paces), statistics.median(costs)
    print(f"median share of the pace {pace:.0%} by the clock, {cost:.0%} by CPU; the bound is {OF_THE_PACE:.0%}")
    return cost >= OF_THE_PACE


@dataclass(frozen=True)
class _Stretch:
    """So many records, one after the other."""

    pace: float
    """Records a second."""
    cost: float
    """CPU µs of the worker a record."""
    bytes: int
    """Memory of the worker at its end."""


async def _stretches(
    servers: str, target: str, worker: WorkerProcess, attacker: subprocess.Popen[str], *, records: int, pairs: int
) -> list[_Stretch]:
    """Those in peace and under attack, in turns."""
    process, place = psutil.Process(worker.pid), TopicPartition(target, 0)
    async with AIOKafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False) as consumer:
        consumer.assign([place])

        async def reached(number: int) -> tuple[float, float, int]:
            """The time, the worker's CPU time and the number of verdicts, when there are so many."""
            # Asking is cheap for the broker; reading along would take the processor from what is measured.
            while (done := (await consumer.end_offsets([place]))[place]) < number:  # noqa: ASYNC110 - the broker's
                await asyncio.sleep(0.05)
            return time.monotonic(), cpu_seconds(process), int(done)

        found = []
        last = await reached(records)
        for stretch in range(2 * pairs):
            if stretch:
                _tell(attacker, "go" if stretch % 2 else "stop")
            begun, last = last, await reached((stretch + 2) * records)
            seconds, cpu, done = (after - before for before, after in zip(begun, last, strict=True))
            found.append(_Stretch(done / seconds, cpu / done * 1e6, worker.resident_bytes))
        _tell(attacker, "stop")
        return found


def _tell(attacker: subprocess.Popen[str], what: str) -> None:
    if attacker.stdin is None:
        raise RuntimeError("the attacker hears nothing")
    attacker.stdin.write(f"{what}\n")
    attacker.stdin.flush()


async def _create(settings: StreamSettings, topic: str) -> None:
    async with admin(settings.kafka) as client:
        await client.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])


async def _attack(servers: str, topic: str, port: int, messages: int, answers: Counter[str]) -> None:
    """Attack until cancelled; `answers` by status."""
    draw = random.Random(31)

    async def request() -> None:
        while True:
            answer = await raw_answer(port, hostile(draw, _TOKEN))
            answers[answer.split(b" ", 2)[1].decode() if answer else "by closing"] += 1

    await asyncio.gather(put(servers, topic, broken_messages(draw, messages)), *(request() for _ in range(_AT_ONCE)))


async def _obey(servers: str, topic: str, port: int, messages: int) -> Counter[str]:
    """Attack while told to; the answers by status."""
    answers: Counter[str] = Counter()
    attacking: asyncio.Task[None] | None = None
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line == "go\n":
            attacking = asyncio.create_task(_attack(servers, topic, port, messages, answers))
        elif attacking is not None:
            attacking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await attacking
    return answers


def main() -> None:
    """Attack while standard input says `go`, not while it says `stop`; print the answers by status at its end."""
    servers, topic, port, messages = sys.argv[1:]
    print(json.dumps(asyncio.run(_obey(servers, topic, int(port), int(messages)))))


if __name__ == "__main__":
    main()
