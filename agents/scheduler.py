"""The agent of a source: makes records on a schedule, each once, and goes on after a restart where it stopped.

The records themselves say how far it is. Their headers carry the number that decides what was asked; the group's
committed offset is that of the last record, and whoever takes a partition over reads on from there to its end. So a
record that was published is never made again, whether or not the commit behind it was.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError
from aiokafka.partitioner import DefaultPartitioner
from prometheus_client import Counter

from agents.budgets import Budgets
from agents.runtime import Agent, AgentFactory, Runtime
from checkers.plugin import RecordSource
from models.protocol import OracleUnavailable
from schemas import digest
from streams.clients import group_consumer, reader, start
from streams.errors import BrokerUnavailable
from streams.messages import Outgoing, record_message, subject_key
from streams.metrics import StreamMetrics
from streams.publisher import TooLarge
from streams.topics import partitions_of

_RUN = "assay-run"
_NUMBER = "assay-number"
"""Headers of a scheduled record: the beginning of its sequence, and its place in it."""

_POLL_SECONDS = 1.0

_RETRY_SECONDS = 1.0
"""Between attempts while a broker is away."""

_BUDGET_SECONDS = 60.0
"""Between looks at a budget that is spent; it starts anew at midnight."""

_SHORTEST_WAIT_SECONDS = 0.05

_log = structlog.get_logger(__name__)


def scheduler(source: RecordSource, *, budgets: Budgets | None = None) -> AgentFactory:
    """The agent of `source`; without `budgets` nothing is limited but its pace."""

    def build(runtime: Runtime) -> Agent:
        return Scheduler(source, budgets or Budgets(), runtime)

    return build


class SchedulerMetrics:
    """Records that were made."""

    def __init__(self, metrics: StreamMetrics) -> None:
        self._records = Counter(
            "assay_scheduled_records",
            "Records that the agent made on a schedule and published",
            ["agent", "model"],
            registry=metrics.registry,
        )

    def begun(self, agent: str, model: str) -> None:
        """Begin the count at zero, so that the first record is an increase."""
        self._records.labels(agent, model)

    def made(self, agent: str, model: str) -> None:
        self._records.labels(agent, model).inc()


@dataclass(slots=True)
class _Sequence:
    """The records of one subject."""

    model: str
    run: str
    """Tells sequences apart: what was made before a topic's retention ended is not made under the same ids again."""
    next: int = 0
    due: float = 0.0
    """When the next record may be made, by the monotonic clock."""
    offset: int | None = None
    """Of the last record."""

    def id_of(self, number: int) -> str:
        return f"{self.run}-{digest(self.model)[:8]}-{number}"


@dataclass(slots=True)
class _Place:
    """A partition of the outputs topic, and the subjects whose records lie on it."""

    partition: TopicPartition
    start: int
    """Where the next owner would have to read on from if no record were made."""
    sequences: list[_Sequence]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def mark(self) -> int:
        """The offset to commit: all sequences can be told from what follows it."""
        return min((one.offset for one in self.sequences if one.offset is not None), default=self.start)


class _NotOwner(Exception):
    """The group has given the partition to another member, or is about to."""


