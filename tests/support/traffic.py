"""Records onto a topic, and what came out of the others."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas import DeadLetter, Verdict
from streams.clients import admin
from streams.settings import KafkaSettings, TopicSettings
from tests.support.waiting import PATIENCE_SECONDS

LARGEST = 7_000_000


def record(number: int, **more: Any) -> bytes:
    return json.dumps(
        {"id": f"r{number}", "kind": "generation", "source": "tests", "model": "m", "response": f"Response {number}."}
        | more
    ).encode()


async def put(
    servers: str, topic: str, values: Iterable[bytes | None], *, spread: bool = False, compression: str | None = None
) -> int:
    """Send `values` as they are, `spread` over the partitions or to the first; how many."""
    producer = AIOKafkaProducer(
        bootstrap_servers=servers,
        linger_ms=5,
        acks="all",
        max_request_size=LARGEST,
        compression_type=compression,
    )
    await producer.start()
    try:
        # aiokafka sends no message that has neither key nor value.
        acks = [
            await producer.send(topic, value, key=str(number).encode(), partition=None if spread else 0)
            for number, value in enumerate(values)
        ]
        await asyncio.gather(*acks)
        return len(acks)
    finally:
        await producer.stop()


@dataclass
class Seen:
    """Verdicts and dead letters that came out."""

    verdicts: Counter[str] = field(default_factory=Counter)
    """By record id."""
    verdict_ids: dict[str, set[str]] = field(default_factory=dict)
    """The different verdict ids of a record: more than one breaks the promise."""
    outcomes: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    letters: dict[str, DeadLetter] = field(default_factory=dict)
    letter_messages: int = 0
    headers: dict[str, bytes] = field(default_factory=dict)
    """Headers of the last verdict."""

    @property
    def repeats(self) -> int:
        return sum(self.verdicts.values()) - len(self.verdicts)

    @property
    def clashes(self) -> list[str]:
        """Records whose repeated verdicts differ in id."""
        return [record for record, ids in self.verdict_ids.items() if len(ids) > 1]


async def collect(
    servers: str,
    topics: TopicSettings,
    *,
    records: int = 0,
    letters: int = 0,
    settle: float = 0.0,
) -> Seen:
    """Read until so many different records have verdicts and so many dead letters are there, then `settle` longer."""
    seen = Seen()
    verdicts = (topics.accepted, topics.rejected, topics.abstained)
    async for message in messages_until(
        servers,
        (*verdicts, topics.dead_letter),
        lambda: len(seen.verdicts) >= records and len(seen.letters) >= letters,
        settle=settle,
    ):
        _note(seen, message, topics)
    return seen


async def messages_until(
    servers: str, topics: Iterable[str], enough: Callable[[], bool], *, settle: float = 0.0
) -> AsyncIterator[Any]:
    """Read the topics from their beginning until `enough`, then `settle` longer; give up after a while."""
    consumer = AIOKafkaConsumer(
        *topics,
        bootstrap_servers=servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=50,
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    done_at: float | None = None
    async with consumer:
        while time.monotonic() < deadline:
            if enough():
                done_at = done_at or time.monotonic()
                if time.monotonic() - done_at >= settle:
                    return
            for messages in (await consumer.getmany(timeout_ms=100)).values():
                for message in messages:
                    yield message


async def first_of(servers: str, topic: str, count: int) -> list[bytes]:
    """The first so many messages of a topic."""
    found: list[bytes] = []
    async for message in messages_until(servers, [topic], lambda: len(found) >= count):
        found.append(message.value)  # noqa: PERF401 - it is looked at meanwhile
    assert len(found) >= count, f"{len(found)} of {count} messages of {topic}"
    return found[:count]


async def first_verdicts(servers: str, topic: str, count: int) -> list[Verdict]:
    """The first so many verdicts of a topic."""
    return [Verdict.model_validate_json(message) for message in await first_of(servers, topic, count)]


def _note(seen: Seen, message: Any, topics: TopicSettings) -> None:
    if message.topic == topics.dead_letter:
        if message.value is None:
            return
        letter = DeadLetter.model_validate_json(message.value)
        seen.letters[letter.id] = letter
        seen.letter_messages += 1
        return
    verdict = json.loads(message.value)
    seen.verdicts[verdict["record_id"]] += 1
    seen.verdict_ids.setdefault(verdict["record_id"], set()).add(verdict["id"])
    seen.outcomes[verdict["outcome"]] += 1
    if verdict["outcome"] == "abstain":
        seen.causes[verdict["evidence"]["cause"]] += 1
    seen.headers = dict(message.headers)


async def committed(servers: str, group: str, topic: str) -> int:
    """The group's committed offsets on `topic`, all partitions together."""
    async with admin(KafkaSettings(bootstrap_servers=servers)) as client:
        offsets = await client.list_consumer_group_offsets(group)
    return sum(max(0, place.offset) for tp, place in offsets.items() if tp.topic == topic)
