"""Reading topics as a member of a consumer group, where what is kept of them says where to read on."""

import asyncio
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from agents.runtime import Agent, Runtime
from streams.clients import Consumer, group_consumer, start
from streams.errors import StreamError


class GroupReader(Agent, ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka is untyped
    """An agent on a plain consumer: Faust restores no state between an assignment and the first message."""

    def __init__(self, runtime: Runtime, *, reads: Collection[str], writes: Collection[str] = ()) -> None:
        self.topics: Collection[str] = (*reads, *writes)
        self._runtime = runtime
        self._reads = reads
        self._agent_metrics = runtime.metrics.agent(self.name)
        self._consumer: Consumer | None = None
        self._joined = False
        self._assigned: frozenset[TopicPartition] = frozenset()
        """A new object with each assignment."""
        self._running: asyncio.Task[None] | None = None

    @property
    @abstractmethod
    def _offsets(self) -> Mapping[TopicPartition, int]:
        """The offset behind what is kept of each partition that was taken over."""

    @abstractmethod
    async def _run(self, consumer: Consumer) -> None:
        """Take over what is assigned, and read, until cancelled."""

    async def start(self) -> None:
        """Ask to join the group.

        Raises:
            StreamError: no broker, or topics or a store that cannot be used; each says what to do.
        """
        settings = self._runtime.settings
        group = f"{settings.topics.prefix}.{self.name}"
        self._consumer = consumer = group_consumer(settings, group, RangePartitionAssignor)
        consumer.subscribe(list(self._reads), listener=self)
        await start(consumer, settings.kafka)
        self._running = asyncio.create_task(self._run(consumer))
        self._runtime.watch(self.name, self._running)

    async def stop(self) -> None:
        """Stop reading, then leave the group."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await consumer.stop()

    async def ready(self) -> str | None:
        if not self._joined:
            return "has not joined its group yet"
        return None if self._assigned == self._offsets.keys() else "takes over its partitions"

    async def measure(self) -> None:
        if self._consumer is not None and self._joined:
            ends = {place: self._consumer.highwater(place) for place in self._offsets}
            offsets = self._offsets.items()
            self._agent_metrics.lag(sum(max(0, (ends[place] or 0) - offset) for place, offset in offsets))

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        self._joined, self._assigned = False, frozenset()

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._assigned, self._joined = frozenset(assigned), True

    def _member(self) -> Consumer:
        if self._consumer is None:
            raise StreamError(f"{self.name} has left its group")
        return self._consumer

    async def _bounds(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, tuple[int, int]]:
        """The first offset of each partition, and the one behind its last message."""
        each, consumer = list(places), self._member()
        begins, ends = await consumer.beginning_offsets(each), await consumer.end_offsets(each)
        return {place: (begins[place], ends[place]) for place in each}


def first_unread(kept: int | None, begin: int, end: int) -> int:
    """Where to read on: at the beginning if nothing is `kept`, or if the topic was created again and ends before it."""
    return begin if kept is None or kept > end else max(begin, kept)
