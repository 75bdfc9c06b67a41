"""The agent that answers for records whose kind no running checker takes, so that every record has a verdict."""

import asyncio
import time
from collections.abc import Collection, Mapping
from typing import Any, Final

import orjson
import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError, IncompatibleBrokerVersion, KafkaError
from prometheus_client import CollectorRegistry, Counter

from agents.runtime import Agent, AgentFactory, Runtime
from checkers.checker import unclaimed
from schemas import RECORD_KINDS, Origin, Unreadable, read_record
from streams.clients import admin, group_consumer, start
from streams.errors import BrokerUnavailable
from streams.messages import Outgoing, verdict_message
from streams.settings import StreamSettings

NAME: Final = "unclaimed"

_GRACE_SECONDS: Final = 60.0
"""Workers of a cluster are started within a minute of each other: longest to start are those that pull an image."""

_REREAD_SECONDS: Final = 10.0
"""The list of consumer groups is read again after this long: one small request for each broker."""

_WAIT_SECONDS: Final = 1.0
"""Between attempts to settle a record during the grace, or while the broker does not answer."""

_BATCH: Final = 500
"""Messages looked at in one turn of the event loop: some 5 ms of work."""

_log = structlog.get_logger(__name__)


def unclaimed_agent(
    kinds_by_checker: Mapping[str, Collection[str]], own: Collection[str], *, grace_seconds: float = _GRACE_SECONDS
) -> AgentFactory:
    """The agent of a worker.

    Args:
        kinds_by_checker: record kinds of all installed checkers by the checker's name.
        own: names of the worker's own checkers.
        grace_seconds: time after the start within which no record is called unclaimed.
    """

    def build(runtime: Runtime) -> Agent:
        return _Unclaimed(RunningCheckers(kinds_by_checker, own, runtime.settings, grace_seconds), runtime)

    return build


