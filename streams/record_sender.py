"""Putting a producer's records onto the outputs topic, for files and for tests of an installation."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from schemas import DeadLetterReason, Envelope, Unreadable
from streams.messages import Outgoing, record_message
from streams.publisher import Publisher, TooLarge
from streams.settings import StreamSettings

_UNDER_WAY = 1000
"""Lines waiting for their acknowledgement: enough to fill requests, and bounded for files of any length."""


class RecordLine(Protocol):
    """A line of a producer's file."""

    @property
    def number(self) -> int:
        """Counted from 1."""

    @property
    def data(self) -> bytes: ...

    def record(self, *, max_bytes: int) -> Envelope:
        """The record on it; raises `Unreadable`."""


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that was not sent."""

    line: int
    """Counted from 1."""
    reason: DeadLetterReason
    detail: str
    """The fault, and the values that are allowed. It may quote the line."""


async def send_records(
    settings: StreamSettings, lines: AsyncIterable[RecordLine], refuse: Callable[[RefusedLine], None] = lambda _: None
) -> int:
    """Send each line, byte for byte, to the outputs topic; how many the broker acknowledged.

    `refuse` is called with each line that is no record, or too long for the broker (`oversized`), as soon as that is
    known: a file of any length may have any number of them.

    Raises:
        BrokerUnavailable: no broker answered.
        Undelivered: the broker stopped acknowledging; what was sent before stays sent.
    """

    async def messages() -> AsyncGenerator[tuple[int, Outgoing]]:
        async for line in lines:
            try:
                record = line.record(max_bytes=settings.records.max_bytes)
            except Unreadable as error:
                refuse(_refused(line.number, error))
                continue
            yield line.number, record_message(record, settings.topics, line.data)

    return await publish_all(settings, messages(), lambda number, error: refuse(_refused(number, error)))


async def publish_all(
    settings: StreamSettings,
    messages: AsyncIterator[tuple[int, Outgoing]],
    refuse: Callable[[int, TooLarge], None],
) -> int:
    """Publish numbered messages, many under way at once; returns how many the broker has acknowledged.

    `refuse` is called about each that is too long for it.

    Raises:
        BrokerUnavailable: no broker answered.
        Undelivered: the broker stopped acknowledging; what was sent before stays sent.
    """
    sent = 0

    async def settle(message: Outgoing, number: int) -> None:
        nonlocal sent
        try:
            await publisher.publish(message)
        except TooLarge as error:
            refuse(number, error)
        else:
            sent += 1

    publisher = Publisher(settings)
    waiting: deque[asyncio.Task[None]] = deque()
    try:
        await publisher.start()
        async for number, message in messages:
            waiting.append(asyncio.create_task(settle(message, number)))
            if len(waiting) >= _UNDER_WAY:
                await waiting.popleft()
        while waiting:
            await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await publisher.stop()
    return sent


def _refused(number: int, error: Unreadable | TooLarge) -> RefusedLine:
    if isinstance(error, Unreadable):
        return RefusedLine(number, error.reason, error.detail)
    return RefusedLine(number, "oversized", f"{error}; the broker takes less")
