"""An agent that keeps counters by partition: what it counts, it counts once, whatever is killed."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from agents.monitor.alertmanager import Alertmanager
from agents.monitor.counter import PROGRESS, REMEMBERED, Key, Partition
from agents.runtime import GroupReader, Runtime, first_unread
from streams.clients import Consumer
from streams.errors import BrokerUnavailable, StreamError
from streams.settings import KafkaSettings
from streams.topic_reader import read_topic
from streams.topics import partitions_of

_RETRY_SECONDS: Final = 1.0  # Between attempts to restore while a broker is away.
_BATCH: Final = 500  # Messages counted at once: some 10 ms of work, after which the event loop has its turn.
_POLL_SECONDS: Final = 0.2
_FORGET_EVERY_SECONDS: Final = 3600.0

_log = structlog.get_logger(__name__)

PartitionT = TypeVar("PartitionT", bound=Partition[Any, Any, Any])


class CounterAgent(GroupReader, Generic[PartitionT]):
    """Reads topics with equally many partitions and keeps what it counts in another one.

    What is raised is published before the state that has it, and the state before offsets are committed. The next owner
    reads the state back, starts `REMEMBERED` messages before the committed offset, and skips what was counted already.
    What it counts again it raises again, under the same ids.

    An owner that was thought dead and wakes up must not undo what its successor did: each flush first asks the group,
    by committing once more what was committed last. Should it have frozen between that and writing, the state that has
    come farthest holds, not the one that was written last.
    """

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        new: Callable[..., PartitionT],
        *,
        reads: Sequence[str],
        writes: Sequence[str],
        state: str,
        most_series: int,
        flush_seconds: float,
        alertmanagers: Sequence[Alertmanager] = (),
    ) -> None:
        """`new` makes a partition of its number and its maximum of series; `state` is the topic that stores series."""
        self.name = name
        super().__init__(runtime, reads=reads, writes=[*writes, state])
        runtime.metrics.watch(self.name, in_flight=lambda: 0, held=lambda: 0, paused=lambda: False)
        self._new, self._state_topic, self._most = new, state, most_series
        self._flush_seconds = flush_seconds
        self._alertmanagers = alertmanagers
        self._posting: list[asyncio.Task[None]] = []
        self.partitions: dict[int, PartitionT] = {}
        self._committed: dict[TopicPartition, int] = {}
        # Held while states are written: the group's callbacks come in between of everything else.
        self._lock = asyncio.Lock()
        self._abandoned = False
        self._flushed_at = 0.0
        self._forgot_at = time.monotonic()

    async def start(self) -> None:
        kafka, topics = self._runtime.settings.kafka, (*self._reads, self._state_topic)
        counts = {topic: len(await partitions_of(kafka, topic)) for topic in topics}
        if len(set(counts.values())) > 1:
            found = ", ".join(f"{topic} has {count}" for topic, count in counts.items())
            raise StreamError(
                f"these topics must have the same number of partitions: {found}; "
                f"raise the others to {max(counts.values())} (`kafka-topics.sh --alter --partitions`)"
            )
        self._most = max(1, self._most // counts[self._state_topic])
        await super().start()
        self._posting = [self._runtime.run(self.name, each.run()) for each in self._alertmanagers]

    async def stop(self) -> None:
        """Persist and commit, then leave the group."""
        if self._running is not None and not self._abandoned:
            # Not in the middle of writing.
            async with self._lock:
                self._running.cancel()
                await self._last_flush()
        await super().stop()
        for task in self._posting:
            task.cancel()
        await asyncio.gather(*self._posting, return_exceptions=True)

    def abandon(self) -> None:
        self._abandoned = True

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        """Write down and commit, while commits are still possible."""
        await super().on_partitions_revoked(revoked)
        async with self._lock:
            await self._last_flush()
            for partition in self.partitions.values():
                self._forget(partition.entries)
            self.partitions.clear()
            self._committed.clear()

    @property
    def _offsets(self) -> dict[TopicPartition, int]:
        return {
            TopicPartition(topic, partition.number): offset
            for partition in self.partitions.values()
            for topic, offset in partition.next.items()
        }

    async def _run(self, consumer: Consumer) -> None:
        while True:
            if missing := {place.partition for place in self._assigned} - self.partitions.keys():
                await self._take_over(sorted(missing))
            # Messages at hand come without waiting, so give the event loop a turn.
            await asyncio.sleep(0)
            fetched = await consumer.getmany(timeout_ms=int(_POLL_SECONDS * 1000), max_records=_BATCH)
            for place, records in fetched.items():
                if (partition := self.partitions.get(place.partition)) is None:
                    # It comes again: the next owner of the partition goes back.
                    continue
                for record in records:
                    partition.count(record)
            raised = any(partition.raised for partition in self.partitions.values())
            if raised or time.monotonic() - self._flushed_at >= self._flush_seconds:
                async with self._lock:
                    await self._flush()

    async def _take_over(self, numbers: Sequence[int]) -> None:
        assigned = self._assigned
        try:
            partitions = await self._restored(numbers)
        except IllegalStateError:
            return
        except (BrokerUnavailable, KafkaError) as error:
            if isinstance(error, KafkaError) and not error.retriable:
                raise
            _log.warning("state not restored yet", error=type(error).__name__)
            await asyncio.sleep(_RETRY_SECONDS)
            return
        if self._assigned is not assigned:
            # The group has reassigned them meanwhile.
            return
        for partition in partitions:
            self.partitions[partition.number] = partition
            self._committed |= {TopicPartition(topic, partition.number): at for topic, at in partition.next.items()}
        _log.info("partitions taken over", agent=self.name, partitions=list(numbers))

    async def _restored(self, numbers: Sequence[int]) -> list[PartitionT]:
        consumer, kafka, found = self._member(), self._runtime.settings.kafka, []
        stored = await stored_messages(kafka, self._state_topic, numbers)
        bounds = await self._bounds(TopicPartition(topic, number) for topic in self._reads for number in numbers)
        for number in numbers:
            partition = self._new(number, most=self._most)
            await partition.begin(kafka)
            own = {topic: TopicPartition(topic, number) for topic in self._reads}
            partition.restore(stored[number], {topic: bounds[place][1] for topic, place in own.items()})
            for topic, place in own.items():
                begin, end = bounds[place]
                partition.next[topic] = offset = first_unread(await consumer.committed(place), begin, end)
                consumer.seek(place, max(begin, offset - REMEMBERED))
            found.append(partition)
        return found

    async def _last_flush(self) -> None:
        try:
            await self._flush()
        except (StreamError, KafkaError) as error:
            # The caller goes on without the partitions in any case; the worker ends.
            _log.error("not written down, it comes back", error=type(error).__name__, detail=str(error))
            self._runtime.fail(error)

    async def _flush(self) -> None:
        """Persist changes and publish, then commit. Does nothing if the partitions were reassigned."""
        self._flushed_at = time.monotonic()
        offsets = self._offsets
        if offsets == self._committed and not any(partition.changed for partition in self.partitions.values()):
            return
        if await self._commit(self._committed):
            if self._flushed_at - self._forgot_at >= _FORGET_EVERY_SECONDS:
                self._forgot_at = self._flushed_at
                for partition in self.partitions.values():
                    self._forget(partition.forget_old())
            await self._write()
            if await self._commit(offsets):
                self._committed = offsets

    async def _write(self) -> None:
        """Publish what was raised, then store what changed."""
        partitions, publish = list(self.partitions.values()), self._runtime.publisher.publish
        await publish(*(message for partition in partitions for message in partition.outbox()))
        await publish(*(message for partition in partitions for message in partition.changes(self._state_topic)))
        for partition in partitions:
            for alert in partition.raised:
                for each in self._alertmanagers:
                    each.take(alert)
            partition.raised.clear()

    def _forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            for each in self._alertmanagers:
                each.forget(key)

    async def _commit(self, offsets: Mapping[TopicPartition, int]) -> bool:
        """Commit; false if the group has reassigned the partitions, or is about to."""
        try:
            if offsets:
                await self._member().commit(dict(offsets))
        except (CommitFailedError, IllegalStateError):
            return False
        return True


async def stored_messages(kafka: KafkaSettings, topic: str, partitions: Sequence[int]) -> dict[int, dict[bytes, bytes]]:
    """By partition the message with the highest progress for each key: the last may be of one that was thought dead."""
    newest: dict[int, dict[bytes, tuple[tuple[int, ...], bytes]]] = {number: {} for number in partitions}
    async for record in read_topic(kafka, topic, numbers=partitions):
        of, key = newest[record.partition], record.key or b""
        progress = tuple(map(int, dict(record.headers).get(PROGRESS, b"0 0").split()))
        if record.value is None:
            of.pop(key, None)
        elif progress >= of.get(key, ((), b""))[0]:
            of[key] = (progress, record.value)
    return {number: {key: value for key, (_, value) in of.items()} for number, of in newest.items()}