class UnclaimedMetrics:
    """Counts verdicts with the cause `no_checker`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._records = Counter(
            "assay_unclaimed_records", "Records whose kind no running checker takes", ["kind"], registry=registry
        )
        # Prometheus sees no increase in a series that begins at 1.
        for kind in RECORD_KINDS:
            self._records.labels(kind)

    def record(self, kind: str) -> None:
        self._records.labels(kind).inc()


class RunningCheckers:
    """Record kinds that running checkers take.

    A checker is running if it belongs to this worker or its consumer group exists on the broker, in any state: a
    checker that is being restarted is not missing. Kafka deletes a group without members when its offsets expire
    (`offsets.retention.minutes`, a week by default), or when it is told to.
    """

    def __init__(
        self,
        kinds_by_checker: Mapping[str, Collection[str]],
        own: Collection[str],
        settings: StreamSettings,
        grace_seconds: float = 0.0,
    ) -> None:
        self._kinds = {f"{settings.topics.prefix}.{name}": frozenset(kinds) for name, kinds in kinds_by_checker.items()}
        self._own = self._taken({f"{settings.topics.prefix}.{name}" for name in own})
        self._kafka = settings.kafka
        self._taken_now = self._own
        self._read_at = float("-inf")
        self._grace_ends = time.monotonic() + grace_seconds

    async def unclaimed_kinds(self) -> frozenset[str]:
        """Kinds that no running checker takes.

        Raises:
            BrokerUnavailable, KafkaError: the consumer groups could not be read.
        """
        if time.monotonic() - self._read_at >= _REREAD_SECONDS:
            async with admin(self._kafka) as client:
                try:
                    groups = {group for group, *_ in await client.list_consumer_groups()}
                    self._taken_now = self._own | self._taken(groups)
                except IncompatibleBrokerVersion:
                    # The embedded broker lists no groups. It lives in one process, with the only worker on it.
                    self._grace_ends = float("-inf")
            self._read_at = time.monotonic()
        return frozenset(RECORD_KINDS) - self._taken_now

    def in_grace(self) -> bool:
        return time.monotonic() < self._grace_ends

    def _taken(self, groups: Collection[str]) -> frozenset[str]:
        return frozenset[str]().union(*(kinds for group, kinds in self._kinds.items() if group in groups))


class _Unclaimed(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka is untyped
    """Reads all records, and all but those of unclaimed kinds no further than their kind.

    Not on Faust: it does almost nothing for most records, and Faust's cost of each would be that of a second checker.
    A record that cannot be read is not its business: every checker writes a dead letter for it.
    """

    name = NAME

    def __init__(self, running: RunningCheckers, runtime: Runtime) -> None:
        topics = runtime.settings.topics
        self.topics = (topics.outputs, topics.abstained)
        self._running = running
        self._runtime = runtime
        self._counts = UnclaimedMetrics(runtime.metrics.registry)
        self._metrics = runtime.metrics.agent(NAME)
        self._metrics.watch(in_flight=lambda: 0, held=lambda: int(self._waiting), paused=lambda: False)
        self._consumer: AIOKafkaConsumer | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._joined = False
        self._waiting = False
        self._abandoned = False
        self._done: dict[TopicPartition, int] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._committed_at = 0.0

    @property
    def started(self) -> bool:
        return self._consumer is not None

    async def start(self) -> None:
        """Ask to join the group.

        Raises:
            BrokerUnavailable: no broker answered.
        """
        settings = self._runtime.settings
        group = f"{settings.topics.prefix}.{NAME}"
        self._consumer = consumer = group_consumer(settings, group, RoundRobinPartitionAssignor)
        consumer.subscribe([settings.topics.outputs], listener=self)
        await start(consumer, settings.kafka)
        self._task = asyncio.create_task(self._run(consumer))
        self._runtime.watch(NAME, self._task)

    async def stop(self) -> None:
        self._stopping.set()
        if self._task is not None:
            if self._abandoned:
                self._task.cancel()
            await asyncio.wait([self._task])
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await consumer.stop()

    async def ready(self) -> str | None:
        return None if self._joined else "has not joined its group yet"

    def measure(self) -> None:
        consumer = self._consumer
        if consumer is not None:
            ends = {place: consumer.highwater(place) for place in consumer.assignment()}
            self._metrics.lag(sum(max(0, (end or 0) - self._done.get(place, end or 0)) for place, end in ends.items()))

    def abandon(self) -> None:
        self._abandoned = True

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        self._joined = False

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._joined = True
        # Another worker may have committed meanwhile.
        self._committed.clear()

    async def _run(self, consumer: AIOKafkaConsumer) -> None:
        while not self._stopping.is_set():
            fetched = await consumer.getmany(timeout_ms=200, max_records=_BATCH)
            done: dict[TopicPartition, int] = {}
            answers: list[tuple[Outgoing, asyncio.Future[Any]]] = []
            for place, messages in fetched.items():
                for message in messages:
                    if not await self._settled(message, answers):
                        break
                    done[place] = message.offset + 1
            for outgoing, enqueued in answers:
                await self._runtime.publisher.acknowledged(outgoing, enqueued)
            self._done |= done
            if time.monotonic() - self._committed_at >= self._runtime.settings.delivery.commit_interval_seconds:
                await self._commit(consumer)
        await self._commit(consumer)

    async def _settled(self, message: Any, answers: list[tuple[Outgoing, asyncio.Future[Any]]]) -> bool:
        """Add an answer if the record is unclaimed; false if the worker stops before that is known."""
        kind = _kind(message.value)
        while kind in RECORD_KINDS:
            try:
                if kind not in await self._running.unclaimed_kinds():
                    return True
                if not self._running.in_grace():
                    if (answer := self._answer(kind, message)) is not None:
                        answers.append((answer, await self._runtime.publisher.enqueue(answer)))
                    return True
            except (BrokerUnavailable, KafkaError) as error:
                _log.warning("consumer groups not read, it is tried again", error=type(error).__name__)
            self._waiting = True
            try:
                async with asyncio.timeout(_WAIT_SECONDS):
                    await self._stopping.wait()
                return False
            except TimeoutError:
                pass
            finally:
                self._waiting = False
        return True

    def _answer(self, kind: str, message: Any) -> Outgoing | None:
        settings = self._runtime.settings
        try:
            record = read_record(message.value, max_bytes=settings.records.max_bytes)
        except Unreadable:
            return None
        origin = Origin(topic=message.topic, partition=message.partition, offset=message.offset)
        verdict = unclaimed(record, f"no running checker takes the kind {kind!r}").model_copy(update={"origin": origin})
        outgoing = verdict_message(verdict, settings.topics)
        outgoing.on_delivered = lambda: self._counts.record(kind)
        return outgoing

    async def _commit(self, consumer: AIOKafkaConsumer) -> None:
        self._committed_at = time.monotonic()
        self._done = {place: offset for place, offset in self._done.items() if place in consumer.assignment()}
        finished = dict(self._done.items() - self._committed.items())
        if not finished:
            return
        try:
            await consumer.commit(finished)
        except (CommitFailedError, IllegalStateError):
            # The partitions are being reassigned. Their next owner answers again, under the same ids.
            self._done.clear()
        else:
            self._committed |= finished


def _kind(data: bytes | None) -> str | None:
    try:
        record = orjson.loads(data or b"")
    except orjson.JSONDecodeError:
        return None
    kind = record.get("kind") if isinstance(record, dict) else None
    return kind if isinstance(kind, str) else None
