"""The agent that answers, once for all checkers, for what none of them checks: unreadable messages, unclaimed kinds."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import structlog
from aiokafka.errors import IncompatibleBrokerVersion, KafkaError
from prometheus_client import CollectorRegistry, Counter

from agents.listener import Listener
from agents.runtime import Agent, AgentFactory, Runtime
from checkers.checker import unclaimed
from schemas import RECORD_KINDS, read_record
from streams.clients import admin
from streams.errors import BrokerUnavailable
from streams.intake_gate import Hold
from streams.messages import Handler, Incoming, Outgoing, verdict_message
from streams.settings import StreamSettings

NAME: Final = "unchecked"

_GRACE_SECONDS: Final = 60.0
"""Workers of a cluster are started within a minute of each other: longest to start are those that pull an image."""

_REREAD_SECONDS: Final = 10.0
"""The list of consumer groups is read again after this long: one small request for each broker."""

_WAIT_SECONDS: Final = 1.0
"""Between attempts to answer a record during the grace, or while the broker does not tell its groups."""

_log = structlog.get_logger(__name__)


def unchecked_agent(
    kinds_by_checker: Mapping[str, Collection[str]], own: Collection[str], *, grace_seconds: float = _GRACE_SECONDS
) -> AgentFactory:
    """The agent beside the checkers of a worker.

    Checkers pass over what cannot be read and leave its dead letter to this agent, whose one consumer group reads every
    record. So each worker with a checker must have it.

    Args:
        kinds_by_checker: record kinds of all installed checkers by the checker's name.
        own: names of the worker's own checkers.
        grace_seconds: time after the start within which no record is called unclaimed.
    """

    def build(runtime: Runtime) -> Agent:
        topics = runtime.settings.topics
        running = RunningCheckers(kinds_by_checker, own, runtime.settings, grace_seconds)
        return Listener(NAME, topics.outputs, _handler(running, runtime), runtime, writes=(topics.abstained,))

    return build


def _handler(running: "RunningCheckers", runtime: Runtime) -> Handler:
    counts = UnclaimedMetrics(runtime.metrics.registry)
    settings = runtime.settings

    async def handle(incoming: Incoming) -> Sequence[Outgoing]:
        record = read_record(incoming.value, max_bytes=settings.records.max_bytes)
        kind: str = record.kind  # type: ignore[attr-defined]  # every record has one, the envelope does not
        if incoming.attempt == 1:
            runtime.metrics.skipped.labels(NAME, kind).inc()
        try:
            if await running.take(kind):
                return ()
        except (BrokerUnavailable, KafkaError) as error:
            _log.warning("consumer groups not read, it is tried again", error=type(error).__name__)
            raise Hold(_WAIT_SECONDS, apart=True) from error
        if running.in_grace():
            raise Hold(_WAIT_SECONDS, apart=True)
        verdict = unclaimed(record, f"no running checker takes the kind {kind!r}")
        message = verdict_message(verdict.model_copy(update={"origin": incoming.origin}), settings.topics)
        message.on_delivered = lambda: counts.record(kind)
        return (message,)

    return handle


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
        self._others = frozenset[str]()
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()
        self._grace_ends = time.monotonic() + grace_seconds

    async def take(self, kind: str) -> bool:
        """True if a running checker takes this kind.

        Raises:
            BrokerUnavailable, KafkaError: the consumer groups could not be read.
        """
        if kind in self._own:
            return True
        async with self._reading:
            if time.monotonic() - self._read_at >= _REREAD_SECONDS:
                self._others = await self._of_groups()
                self._read_at = time.monotonic()
        return kind in self._others

    async def _of_groups(self) -> frozenset[str]:
        async with admin(self._kafka) as client:
            try:
                return self._taken({group for group, *_ in await client.list_consumer_groups()})
            except IncompatibleBrokerVersion:
                # The embedded broker lists no groups. It lives in one process, with the only worker on it.
                self._grace_ends = float("-inf")
                return frozenset()

    def in_grace(self) -> bool:
        return time.monotonic() < self._grace_ends

    def _taken(self, groups: Collection[str]) -> frozenset[str]:
        return frozenset[str]().union(*(kinds for group, kinds in self._kinds.items() if group in groups))
