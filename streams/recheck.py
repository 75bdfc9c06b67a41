"""Records of the past, put onto their topic once more for one checker."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any

from schemas import Envelope, Unreadable, read_record
from streams.messages import Outgoing, recheck_message, recheck_of
from streams.publisher import TooLarge
from streams.record_sender import publish_all
from streams.settings import StreamSettings
from streams.topic_reader import read_topic


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


async def recheck(
    settings: StreamSettings,
    past: AsyncGenerator[Any, None],
    checker: str,
    refuse: Callable[[int, TooLarge], None],
) -> int:
    """Put records of the past onto their topic once more, for `checker` alone; as `publish_all`."""

    async def messages() -> AsyncGenerator[tuple[int, Outgoing]]:
        number = 0
        async for message in past:
            number += 1
            yield number, recheck_message(message, checker)

    return await publish_all(settings, messages(), refuse)
