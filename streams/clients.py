"""Kafka clients: consumers in and without a group, and one for topics and groups."""

import asyncio
import contextlib
import math
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaConnectionError, KafkaError, NodeNotReadyError, RequestTimedOutError
from aiokafka.structs import OffsetAndMetadata, TopicPartition
from aiokafka.util import commit_structure_validate

from streams.connection import connection, start, why_no_answer
from streams.errors import BrokerUnavailable
from streams.settings import DeliverySettings, KafkaSettings, StreamSettings

REQUEST_TIMEOUT_SECONDS = 60.0
"""A broker restarts within some 45 s, reading its log included; a verdict under way must outlive that."""

_FETCH_WAIT_SECONDS = 0.05
"""Faust fixes 1.5 s, and a fetch covers all partitions of a broker: one busy partition then stalls behind three idle
ones. 50 ms cost 20 small requests a second when idle."""

_MAX_POLL_INTERVAL_SECONDS = 7 * 24 * 3600.0
"""While a judge is down nothing is fetched, and the group must not take the partitions away for that."""

_LETTING_GO_SECONDS = 10.0
_HEARTBEATS_PER_SESSION = 3
"""One lost heartbeat, and one late one, must not cost the partitions."""

_ADMIN_TIMEOUT_SECONDS = 15.0
_KNOWN_PAUSE_SECONDS = 0.1
_MOST_REFUSALS = 5
_REFUSED_PAUSE_SECONDS = 1.0
"""Joins in a row that are refused, and the pause between two: another member of the same name goes on refusing."""

_NOTE = re.compile(r"answers since (\d{1,12}\.\d{3})(?:, begun at (\d{1,19})|(, at the first start))?")


class Client(ABC):
    """A connection to something else."""

    @abstractmethod
    async def start(self) -> None:
        """Connect."""

    @abstractmethod
    async def stop(self) -> None:
        """Disconnect; also if it was not started."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Started for as long as the context lasts."""
        try:
            await self.start()
            yield self
        finally:
            await self.stop()


class Received(Protocol):
    """A message as consumers give it: aiokafka's `ConsumerRecord`, which is untyped."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # In milliseconds since 1970.
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


class Commit(NamedTuple):
    """A group's commit in a partition, with what is noted next to the offset."""

    offset: int
    since: float | None = None
    """Since when, by Unix time, messages from there on may have been answered. None where it was someone else who has
    set the offset: they are to be answered again."""
    begun: int = 0
    """The offset that the group began at: what is before it was never to be checked."""
    is_first_start: bool = False
    """True in a deployment's first commits, before any record was worked off."""

    @property
    def noted(self) -> OffsetAndMetadata:
        """As the group keeps it."""
        end = ", at the first start" if self.is_first_start else f", begun at {self.begun}" if self.begun else ""
        return OffsetAndMetadata(self.offset, f"answers since {self.since or 0:.3f}{end}")

    @classmethod
    def read(cls, at: OffsetAndMetadata) -> "Commit":
        if (note := _NOTE.fullmatch(at.metadata)) is None:
            return cls(at.offset)
        return cls(at.offset, float(note[1]), int(note[2] or 0), note[3] is not None)


