"""Records of the past, put onto their topic once more for one checker."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any

from schemas import Envelope, Unreadable, read_record
from streams.messages import recheck_message, recheck_of
from streams.publisher import Publisher
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

_UNDER_WAY = 1000


async def past_records(
    settings: StreamSettings, wanted: Callable[[Envelope], bool], *, since: datetime, until: datetime, limit: int
) -> AsyncGenerator[Any, None]:
    """The first records of the outputs topic in a time that are `wanted`, `limit` at most, as aiokafka gives them.

    Those that were put there for a recheck are no records of the past.

    Raises:
        BrokerUnavailable, TopicsMissing: as `read_topic`.
    """
    count, begin, end = 0, since.timestamp() * 1000, until.timestamp() * 1000
    async with aclosing(read_topic(settings.kafka, settings.topics.outputs, since=since)) as messages:
        async for message in messages:
            if count == limit or message.timestamp >= end:
                return
            if message.timestamp < begin or recheck_of(message.headers) is not None:
                continue
            try:
                record = read_record(message.value, max_bytes=settings.records.max_bytes)
            except Unreadable:
                continue
            if wanted(record):
                count += 1
                yield message


async def recheck(settings: StreamSettings, messages: AsyncGenerator[Any, None], checker: str) -> int:
    """Put `messages` of the outputs topic there once more, for `checker` alone; returns how many.

    Raises:
        BrokerUnavailable: no broker answered.
        Undelivered: the broker stopped acknowledging; what was sent before stays sent.
    """
    publisher, sent = Publisher(settings), 0
    under_way: deque[asyncio.Task[None]] = deque()
    try:
        await publisher.start()
        async for message in messages:
            under_way.append(asyncio.create_task(publisher.publish(recheck_message(message, checker))))
            sent += 1
            if len(under_way) >= _UNDER_WAY:
                await under_way.popleft()
        while under_way:
            await under_way.popleft()
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await publisher.stop()
    return sent
