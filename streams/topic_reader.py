"""Reading topics without a consumer group: from their beginning to now, or without end; as objects, each once."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Generic, TypeVar

from aiokafka import TopicPartition
from cachetools import LRUCache
from pydantic import TypeAdapter, ValidationError

from schemas.base import Wire
from streams.clients import REQUEST_TIMEOUT_SECONDS, Consumer, Received, reader
from streams.connection import BrokerWatch, Report
from streams.errors import BrokerUnavailable
from streams.settings import KafkaSettings
from streams.topics import partitions_of

_BATCH = 100
"""Messages of each partition that wait to be compared with those of the others: 100 MB at worst, of a megabyte each."""

_FETCH_MILLISECONDS = 1000
_REMEMBERED = 100_000
"""Ids of messages shown: repeats follow within seconds, or within a restart's backlog."""

MessageT = TypeVar("MessageT", bound=Wire)


async def read_topic(
    kafka: KafkaSettings,
    *topics: str,
    numbers: Collection[int] | None = None,
    since: datetime | None = None,
    follow: bool = False,
    report: Report | None = None,
) -> AsyncGenerator[Received, None]:
    """The messages of `topics` from their beginning to where they ended at the time of the call.

    Those of one partition come in their order, and the partitions are merged by the messages' timestamps. `numbers`
    are those of the partitions, if not all are read; of each only what follows the first message `since` a time.
    `follow`: afterwards go on with what arrives, without end; `report` is called meanwhile when no broker answers, and
    when one does again.

    Raises:
        BrokerUnavailable: no broker answered, or none did for a minute while there was more to read.
        StreamError: a topic is missing; it names the command that creates it.
    """
    async with _reading(kafka, topics, numbers) as (consumer, begins, ends):
        if since is not None:
            begins.update(await _first_since(consumer, ends, since))
        for place in ends:
            consumer.seek(place, begins[place])
        async for message in _merged(consumer, ends, kafka):
            yield message
        if not follow:
            return
        for place in ends:
            consumer.resume(place)
            consumer.seek(place, ends[place])
        watching = report and asyncio.create_task(BrokerWatch(kafka, report).run(consumer.client))
        try:
            while True:
                for messages in (await consumer.getmany(timeout_ms=_FETCH_MILLISECONDS)).values():
                    for message in messages:
                        yield message
        finally:
            if watching:
                watching.cancel()


@asynccontextmanager
async def _reading(
    kafka: KafkaSettings, topics: Collection[str], numbers: Collection[int] | None = None
) -> AsyncIterator[tuple[Consumer, dict[TopicPartition, int], dict[TopicPartition, int]]]:
    """A consumer of these partitions, their first offsets, and those behind their last messages."""
    partitions = [TopicPartition(topic, number) for topic in topics for number in await partitions_of(kafka, topic)]
    partitions = [place for place in partitions if numbers is None or place.partition in numbers]
    async with reader(kafka) as consumer:
        consumer.assign(partitions)
        yield consumer, await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)


async def kept_since(kafka: KafkaSettings, *topics: str) -> datetime | None:
    """The time before which messages of one of these topics are deleted already; None if none is."""
    latest: datetime | None = None
    async with _reading(kafka, topics) as (consumer, begins, ends):
        for place, begin in begins.items():
            if 0 < begin < ends[place]:
                consumer.seek(place, begin)
                for message in (await _following(consumer, place, ends[place], kafka))[:1]:
                    first = datetime.fromtimestamp(message.timestamp / 1000, UTC)
                    latest = max(first, latest or first)
    return latest


async def _first_since(
    consumer: Consumer, ends: Mapping[TopicPartition, int], since: datetime
) -> dict[TopicPartition, int]:
    found = await consumer.offsets_for_times(dict.fromkeys(ends, int(since.timestamp() * 1000)))
    first: dict[TopicPartition, int] = {place: at.offset for place, at in found.items() if at is not None}
    if rest := ends.keys() - first.keys():
        # There is nothing as new; but the embedded broker never says: all is read then.
        known = await consumer.offsets_for_times(dict.fromkeys(rest, 0))
        first |= {place: ends[place] for place, at in known.items() if at is not None}
    return first


async def _merged(consumer: Consumer, ends: dict[TopicPartition, int], kafka: KafkaSettings) -> AsyncIterator[Received]:
    waiting: dict[TopicPartition, deque[Received]] = {place: deque() for place in ends}
    while waiting:
        for place in [place for place, queue in waiting.items() if not queue]:
            waiting[place].extend(await _following(consumer, place, ends[place], kafka))
            if not waiting[place]:
                del waiting[place]
                # A broker answers about all partitions at once, and would wait for news of this one.
                consumer.pause(place)
        if waiting:
            oldest = min(waiting, key=lambda place: waiting[place][0].timestamp or 0)
            yield waiting[oldest].popleft()


async def _following(consumer: Consumer, place: TopicPartition, end: int, kafka: KafkaSettings) -> list[Received]:
    """The next messages of one partition before `end`; empty if there are no more."""
    heard = time.monotonic()
    while await consumer.position(place) < end:
        batch = (await consumer.getmany(place, timeout_ms=_FETCH_MILLISECONDS, max_records=_BATCH)).get(place, ())
        messages = [message for message in batch if message.offset < end]
        if messages:
            return messages
        # A broker that restarts is waited for.
        if time.monotonic() - heard > REQUEST_TIMEOUT_SECONDS:
            raise BrokerUnavailable(
                f"the Kafka broker at {kafka.bootstrap_servers} stopped answering while {place.topic} was read"
            )
    return []


class TopicView(Generic[MessageT]):
    """Reads topics: each message once; unreadable ones are counted."""

    def __init__(
        self, kafka: KafkaSettings, topics: Sequence[str], form: TypeAdapter[MessageT], report: Report | None = None
    ) -> None:
        """`report` is told while messages are followed that no broker answers, or that one answers again."""
        self.read = 0
        self._unreadable = 0
        self._kafka = kafka
        self._topics = topics
        self._form = form
        self._report = report

    async def messages(self, *, follow: bool = False) -> AsyncGenerator[MessageT, None]:
        """Yield the messages on the topics, oldest first; with `follow` then those that arrive, without end."""
        seen: LRUCache[str, None] = LRUCache(maxsize=_REMEMBERED)
        reading = read_topic(self._kafka, *self._topics, follow=follow, report=self._report)
        async with aclosing(reading) as found:
            async for each in found:
                try:
                    message = self._form.validate_json(each.value or b"")
                except ValidationError:
                    self._unreadable += 1
                    continue
                identifier: str = getattr(message, "id", "")
                if identifier not in seen:
                    seen[identifier] = None
                    self.read += 1
                    yield message

    def summary(self, noun: str, shown: int | None = None) -> Iterator[str]:
        """The number of messages, and how many of them were `shown`; a line at a time."""
        of = "" if shown is None or shown == self.read else f"{shown or 'none'} of "
        yield f"{of}{self.read} {noun}{'' if self.read == 1 else 's'} on {', '.join(self._topics)}"
        if self._unreadable:
            yield f"{self._unreadable} message{'' if self._unreadable == 1 else 's'} there could not be read as {noun}s"
