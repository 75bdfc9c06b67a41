"""An agent that keeps state by partition: what it counts, it counts once, whatever is killed.

Not on Faust: it allows no restoring of state between the assignment of a partition and its first message.
"""

import asyncio
import time
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

import structlog
from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from agents.restore import stored_messages
from agents.runtime import Runtime
from streams.clients import Consumer, group_consumer, start
from streams.errors import BrokerUnavailable, StreamError
from streams.messages import Outgoing
from streams.settings import KafkaSettings
from streams.topics import partitions_of

_FLUSH_MESSAGES: Final = 20_000
"""While a backlog is read the state is written after so many messages at the latest: what a crash then costs is a
second of counting, and what a rebalance waits for stays short."""

_RETRY_SECONDS: Final = 1.0
"""Between attempts to restore while a broker is away."""

_BATCH: Final = 500
"""Messages counted at once: some 10 ms of work, after which the event loop has its turn."""

_POLL_SECONDS: Final = 0.2

_log = structlog.get_logger(__name__)


class PartitionState(Protocol):
    """The counts of the messages in the partitions with one number."""

    partition: int

    @property
    def changed(self) -> bool:
        """True if there is something to persist or to publish."""

    @property
    def behind(self) -> Mapping[str, int]:
        """By topic the offset behind the last message counted."""

    def begin(self, topic: str, offset: int) -> None:
        """Count from `offset` on; messages before it come first and are to be remembered only."""

    def count(self, record: Any) -> object | None:
        """Count a message; returns what it raises, which is not to wait for the next flush."""

    def changes(self, topic: str) -> list[Outgoing]:
        """Messages that store what changed since the last call."""


StateT = TypeVar("StateT", bound=PartitionState)


class NotOwner(Exception):
    """The group has reassigned the partitions, or is about to."""