class Consumer(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka is untyped
    """A consumer that also starts with a broker that has just started, and stops while none answers."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        _know_brokers(self._client)
        self.heard_at = -math.inf
        """When the last heartbeat was sent that was answered as a member's, by the monotonic clock."""
        self.notes: dict[TopicPartition, str] = {}
        """By partition what a commit notes next to the offset, unless it says so itself."""

    async def commit(self, offsets: Mapping[TopicPartition, int | OffsetAndMetadata] | None = None) -> None:
        noted = commit_structure_validate(offsets).items() if offsets and self.notes else ()
        notes = {place: OffsetAndMetadata(at.offset, at.metadata or self.notes.get(place, "")) for place, at in noted}
        await super().commit(notes or offsets)

    async def start(self) -> None:
        await super().start()
        positions = self._fetcher._proc_offset_request  # noqa: SLF001 - no public hook for it

        async def found(*asked: Any) -> Any:
            try:
                return await positions(*asked)
            except KafkaError as error:
                # aiokafka would go on asking the broker that led before, until metadata are too old: five minutes.
                if error.invalid_metadata:
                    self._client.force_metadata_update()
                raise

        self._fetcher._proc_offset_request = found  # noqa: SLF001
        coordinator = self._coordinator
        beat = getattr(coordinator, "_do_heartbeat", None)
        if beat is None:
            return
        join, refusals = coordinator._do_rejoin_group, 0  # noqa: SLF001 - no public hook for it

        async def heard() -> bool:
            sent = time.monotonic()
            is_member: bool = await beat()
            if is_member:
                self.heard_at = sent
            return is_member

        async def joined(subscription: Any) -> bool:
            nonlocal refusals
            try:
                is_member: bool = await join(subscription)
            except KafkaError as error:
                # A plain one stands for answers that aiokafka does not know: a broker that goes may have given a static
                # member's place to a join whose answer was lost. As a new member it takes the place again.
                refusals += 1
                if type(error) is not KafkaError or refusals > _MOST_REFUSALS:
                    raise
                coordinator.reset_generation()
                await asyncio.sleep(_REFUSED_PAUSE_SECONDS)
                return False
            refusals = 0
            return is_member

        coordinator._do_heartbeat, coordinator._do_rejoin_group = heard, joined  # noqa: SLF001

    async def committed_with_notes(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The group's committed offsets of the assigned partitions, with what was noted; those that have one."""
        found = await self._coordinator.fetch_committed_offsets(self.assignment())
        return {place: at for place, at in found.items() if at.offset >= 0}

    def is_at_end(self, place: TopicPartition, end: int) -> bool:
        """True if all before `end` was handed out, marks of transactions passed over."""
        subscription = self._subscription.subscription
        assignment = subscription and subscription.assignment
        if not assignment or place not in assignment.tps:
            return False
        state = assignment.state_value(place)
        return state.has_valid_position and bool(state.position >= end)

    @property
    def client(self) -> AIOKafkaClient:
        """Its client, for requests of other kinds, as a producer has it."""
        return self._client

    async def stop(self) -> None:
        try:
            await super().stop()
        except asyncio.CancelledError:
            # Of aiokafka's own tasks: a fetch that waits to be repeated passes its cancellation on.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            await self._client.close()


def _know_brokers(client: AIOKafkaClient) -> None:
    """Let `client` start once it knows a broker: one that has just started names none.

    aiokafka takes that for a start; its coordinator then ends with an assertion, and the consumer waits for ever.
    """
    bootstrap: Callable[[], Awaitable[None]] = client.bootstrap

    async def until_known() -> None:
        await bootstrap()
        deadline = time.monotonic() + _ADMIN_TIMEOUT_SECONDS
        while not client.cluster.brokers():
            if time.monotonic() > deadline:
                raise KafkaConnectionError("the broker names none, not even itself")
            await asyncio.sleep(_KNOWN_PAUSE_SECONDS)
            await client.force_metadata_update()

    client.bootstrap = until_known


class _Admin(AIOKafkaAdminClient):  # type: ignore[misc]  # aiokafka is untyped
    """Asks the next broker where one does not answer: until it is missed, one that is gone is named with the others."""

    async def _send_request(self, request: Any, node_id: int | None = None) -> Any:
        known = [broker.nodeId for broker in self._client.cluster.brokers()] if node_id is None else [node_id]
        *first, last = random.sample(known, len(known))
        for each in first:
            with contextlib.suppress(NodeNotReadyError, KafkaConnectionError, RequestTimedOutError):
                return await super()._send_request(request, each)
        return await super()._send_request(request, last)


def rebalance_timeout_seconds(delivery: DeliverySettings) -> float:
    """Time that a group waits for a worker to let go of its partitions: it drains, then commits.

    With less, work is done twice, and with slow checks workers swap partitions for ever.
    """
    return delivery.drain_seconds + REQUEST_TIMEOUT_SECONDS + _LETTING_GO_SECONDS


def group_consumer(settings: StreamSettings, group: str, assignor: type) -> Consumer:
    """A consumer in `group` without auto-commit, not started. `assignor` is one of aiokafka's classes."""
    kafka = settings.kafka
    instance, session = kafka.properties.get("group_instance_id"), kafka.session_seconds * 1000
    return Consumer(
        **connection(kafka, "consumer"),
        group_id=group,
        group_instance_id=None if instance is None else f"{group}.{instance}",
        partition_assignment_strategy=[assignor],
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_interval_ms=int(_MAX_POLL_INTERVAL_SECONDS * 1000),
        fetch_max_wait_ms=int(_FETCH_WAIT_SECONDS * 1000),
        request_timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000),
        session_timeout_ms=int(session),
        heartbeat_interval_ms=int(session / _HEARTBEATS_PER_SESSION),
        rebalance_timeout_ms=int(rebalance_timeout_seconds(settings.delivery) * 1000),
    )


@contextlib.asynccontextmanager
async def admin(kafka: KafkaSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client for topics and consumer groups."""
    client = _Admin(**connection(kafka), request_timeout_ms=int(_ADMIN_TIMEOUT_SECONDS * 1000))
    _know_brokers(client._client)  # noqa: SLF001 - no public way to it
    try:
        await start(client, kafka)
        yield client
    except (NodeNotReadyError, KafkaConnectionError, RequestTimedOutError) as error:
        raise BrokerUnavailable(
            await why_no_answer(kafka) or f"the Kafka broker at {kafka.bootstrap_servers} stopped answering"
        ) from error
    finally:
        await client.close()


def single_consumer(kafka: KafkaSettings, **arguments: Any) -> Consumer:
    """A consumer that reads for itself, not started."""
    given = connection(kafka, "consumer") | {"fetch_max_wait_ms": 100} | arguments
    return Consumer(**given, enable_auto_commit=False)


@contextlib.asynccontextmanager
async def reader(kafka: KafkaSettings) -> AsyncIterator[Consumer]:
    """A consumer without a group, for reading a topic from its beginning."""
    client = single_consumer(kafka, auto_offset_reset="earliest")
    try:
        await start(client, kafka)
        yield client
    finally:
        await client.stop()