class Scheduler(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka is untyped
    """Makes the records of the subjects whose partition of the outputs topic the group gives to this member.

    It joins the group of a topic that it hardly reads, for the sake of ownership: of several workers exactly one asks a
    subject. Asking costs money, so a member that was thought dead and wakes up must not publish what its successor has
    made as well: it commits before it publishes, which tells.
    """

    def __init__(self, source: RecordSource, budgets: Budgets, runtime: Runtime) -> None:
        topics = runtime.settings.topics
        self.name = source.name
        self.topics = (topics.outputs,)
        self._source = source
        self._budgets = budgets
        self._runtime = runtime
        self._counts = SchedulerMetrics(runtime.metrics)
        metrics = runtime.metrics.agent(self.name)
        metrics.watch(in_flight=lambda: self._asking, held=lambda: self._waiting, paused=lambda: False)
        self._asking = 0
        self._waiting = 0
        self._reading = 0
        self._consumer: AIOKafkaConsumer | None = None
        self._tasks: dict[TopicPartition, asyncio.Task[None]] = {}
        self._partitions: list[int] = []
        self._joined = False

    @property
    def started(self) -> bool:
        return self._consumer is not None

    async def start(self) -> None:
        """Ask to join the group.

        Raises:
            BrokerUnavailable: no broker answered.
        """
        settings = self._runtime.settings
        self._partitions = sorted(await partitions_of(settings.kafka, settings.topics.outputs))
        for model in self._source.models:
            self._counts.begun(self.name, model)
        group = f"{settings.topics.prefix}.{self.name}"
        self._consumer = consumer = group_consumer(settings, group, RoundRobinPartitionAssignor)
        consumer.subscribe([settings.topics.outputs], listener=self)
        await start(consumer, settings.kafka)

    async def stop(self) -> None:
        """Leave the group. What is asked right now is asked again by whoever goes on."""
        await self._end_tasks()
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await consumer.stop()

    async def ready(self) -> str | None:
        if not self._joined:
            return "has not joined its group yet"
        return "finds out how far it was" if self._reading else None

    def measure(self) -> None:
        """Nothing: what changes is told as it changes."""

    def abandon(self) -> None:
        """Nothing: it waits for nothing anyway."""

    async def on_partitions_revoked(self, revoked: set[Any]) -> None:
        self._joined = False
        await self._end_tasks()

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        if self._consumer is None:
            return
        # The consumer is a member of the group, and reads nothing.
        self._consumer.pause(*assigned)
        for place in assigned:
            models = [model for model in self._source.models if self._partition_of(model) == place.partition]
            if models:
                self._tasks[place] = asyncio.create_task(self._run(place, models))
                self._runtime.watch(self.name, self._tasks[place])
        self._joined = True

    def _partition_of(self, model: str) -> int:
        key = subject_key(self._source.source, model)
        number: int = DefaultPartitioner()(key, self._partitions, self._partitions)
        return number

    async def _end_tasks(self) -> None:
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, partition: TopicPartition, models: Sequence[str]) -> None:
        try:
            place = await self._taken_over(partition, models)
            async with asyncio.TaskGroup() as group:
                for sequence in place.sequences:
                    group.create_task(self._make_all(place, sequence))
        except _NotOwner:
            _log.info("a partition is being reassigned; its next owner goes on", partition=partition.partition)
        except BaseExceptionGroup as group_error:
            others = group_error.split(_NotOwner)[1]
            if others is not None:
                raise others.exceptions[0] from None

    async def _make_all(self, place: _Place, sequence: _Sequence) -> None:
        while True:
            await asyncio.sleep(max(0.0, sequence.due - time.monotonic()))
            await self._until_affordable()
            begun = time.monotonic()
            message = await self._message(sequence)
            # One after the other: what is committed tells of every record that was published.
            async with place.lock:
                await self._commit(place)
                try:
                    await self._publish(message, sequence)
                except TooLarge as error:
                    _log.error("a record is left out", agent=self.name, model=sequence.model, detail=str(error))
                sequence.next += 1
                sequence.due = begun + self._source.seconds_between
                await self._commit(place)

    async def _publish(self, message: Outgoing, sequence: _Sequence) -> None:
        publisher = self._runtime.publisher
        enqueued = await publisher.enqueue(message)
        await publisher.acknowledged(message, enqueued)
        # A broker that took a repeat of the request cannot say where the first one went.
        if (offset := enqueued.result().offset) >= 0:
            sequence.offset = offset
        self._counts.made(self.name, sequence.model)

    async def _until_affordable(self) -> None:
        while True:
            reason = self._budgets.exhausted(self.name)
            if reason is None:
                return
            _log.warning("nothing is asked", agent=self.name, reason=reason)
            await self._wait(_BUDGET_SECONDS)

    async def _message(self, sequence: _Sequence) -> Outgoing:
        """The next record, however long its subject is away."""
        number = sequence.next
        while True:
            self._asking += 1
            try:
                with self._budgets.booked(self.name):
                    record = await self._source.record(sequence.model, number, sequence.id_of(number))
            except OracleUnavailable as error:
                _log.warning("a subject cannot be reached, its record waits", agent=self.name, model=sequence.model)
                retry_after = error.retry_after
            else:
                message = record_message(record, self._runtime.settings.topics)
                message.headers += [(_RUN, sequence.run.encode()), (_NUMBER, str(number).encode())]
                message.partition = self._partition_of(sequence.model)
                return message
            finally:
                self._asking -= 1
            await self._wait(retry_after)

    async def _wait(self, seconds: float) -> None:
        self._waiting += 1
        try:
            await asyncio.sleep(max(seconds, _SHORTEST_WAIT_SECONDS))
        finally:
            self._waiting -= 1

    async def _commit(self, place: _Place) -> None:
        """Commit how far it is.

        Raises:
            _NotOwner: the partition is not this member's any more.
            KafkaError: the group must not be written to.
        """
        while self._consumer is not None:
            try:
                await self._consumer.commit({place.partition: place.mark})
            except (CommitFailedError, IllegalStateError):
                raise _NotOwner from None
            except KafkaError as error:
                if not error.retriable:
                    raise
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return
        raise _NotOwner

    async def _taken_over(self, partition: TopicPartition, models: Sequence[str]) -> _Place:
        """Where each subject's sequence stands."""
        self._reading += 1
        try:
            return await self._read_back_until_known(partition, models)
        finally:
            self._reading -= 1

    async def _read_back_until_known(self, partition: TopicPartition, models: Sequence[str]) -> _Place:
        while True:
            try:
                return await self._read_back(partition, models)
            except IllegalStateError:
                raise _NotOwner from None
            except (BrokerUnavailable, KafkaError) as error:
                if isinstance(error, KafkaError) and not error.retriable:
                    raise
                _log.warning("not known yet how far it was", agent=self.name, error=type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _read_back(self, partition: TopicPartition, models: Sequence[str]) -> _Place:
        if self._consumer is None:
            raise _NotOwner
        run = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        found = {model: _Sequence(model, run) for model in models}
        committed = await self._consumer.committed(partition)
        async with reader(self._runtime.settings.kafka) as consumer:
            begin = (await consumer.beginning_offsets([partition]))[partition]
            end = (await consumer.end_offsets([partition]))[partition]
            at = end if committed is None else min(end, max(begin, committed))
            place = _Place(partition, at, list(found.values()))
            consumer.assign([partition])
            if at < end:
                consumer.seek(partition, at)
            while at < end:
                batch = await consumer.getmany(partition, timeout_ms=int(_POLL_SECONDS * 1000))
                for message in batch.get(partition, ()):
                    self._note(message, found)
                at = await consumer.position(partition)
        for sequence in found.values():
            if sequence.next:
                _log.info("goes on", agent=self.name, model=sequence.model, run=sequence.run, number=sequence.next)
        return place

    def _note(self, message: Any, found: dict[str, _Sequence]) -> None:
        """Take note of a record of this source."""
        headers = dict(message.headers)
        # Other producers' headers may hold anything, or nothing.
        run, number, subject, origin = (
            (headers.get(name) or b"").decode("utf-8", "replace") for name in (_RUN, _NUMBER, "ce_subject", "ce_source")
        )
        sequence = found.get(subject)
        own = origin == f"/{self._source.source}"
        if sequence is None or not (own and run and number.isascii() and number.isdecimal()):
            return
        sequence.run, sequence.next, sequence.offset = run, int(number) + 1, message.offset
        since = max(0.0, time.time() - message.timestamp / 1000)
        sequence.due = time.monotonic() + max(0.0, self._source.seconds_between - since)
