"""A worker's pace while somebody attacks it, as a share of its pace in peace."""

import asyncio
import contextlib
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import psutil
from aiokafka.admin import NewTopic

from benchmarks.delivery.throughput import measured
from streams.clients import admin
from streams.settings import StreamSettings
from tests.support.kafka import running_kafka
from tests.support.otlp_attacks import broken_messages, hostile, raw_answer
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import ROOT

OF_THE_PACE = 0.9

_AT_ONCE = 40
_MESSAGES, _PORTIONS = 2000, 20
_TOKEN = "sesame-sesame-sesame"  # noqa: S105 - of a receiver on loopback, for a minute
_TEXT = "The parcel left Leipzig on Monday and arrives on Wednesday before noon. " * 10


def measure(records: int, pairs: int) -> bool:
    """Measure and print; whether the bound is kept."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(fast=True) as broker:
        place = Place(broker.bootstrap_servers, "attack", Path(folder))
        settings = place.prepare(place.settings())
        asyncio.run(put(place.servers, settings.topics.outputs, [record(at, response=_TEXT) for at in range(records)]))
        paces, costs, requests = [], [], 0
        for pair in range(pairs):
            runs = {}
            # Who is first may find a warmer machine.
            for attacked in (False, True) if pair % 2 else (True, False):
                runs[attacked] = _run(place, settings, records, f"{pair}{attacked:d}", attacked=attacked)
            (pace, cost, _), (under, its_cost, answers) = runs[False], runs[True]
            paces.append(under / pace)
            costs.append(cost / its_cost)
            requests += answers.total()
            told = ", ".join(f"{number} {status}" for status, number in sorted(answers.items()))
            print(
                f"pair {pair + 1}: {pace:,.0f}/s ({cost:.0f} µs of CPU a record), attacked {under:,.0f}/s "
                f"({its_cost:.0f} µs): {paces[-1]:.0%} by the clock, {costs[-1]:.0%} by CPU; answers: {told}",
                flush=True,
            )
    pace, cost = statistics.median(paces), statistics.median(costs)
    print(f"{_MESSAGES * pairs:,} broken messages, {requests:,} hostile requests in {pairs} attacks")
    print(f"median share of the pace {pace:.0%} by the clock, {cost:.0%} by CPU; the bound is {OF_THE_PACE:.0%}")
    return cost >= OF_THE_PACE


def _run(
    place: Place, settings: StreamSettings, records: int, name: str, *, attacked: bool
) -> tuple[float, float, Counter[str]]:
    """Records a second, CPU µs each, and the answers to the attacker."""
    topic, port = f"{place.prefix}-spans-{name}", free_port()
    asyncio.run(_create(settings, topic))
    receiver = {"type": "otlp", "spans_topic": topic, "receive": True, "port": port, "token": _TOKEN}
    worker = place.worker([{"type": "accept", "name": f"accept{name}"}, receiver], place.settings())
    command = [sys.executable, "-m", __spec__.name, place.servers, topic, str(port)]
    attacker = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) if attacked else None
    try:
        pace, cost = measured(psutil.Process(worker.pid), settings.topics.accepted, place, records)
    finally:
        if attacker is not None:
            attacker.send_signal(signal.SIGINT)
            out, _ = attacker.communicate()
    return pace, cost, Counter(json.loads(out)) if attacker is not None else Counter()


async def _create(settings: StreamSettings, topic: str) -> None:
    async with admin(settings.kafka) as client:
        await client.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])


async def _attack(servers: str, topic: str, port: int, answers: Counter[str]) -> None:
    """Attack until cancelled; `answers` by status."""
    draw = random.Random(31)

    async def request() -> None:
        while True:
            try:
                answer = await raw_answer(port, hostile(draw, _TOKEN))
            except (OSError, TimeoutError):
                # Not there yet, or there no more.
                await asyncio.sleep(0.05)
            else:
                answers[answer.split(b" ", 2)[1].decode() if answer else "none"] += 1

    async def messages() -> None:
        for _ in range(_PORTIONS):
            await put(servers, topic, broken_messages(draw, _MESSAGES // _PORTIONS))

    await asyncio.gather(messages(), *(request() for _ in range(_AT_ONCE)))


def main() -> None:
    """Attack until interrupted, then print the answers by status."""
    servers, topic, port = sys.argv[1:]
    answers: Counter[str] = Counter()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_attack(servers, topic, int(port), answers))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
