"""What a worker gives its agents, and the two kinds of agents that read topics: on Faust, and on a plain consumer."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import structlog
from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from prometheus_client import Counter
from pydantic import ValidationError

from agents.pace import Pace
from schemas import Unreadable, Verdict, explain
from streams.clients import Client, Consumer, group_consumer
from streams.connection import start
from streams.delivery import Delivery
from streams.errors import StreamError
from streams.faust_app import GroupApp
from streams.messages import Handler, Incoming, OnEnded, Publisher, Screen
from streams.metrics import StreamMetrics
from streams.settings import StreamSettings
from streams.takeover import Takeover

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runtime:
    """The parts that all agents of a worker share."""

    settings: StreamSettings
    publisher: Publisher  # Started before any agent, stopped after all.
    metrics: StreamMetrics
    fail: Callable[[BaseException], None]  # To be called when an agent cannot go on: the worker then ends.

    def run(self, agent: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do what `agent` does nothing without, in the background: the worker ends if it ends with an exception."""

        def ended(task: asyncio.Task[None]) -> None:
            # It may run into the cancellation of something else; nobody would ever know.
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is not None and not (task.cancelled() and task.cancelling()):
                # What other exceptions say may quote a message.
                detail = str(error) if isinstance(error, StreamError) else ""
                _log.error("agent ended", agent=agent, error=type(error).__name__, detail=detail)
                self.fail(error)

        task = asyncio.create_task(work)
        task.add_done_callback(ended)
        return task

    @cache  # noqa: B019 - a registry takes each once, however many agents share it
    def counter(self, name: str, said: str, *labels: str, values: tuple[str, ...] = ()) -> Counter:
        """The counter of this name, at 0 for these values of its label: Prometheus sees no increase from none to 1."""
        counter = Counter(name, said, labels, registry=self.metrics.registry)
        for value in values:
            counter.labels(value)
        return counter


class Agent(ABC):
    """Listens to topics until it is stopped."""

    name: str  # Name in logs, metrics and readiness; part of the consumer group's name.
    topics: Collection[str]  # Topics that must exist.

    @abstractmethod
    async def start(self) -> None:
        """Begin. An agent returns without waiting for partitions."""

    @abstractmethod
    async def stop(self) -> None:
        """Finish what is under way, commit and disconnect; also if it was not started, or stopped before."""

    async def ready(self) -> str | None:
        """Why it is not ready yet, or None."""
        return None

    async def measure(self) -> None:  # noqa: B027 - others update theirs as they change
        """Update the metrics that are not updated as they change; raises KafkaError where no broker answers."""

    def abandon(self) -> None:  # noqa: B027 - most wait for nothing
        """Called before `stop` if the broker takes no answers: wait for nothing."""


AgentFactory: TypeAlias = Callable[[Runtime], Agent]  # Builds an agent, on the event loop that it is to run on.


class Listener(Agent):
    """Passes every message of a topic to a handler, many concurrently; of checkers, improvers and webhooks."""

    def __init__(
        self,
        name: str,
        topic: str,
        handler: Handler,
        runtime: Runtime,
        *,
        writes: Collection[str] = (),
        needs: Sequence[Client] = (),
        trial_seconds: float | None = None,
        on_ended: OnEnded = lambda incoming, answered: None,
        screen: Screen | None = None,
        in_flight: Callable[[], int] | None = None,
        takeover: Takeover | None = None,
    ) -> None:
        """`writes`: topics that the handler's answers go to; `needs` is started before and stopped behind it.

        `trial_seconds`, `on_ended`: see `Delivery`. What `screen` skips does not come to the handler. `in_flight`: by a
        handler that counts records itself. With `takeover`, what was answered before is not answered again.
        """
        settings = runtime.settings
        self.name = name
        self.topics = (topic, *writes, settings.topics.dead_letter)
        self._runtime, self._needs = runtime, needs
        self._drain_seconds = settings.delivery.drain_seconds
        metrics = self._metrics = runtime.metrics
        self._delivery = Delivery(
            name=name,
            handler=handler,
            publisher=runtime.publisher,
            settings=settings,
            metrics=metrics,
            on_fatal=runtime.fail,
            on_ended=on_ended,
            trial_seconds=trial_seconds,
            screen=screen,
            takeover=takeover,
        )
        metrics.watch(
            name,
            in_flight=in_flight or (lambda: self._delivery.in_flight),
            held=lambda: self._delivery.held,
            paused=lambda: self._delivery.paused,
        )
        self._pace = Pace(name, metrics, samples=takeover is not None)
        drained = lambda: self._delivery.drain(self._drain_seconds)  # noqa: E731
        self._app = GroupApp(f"{settings.topics.prefix}.{name}", settings, drain=drained, on_fatal=runtime.fail)
        self._app.listen(topic, self._delivery.run)

    async def start(self) -> None:
        for client in self._needs:
            await client.start()
        await self._app.start()

    async def stop(self) -> None:
        try:
            if self._app.started:
                await self._app.stop()
        finally:
            for client in self._needs:
                await client.stop()

    async def ready(self) -> str | None:
        return None if self._app.joined else "has not joined its group yet"

    async def measure(self) -> None:
        if not self._app.joined:
            return
        progress = await self._app.progress()
        self._metrics.lag.labels(self.name).set(sum(each.end - each.finished for each in progress.values()))
        self._pace.look(progress)

    def abandon(self) -> None:
        self._drain_seconds = 0


def read_verdict(incoming: Incoming) -> Verdict:
    """Raises `Unreadable` if the message is none."""
    if not incoming.value:
        raise Unreadable("empty", "the message is empty; expected a verdict")
    try:
        return Verdict.model_validate_json(incoming.value)
    except ValidationError as error:
        raise Unreadable("invalid_record", f"no verdict: {explain(error)}") from None


class GroupReader(Agent, ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka is untyped
    """An agent on a plain consumer: Faust restores no state between an assignment and the first message."""

    def __init__(self, runtime: Runtime, *, reads: Collection[str], writes: Collection[str] = ()) -> None:
        self.topics: Collection[str] = (*reads, *writes)
        self._runtime = runtime
        self._reads = reads
        self._consumer: Consumer | None = None
        self._joined = False
        self._assigned: frozenset[TopicPartition] = frozenset()  # A new object with each assignment.
        self._running: asyncio.Task[None] | None = None

    @property
    @abstractmethod
    def _offsets(self) -> Mapping[TopicPartition, int]:
        """The offset behind what is kept of each partition that was taken over."""

    @abstractmethod
    async def _run(self, consumer: Consumer) -> None:
        """Take over what is assigned, and read, until cancelled."""

    async def start(self) -> None:
        """Ask to join the group; raises StreamError, which says what to do about broker, topics or store."""
        settings = self._runtime.settings
        group = f"{settings.topics.prefix}.{self.name}"
        self._consumer = consumer = group_consumer(settings, group, RangePartitionAssignor)
        consumer.subscribe(list(self._reads), listener=self)
        await start(consumer, settings.kafka)
        self._running = self._runtime.run(self.name, self._run(consumer))

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
            lag = sum(max(0, (ends[place] or 0) - offset) for place, offset in offsets)
            self._runtime.metrics.lag.labels(self.name).set(lag)

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self._joined, self._assigned = False, frozenset()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
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
