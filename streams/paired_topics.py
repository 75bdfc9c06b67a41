"""A consumer group on two topics with the same keys, each pair of partitions read as one sequence in time order.

Not on Faust: it reads each topic separately, so that a reader that catches up would see an hour of one topic before
the other, and it allows no restoring of state between the assignment of a partition and its first message.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError

from streams.clients import FETCH_WAIT_SECONDS, group_consumer, start
from streams.errors import StreamError
from streams.settings import KafkaSettings, StreamSettings
from streams.time_merge import TimeMerge
from streams.topics import partitions_of

MERGE_WAIT_SECONDS = 0.25
"""A message made earlier may appear this much later: a producer's linger and a slow request take tens of milliseconds.
It delays what is read as it is made, and costs nothing where a backlog is read."""

_QUEUE_MESSAGES = 2048
_QUEUE_BYTES = 2_097_152
"""What waits of one partition before no more of it is fetched; one fetch more may come on top. Twice the merge's wait
at 4,000 small messages a second, and bounded for messages of a megabyte."""

_BATCH = 500
"""Messages handed over at once: some 10 ms of work, after which the event loop has its turn."""

Offsets: TypeAlias = Mapping[int, Sequence[int]]
"""By partition number: for each of the two topics the next offset to read."""


class NotOwner(Exception):
    """The group has reassigned the partitions, or is about to."""


class Taken(NamedTuple):
    """The next message of a pair of partitions."""

    partition: int
    side: int
    """0 or 1: which of the topics it stood on."""
    record: Any
    """The `ConsumerRecord`."""


@dataclass(slots=True)
class _Lane:
    """One partition number: a queue for each topic."""

    merge: TimeMerge[Any] = field(default_factory=lambda: TimeMerge(MERGE_WAIT_SECONDS))
    queued_bytes: list[int] = field(default_factory=lambda: [0, 0])
    polled: list[int | None] = field(default_factory=lambda: [None, None])
    """When the broker last answered for each topic, as aiokafka notes it."""
    open: bool = False

    def full(self, side: int, share: float = 1.0) -> bool:
        return self.merge.queued(side) >= _QUEUE_MESSAGES * share or self.queued_bytes[side] >= _QUEUE_BYTES * share


class PairedReader:
    """Partition p of both topics always lies with one member of the group, and is read as one sequence.

    Of a partition that was assigned nothing is given out until `open` is called: its state is restored first.
    """

    def __init__(
        self,
        group: str,
        topics: tuple[str, str],
        settings: StreamSettings,
        *,
        on_revoked: Callable[[], Awaitable[None]],
    ) -> None:
        """`on_revoked` is awaited while commits are still possible; nothing is given out until it has returned."""
        self.group = group
        self.topics = topics
        self.joined = False
        """True once the group has assigned partitions to this reader, perhaps none."""
        self._settings = settings
        self._on_revoked = on_revoked
        self._lanes: dict[int, _Lane] = {}
        self._consumer: AIOKafkaConsumer | None = None
        self._fault: StreamError | None = None
        self._busy = False

    @property
    def unopened(self) -> list[int]:
        """Partition numbers that were assigned and not opened yet."""
        return [number for number, lane in self._lanes.items() if not lane.open]

    @property
    def queued(self) -> int:
        """Number of messages read and not given out."""
        return sum(len(lane.merge) for lane in self._lanes.values())

    async def start(self) -> None:
        """Connect and ask to join the group; does not wait for partitions.

        Raises:
            BrokerUnavailable: no broker answered.
        """
        # Of aiokafka's assignors only this one gives the same numbers of both topics to the same member.
        consumer = group_consumer(self._settings, self.group, RangePartitionAssignor)
        consumer.subscribe(self.topics, listener=_Listener(self))
        self._consumer = consumer
        try:
            await start(consumer, self._settings.kafka)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        consumer, self._consumer = self._consumer, None
        self._lanes.clear()
        self.joined = False
        if consumer is not None:
            await consumer.stop()

    async def next_offsets(self, partition: int) -> tuple[int, int]:
        """For each topic the offset of the first message that will be given out.

        Raises:
            NotOwner: the partition was taken away meanwhile.
        """
        lane = self._lanes.get(partition)
        if lane is None:
            raise NotOwner
        found = []
        for side in (0, 1):
            head = lane.merge.first(side)
            found.append(head.offset if head is not None else await self._position(partition, side))
        return found[0], found[1]

    def open(self, partition: int) -> None:
        """Give out the partition's messages from now on."""
        if partition in self._lanes:
            self._lanes[partition].open = True

    async def take(self, seconds: float = 0.2) -> list[Taken]:
        """The next messages, in order within each partition number; none where nothing can be told within `seconds`.

        Raises:
            StreamError: the topics do not go together any more.
            KafkaError: the group or the topics must not be read.
        """
        if self._fault is not None:
            raise self._fault
        consumer = self._running()
        # Messages at hand come without waiting, so give the event loop a turn. Below, nothing waits between a message's
        # leaving its queue and its return.
        await asyncio.sleep(0)
        # While something waits for news of the other topic, its answer is looked at as soon as it can be there.
        timeout = 0.0 if self._busy else min(seconds, FETCH_WAIT_SECONDS) if self.queued else seconds
        fetched = await consumer.getmany(timeout_ms=int(timeout * 1000), max_records=_BATCH)
        self._push(fetched)
        await self._look_for_ends(consumer)
        taken = self._pop()
        self._balance(consumer)
        self._busy = bool(fetched or taken)
        return taken

    async def commit(self, offsets: Offsets) -> None:
        """Commit, and thereby ask the group whether the partitions are still this reader's; waits for the broker.

        Raises:
            NotOwner: they are not.
            KafkaError: the group must not be written to.
        """
        places = {
            TopicPartition(self.topics[side], partition): offset
            for partition, pair in offsets.items()
            for side, offset in enumerate(pair)
        }
        if not places:
            return
        try:
            await self._running().commit(places)
        except (CommitFailedError, IllegalStateError) as error:
            raise NotOwner from error

    def lag(self, offsets: Offsets) -> int:
        """Number of messages of this reader's partitions after `offsets`, except partitions not read yet."""
        consumer = self._running()
        behind = 0
        for place in consumer.assignment():
            end = consumer.highwater(place)
            if end is not None and place.partition in offsets:
                behind += max(0, end - offsets[place.partition][self.topics.index(place.topic)])
        return behind

    async def revoked(self) -> None:
        self.joined = False
        self._lanes.clear()
        await self._on_revoked()

    def assigned(self, places: set[Any]) -> None:
        numbers = [{place.partition for place in places if place.topic == topic} for topic in self.topics]
        if numbers[0] != numbers[1]:
            self._fault = _unequal(self.topics)
            return
        self._lanes = {number: self._lanes.get(number) or _Lane() for number in sorted(numbers[0])}
        self.joined = True

    def _running(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            raise StreamError(f"group {self.group} is not joined")
        return self._consumer

    async def _position(self, partition: int, side: int) -> int:
        try:
            offset: int = await self._running().position(TopicPartition(self.topics[side], partition))
        except IllegalStateError as error:
            raise NotOwner from error
        return offset

    def _push(self, fetched: Mapping[Any, list[Any]]) -> None:
        now = time.monotonic()
        for place, records in fetched.items():
            # Fetched since the assignment, of which this reader may be told a moment later.
            lane = self._lanes.setdefault(place.partition, _Lane())
            side = self.topics.index(place.topic)
            for record in records:
                lane.merge.push(side, record, now)
                lane.queued_bytes[side] += _size(record)

    async def _look_for_ends(self, consumer: AIOKafkaConsumer) -> None:
        for partition, lane in list(self._lanes.items()):
            for side in (0, 1):
                # Only where the other one waits for it.
                if lane.merge.queued(side) or not lane.merge.queued(1 - side):
                    continue
                place = TopicPartition(self.topics[side], partition)
                try:
                    polled = consumer.last_poll_timestamp(place)
                    if polled is None or polled == lane.polled[side]:
                        continue
                    lane.polled[side] = polled
                    at_end = await consumer.position(place) >= consumer.highwater(place)
                except IllegalStateError:
                    return
                if at_end:
                    lane.merge.ended(side, time.monotonic(), time.time())

    def _pop(self) -> list[Taken]:
        taken: list[Taken] = []
        # To each its share: one with a backlog must not keep the others waiting.
        share = max(1, _BATCH // max(1, len(self._lanes)))
        for partition, lane in self._lanes.items():
            if not lane.open:
                continue
            for _ in range(share):
                popped = lane.merge.pop()
                if popped is None:
                    break
                side, record = popped
                lane.queued_bytes[side] -= _size(record)
                taken.append(Taken(partition, side, record))
        return taken

    def _balance(self, consumer: AIOKafkaConsumer) -> None:
        paused = consumer.paused() if self._lanes else set()
        for partition, lane in self._lanes.items():
            for side in (0, 1):
                place = TopicPartition(self.topics[side], partition)
                if place in paused:
                    if not lane.full(side, share=0.5):
                        consumer.resume(place)
                elif lane.full(side):
                    consumer.pause(place)


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka is untyped
    def __init__(self, reader: PairedReader) -> None:
        self._reader = reader

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        await self._reader.revoked()

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._reader.assigned(assigned)


async def require_equal_partitions(kafka: KafkaSettings, topics: Sequence[str]) -> int:
    """Make sure that `topics` have equally many partitions; how many.

    Raises:
        BrokerUnavailable: no broker answered.
        TopicsMissing: naming the command that creates them.
        StreamError: naming the topics and what to do.
    """
    counts = {topic: len(await partitions_of(kafka, topic)) for topic in topics}
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{topic} has {count}" for topic, count in counts.items())
        raise StreamError(
            f"these topics must have the same number of partitions: {found}; "
            f"raise the others to {max(counts.values())} (`kafka-topics.sh --alter --partitions`)"
        )
    return next(iter(counts.values()))


def _unequal(topics: tuple[str, str]) -> StreamError:
    return StreamError(
        f"{topics[0]} and {topics[1]} no longer have the same number of partitions; "
        "raise the one that has fewer (`kafka-topics.sh --alter --partitions`) and start again"
    )


def _size(record: Any) -> int:
    return len(record.value or b"")