class StatefulAgent(ConsumerRebalanceListener, Generic[StateT]):  # type: ignore[misc]  # aiokafka is untyped
    """Reads topics with equally many partitions and keeps what it counts in another one.

    State is written before offsets are committed, and says up to where messages are in it. The next owner reads it
    back, starts at the committed offset, or `remembered` messages before, and passes over what was counted already.

    An owner that was thought dead and wakes up must not undo what its successor did. Each flush first asks the group,
    by committing once more what was committed last, whether the partitions are still its own. And should it have
    frozen between that and writing, the state that has come farthest holds, not the one that was written last.
    """

    name: ClassVar[str]

    def __init__(
        self,
        runtime: Runtime,
        *,
        reads: Sequence[str],
        writes: Sequence[str],
        state_topic: str,
        flush_seconds: float,
        remembered: int,
    ) -> None:
        self.topics: Collection[str] = (*reads, *writes, state_topic)
        self._runtime = runtime
        self._reads = reads
        self._state_topic = state_topic
        self._flush_seconds = flush_seconds
        self._remembered = remembered
        self._agent_metrics = runtime.metrics.agent(self.name)
        self._agent_metrics.watch(in_flight=lambda: 0, held=lambda: 0, paused=lambda: False)
        self._consumer: Consumer | None = None
        self._joined = False
        self._assigned: set[int] = set()
        self._states: dict[int, StateT] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._partitions = 1
        # Held while states are written: the group's callbacks come in between of everything else.
        self._lock = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._abandoned = False
        self._flushed_at = 0.0
        self._unflushed = 0

    @property
    def started(self) -> bool:
        return self._consumer is not None

    async def start(self) -> None:
        """Ask to join the group.

        Raises:
            StreamError: no broker, or topics that do not go together; each says what to do.
        """
        settings = self._runtime.settings
        self._partitions = await require_equal_partitions(settings.kafka, (*self._reads, self._state_topic))
        self._consumer = group_consumer(settings, f"{settings.topics.prefix}.{self.name}", RangePartitionAssignor)
        self._consumer.subscribe(list(self._reads), listener=self)
        await start(self._consumer, settings.kafka)
        self._running = asyncio.create_task(self._run())
        self._runtime.watch(self.name, self._running)

    async def stop(self) -> None:
        """Persist and commit, then leave the group."""
        if self._running is not None and self._abandoned:
            self._running.cancel()
        elif self._running is not None:
            # Not in the middle of writing.
            async with self._lock:
                self._running.cancel()
                await self._last_flush()
        if self._running is not None:
            await asyncio.wait([self._running])
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await consumer.stop()

    async def ready(self) -> str | None:
        if not self._joined:
            return "has not joined its group yet"
        return "takes over the state of its partitions" if self._not_taken_over else None

    def measure(self) -> None:
        if self._consumer is not None and self._joined:
            behind = 0
            for place, offset in self._counted().items():
                end = self._consumer.highwater(place)
                behind += max(0, end - offset) if end is not None else 0
            self._agent_metrics.lag(behind)

    def abandon(self) -> None:
        self._abandoned = True

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        """Write down and commit, while commits are still possible."""
        self._joined = False
        self._assigned = set()
        async with self._lock:
            await self._last_flush()
            for state in self._states.values():
                self._given_up(state)
            self._states.clear()
            self._committed.clear()

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._assigned = {place.partition for place in assigned}
        self._joined = True

    @abstractmethod
    async def _restored(self, partition: int, stored: Mapping[bytes, bytes], ends: Mapping[str, int]) -> StateT:
        """The state from what is stored, by key; `ends` are the ends of its partitions by topic."""

    @abstractmethod
    def _taken_over(self, state: StateT) -> None:
        """Called when a partition is this agent's."""

    @abstractmethod
    def _given_up(self, state: StateT) -> None:
        """Called when it no longer is."""

    @abstractmethod
    async def _write(self) -> None:
        """Store and publish what changed."""

    @property
    def _not_taken_over(self) -> list[int]:
        return sorted(self._assigned - self._states.keys())

    async def _run(self) -> None:
        while True:
            if partitions := self._not_taken_over:
                await self._take_over(partitions)
            # Messages at hand come without waiting, so give the event loop a turn.
            await asyncio.sleep(0)
            fetched = await self._running_consumer().getmany(timeout_ms=int(_POLL_SECONDS * 1000), max_records=_BATCH)
            urgent = False
            for place, records in fetched.items():
                if (state := self._states.get(place.partition)) is None:
                    # It comes again: whoever takes the partition over goes back.
                    continue
                for record in records:
                    urgent |= state.count(record) is not None
                    self._unflushed += 1
            due = time.monotonic() - self._flushed_at >= self._flush_seconds
            if urgent or due or self._unflushed >= _FLUSH_MESSAGES:
                async with self._lock:
                    await self._flush()

    async def _take_over(self, partitions: Sequence[int]) -> None:
        begun, assigned = time.monotonic(), self._assigned
        try:
            states = await self._all_restored(partitions)
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
        for state in states:
            self._states[state.partition] = state
            self._committed |= self._counted_in(state)
            self._taken_over(state)
        _log.info(
            "partitions taken over",
            agent=self.name,
            partitions=list(partitions),
            seconds=round(time.monotonic() - begun, 2),
        )

    async def _all_restored(self, partitions: Sequence[int]) -> list[StateT]:
        consumer, settings = self._running_consumer(), self._runtime.settings
        stored = await stored_messages(settings.kafka, self._state_topic, partitions)
        places = [TopicPartition(topic, number) for topic in self._reads for number in partitions]
        begins, ends = await consumer.beginning_offsets(places), await consumer.end_offsets(places)
        states = []
        for number in partitions:
            own = {topic: TopicPartition(topic, number) for topic in self._reads}
            state = await self._restored(number, stored[number], {topic: ends[place] for topic, place in own.items()})
            for topic, place in own.items():
                committed = await consumer.committed(place)
                # What is committed of a topic that was made anew lies behind its end.
                anew = committed is None or committed > ends[place]
                state.begin(topic, offset := begins[place] if anew else max(committed, begins[place]))
                consumer.seek(place, max(begins[place], offset - self._remembered))
            states.append(state)
        return states

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
        self._unflushed = 0
        offsets = self._counted()
        if offsets == self._committed and not any(state.changed for state in self._states.values()):
            return
        try:
            await self._commit(self._committed)
            await self._write()
            await self._commit(offsets)
        except NotOwner:
            _log.info("partitions are being reassigned; their next owner counts what is not committed")
            return
        self._committed = offsets

    async def _write_changes(self) -> None:
        await self._runtime.publisher.publish(
            *(message for state in self._states.values() for message in state.changes(self._state_topic))
        )

    async def _commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit, and thereby ask the group whether the partitions are still this agent's.

        Raises:
            NotOwner: they are not.
            KafkaError: the group must not be written to.
        """
        if not offsets:
            return
        try:
            await self._running_consumer().commit(dict(offsets))
        except (CommitFailedError, IllegalStateError) as error:
            raise NotOwner from error

    def _counted(self) -> dict[TopicPartition, int]:
        return {place: at for state in self._states.values() for place, at in self._counted_in(state).items()}

    def _counted_in(self, state: StateT) -> dict[TopicPartition, int]:
        return {TopicPartition(topic, state.partition): offset for topic, offset in state.behind.items()}

    def _running_consumer(self) -> Consumer:
        if self._consumer is None:
            raise StreamError(f"{self.name} has left its group")
        return self._consumer


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
