"""Putting a producer's records onto the outputs topic, for files and for tests of an installation."""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from schemas import DeadLetterReason, Unreadable, read_record
from streams.messages import Outgoing, record_message
from streams.publisher import Publisher, TooLarge
from streams.settings import StreamSettings

_UNDER_WAY = 1000
"""Lines waiting for their acknowledgement: enough to fill requests, and bounded for files of any length."""


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that was not sent."""

    line: int
    """Counted from 1."""
    reason: DeadLetterReason
    detail: str
    """What is wrong and what is allowed. It may quote the line."""


@dataclass(slots=True)
class SendReport:
    """The result of sending."""

    sent: int = 0
    """Acknowledged by the broker."""
    refused: list[RefusedLine] = field(default_factory=list)
    """In order."""


async def send_records(settings: StreamSettings, lines: Iterable[bytes]) -> SendReport:
    """Send each line, byte for byte, to the outputs topic; blank lines are skipped.

    A line that is no record is refused. A line too long for the broker is refused as `oversized`.

    Raises:
        BrokerUnavailable: no broker answered.
        Undelivered: the broker stopped acknowledging; what was sent before stays sent.
    """
    report = SendReport()
    publisher = Publisher(settings)
    waiting: deque[asyncio.Task[None]] = deque()
    try:
        await publisher.start()
        numbered = enumerate(lines, start=1)
        # Reading may block, on a pipe that is still written to: what was read so far goes out meanwhile.
        while (following := await asyncio.to_thread(next, numbered, None)) is not None:
            number, line = following
            value = line.rstrip(b"\r\n")
            if not value.strip():
                continue
            try:
                record = read_record(value, max_bytes=settings.records.max_bytes)
            except Unreadable as error:
                report.refused.append(RefusedLine(number, error.reason, error.detail))
                continue
            message = record_message(record, settings.topics, value)
            try:
                enqueued = await publisher.enqueue(message)
            except TooLarge as error:
                report.refused.append(_too_large(number, error))
                continue
            waiting.append(asyncio.create_task(_count(publisher, message, enqueued, number, report)))
            if len(waiting) >= _UNDER_WAY:
                await waiting.popleft()
        while waiting:
            await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await publisher.stop()
    report.refused.sort(key=lambda refused: refused.line)
    return report


async def _count(
    publisher: Publisher, message: Outgoing, enqueued: asyncio.Future[Any], number: int, report: SendReport
) -> None:
    try:
        await publisher.acknowledged(message, enqueued)
    except TooLarge as error:
        report.refused.append(_too_large(number, error))
    else:
        report.sent += 1


def _too_large(number: int, error: TooLarge) -> RefusedLine:
    return RefusedLine(number, "oversized", f"{error}; the broker takes less")
