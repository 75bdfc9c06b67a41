"""Spans through kills: each becomes a record, under the same id each time."""

import asyncio
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import orjson
from aiokafka.admin import NewTopic

from streams.clients import admin
from tests.support.kafka import running_kafka
from tests.support.otlp import TRACE, chat, span, traces
from tests.support.scenarios import Place
from tests.support.traffic import messages_until, put

_OF_A_MESSAGE = 50
_TOGETHER = 20
"""Messages."""


def measure(spans: int, kills: int) -> bool:
    """Kill, measure and print; whether each span has its record."""
    with tempfile.TemporaryDirectory() as folder, running_kafka() as broker:
        return asyncio.run(_killed(Place(broker.bootstrap_servers, "kill", Path(folder)), spans, kills))


async def _killed(place: Place, spans: int, kills: int) -> bool:
    topic = f"{place.prefix}-otlp_spans"
    raw = place.settings(instance_id="only")
    settings = await asyncio.to_thread(place.prepare, raw)
    async with admin(settings.kafka) as client:
        await client.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])
    numbers = range(1, spans + 1)
    portions = [numbers[at : at + _OF_A_MESSAGE] for at in range(0, spans, _OF_A_MESSAGE)]
    messages = [traces(*(span(number, chat()) for number in portion)).SerializeToString() for portion in portions]
    draw = random.Random(7)
    begun = time.monotonic()
    before: list[int] = []

    def killed() -> None:
        for _ in range(kills):
            with place.worker([{"type": "otlp", "spans_topic": topic}], raw) as worker:
                worker.wait_ready().wait_for("assay_otlp_records_total", 1)
                time.sleep(draw.uniform(0, 1))
                before.append(int(worker.metric("assay_otlp_records_total")))
                worker.kill()

    # Portions come while workers live and die.
    killing = asyncio.create_task(asyncio.to_thread(killed))
    for at in range(0, len(messages), _TOGETHER):
        await put(place.servers, topic, messages[at : at + _TOGETHER])
    await killing
    ids: Counter[str] = Counter()
    with place.worker([{"type": "otlp", "spans_topic": topic}], raw):
        outputs = settings.topics.outputs
        async for message in messages_until(place.servers, [outputs], lambda: len(ids) >= spans, settle=2):
            ids[orjson.loads(message.value)["id"]] += 1
    expected = {f"{TRACE}-{number:016x}" for number in numbers}
    print(f"{spans:,} spans, {kills} kills; records made by each worker before its kill: {before}")
    print(
        f"lost {len(expected - ids.keys())}, under another id {len(ids.keys() - expected)}, "
        f"records repeated under their id {ids.total() - len(ids)}; {time.monotonic() - begun:.0f} s"
    )
    return ids.keys() == expected
