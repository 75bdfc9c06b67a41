"""Putting records onto the outputs topic: those of a file, and those of the past for one checker."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import TypeAlias

from schemas import Envelope, Unreadable, read_record
from streams.clients import Received
from streams.messages import Outgoing, Publisher, Sent, TooLarge, recheck_message, recheck_of, record_message
from streams.record_lines import Line
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

_UNDER_WAY = 1000
"""Lines waiting for their acknowledgement: enough to fill requests, and bounded for files of any length."""


Refuse: TypeAlias = Callable[[int, str], None]
"""Called with the number, from 1, of a line or message that is not sent, and why; that may quote it."""


async def send_records(
    settings: StreamSettings, lines: AsyncIterable[Line], refuse: Refuse = lambda number, why: None
) -> int:
    """Send each line, byte for byte, to the outputs topic; how many the broker acknowledged.

    `refuse` is called about each line that is not a record, or too long for the broker, as soon as that is known.
    """

    async def messages() -> AsyncGenerator[tuple[int, Outgoing]]:
        async for line in lines:
            try:
                record = line.record(max_bytes=settings.records.max_bytes)
            except Unreadable as error:
                refuse(line.number, f"{error.reason}: {error.detail}")
                continue
            yield line.number, record_message(record, settings.topics, line.data)

    return await publish_all(settings, messages(), refuse)


async def publish_all(settings: StreamSettings, messages: AsyncIterator[tuple[int, Outgoing]], refuse: Refuse) -> int:
    """Publish numbered messages, many under way at once; how many the broker has acknowledged."""
    count, under_way = 0, asyncio.Semaphore(_UNDER_WAY)

    async def wait(number: int, sent: Sent) -> None:
        nonlocal count
        try:
            await publisher.acknowledged(sent)
            count += 1
        except TooLarge as fault:
            refuse(number, f"oversized: {fault}; the broker takes less")
        finally:
            under_way.release()

    try:
        async with Publisher(settings).running() as publisher, asyncio.TaskGroup() as group:
            async for number, message in messages:
                await under_way.acquire()
                # One after the other: in the order of the file.
                group.create_task(wait(number, await publisher.put(message)))
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return count


async def past_records(
    settings: StreamSettings, wanted: Callable[[Envelope], bool], *, since: datetime, until: datetime, limit: int
) -> AsyncGenerator[Received, None]:
    """The first records of the outputs topic in a time that are `wanted`; none of a recheck."""
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


async def send_again(
    settings: StreamSettings, past: AsyncGenerator[Received, None], checker: str, refuse: Refuse
) -> int:
    """Put records of the past onto their topic once more, for `checker` alone; as `publish_all`."""
    numbers = itertools.count(1)
    messages = ((next(numbers), recheck_message(message, checker)) async for message in past)
    return await publish_all(settings, messages, refuse)
