"""The spending topic: each worker publishes its spending so far, and reads that of all others."""

import asyncio
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from pydantic import ValidationError

from agents.runtime import Runtime
from agents.spending.counter import DailySpend, SpendNote
from streams.clients import reader
from streams.errors import StreamError
from streams.messages import Headers, Outgoing

TELL_SECONDS = 1.0
"""Between two notes of what was spent: with it goes the overshoot, and what a killed worker forgets."""

READ_SECONDS = 0.5
"""Between two looks whether everything that others told has been read."""

_ANSWER_SECONDS = 10.0
"""A broker answers within milliseconds, a new leader is elected within seconds; what takes longer counts as trouble."""

_LAST_NOTE_SECONDS = 1.5
"""At the end the last note takes milliseconds, and a worker has but seconds for everything that it stops."""

_PARTITION = 0
"""All notes are in one partition, so that there is one end to read to: each worker sends one message a second and
budget."""

_MOST_TOMBSTONES = 10_000
"""Entries of days gone by that one start removes; the next start removes the next ones."""

_DAY = timedelta(days=1)
_HEADERS: Headers = [("content-type", b"application/json")]

_log = structlog.get_logger(__name__)


class Exchange:
    """Exchanges the spending in a `DailySpend` with all other workers.

    While Kafka is not available, it goes on with what is known, and catches up afterwards.
    """

    def __init__(
        self, spend: DailySpend, runtime: Runtime, *, today: Callable[[], date], on_read: Callable[[], None]
    ) -> None:
        """`on_read` is called whenever the topic has been read to its end."""
        self._spend = spend
        self._runtime = runtime
        self._place = TopicPartition(runtime.settings.topics.spending, _PARTITION)
        self._today = today
        self._on_read = on_read
        self._told: dict[bytes, SpendNote] = {}
        self._old: set[bytes] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self.known = asyncio.Event()
        """Set once the topic has been read to its end; from then on this worker knows what was spent before it."""
        self.trouble: str | None = None
        """Why the topic cannot be read at the moment."""

    def start(self) -> None:
        for job in (self._read(), self._tell()):
            task = asyncio.create_task(job)
            # Without either, budgets would silently no longer hold.
            self._runtime.watch("spending", task)
            self._tasks.append(task)

    async def stop(self) -> None:
        """Stop, then publish the last notes."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            async with asyncio.timeout(_LAST_NOTE_SECONDS):
                await self._tell_changes()
        except (StreamError, TimeoutError) as error:
            _log.warning("the last spending could not be told", error=type(error).__name__)

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(TELL_SECONDS)
            try:
                await self._tell_changes()
                await self._remove_old()
            except StreamError as error:
                _log.warning("spending could not be told, it is tried again", error=type(error).__name__)

    async def _tell_changes(self) -> None:
        self._spend.forget_before(self._today())
        notes = {note.key: note for note in self._spend.own()}
        self._told = {key: note for key, note in self._told.items() if key in notes}
        for key, note in notes.items():
            if self._told.get(key) != note:
                await self._publish(key, note.model_dump_json().encode())
                self._told[key] = note

    async def _remove_old(self) -> None:
        if not self.known.is_set() or not self._old:
            return
        await asyncio.gather(*(self._publish(key, None) for key in self._old))
        _log.info("spending of days gone by removed", entries=len(self._old))
        self._old.clear()

    async def _publish(self, key: bytes, value: bytes | None) -> None:
        await self._runtime.publisher.publish(
            Outgoing(self._place.topic, key, value, _HEADERS, partition=self._place.partition)
        )

    async def _read(self) -> None:
        while True:
            try:
                async with reader(self._runtime.settings.kafka) as consumer:
                    await self._follow(consumer)
            except (KafkaError, StreamError, OSError) as error:
                self._lost(type(error).__name__)
            # From the beginning again: what was read before changes nothing when it is read once more.
            await asyncio.sleep(READ_SECONDS)

    async def _follow(self, consumer: AIOKafkaConsumer) -> None:
        consumer.assign([self._place])
        while True:
            try:
                await self._catch_up(consumer)
            except TimeoutError:
                # The consumer connects again by itself, and goes on where it was.
                self._lost("no answer")
            else:
                self._all_read()
            await asyncio.sleep(READ_SECONDS)

    async def _catch_up(self, consumer: AIOKafkaConsumer) -> None:
        async with asyncio.timeout(_ANSWER_SECONDS):
            end = (await consumer.end_offsets([self._place]))[self._place]
            at = await consumer.position(self._place)
        while at < end:
            at = await self._take_beyond(at, consumer)

    async def _take_beyond(self, at: int, consumer: AIOKafkaConsumer) -> int:
        async with asyncio.timeout(_ANSWER_SECONDS):
            # What was compacted away moves the position and gives no message.
            while (position := await consumer.position(self._place)) <= at:
                messages = await consumer.getmany(self._place, timeout_ms=200)
                for message in messages.get(self._place, ()):
                    self._take(message)
        return int(position)

    def _take(self, message: Any) -> None:
        if message.value is None:
            self._old.discard(message.key)
            return
        try:
            note = SpendNote.model_validate_json(message.value)
        except ValidationError as error:
            _log.warning(
                "no spending note, it counts for nothing",
                topic=message.topic,
                partition=message.partition,
                offset=message.offset,
                faults=error.error_count(),
            )
            return
        # Clocks differ: another worker's day may have begun already, or not be over yet.
        today = self._today()
        if today <= note.day <= today + _DAY:
            self._spend.merge(note)
        elif note.day < today - _DAY and not self.known.is_set() and len(self._old) < _MOST_TOMBSTONES:
            self._old.add(message.key)

    def _all_read(self) -> None:
        self.known.set()
        self._on_read()
        if self.trouble is not None:
            _log.info("spending can be read again")
            self.trouble = None

    def _lost(self, why: str) -> None:
        if self.trouble is None:
            _log.warning("spending of other workers cannot be read; what is known of it counts until it can", error=why)
        self.trouble = why
