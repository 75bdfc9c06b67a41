"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse.

Not on Faust: it allows no restoring of state between the assignment of a partition and its first message.
"""

import asyncio
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import structlog
from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from agents.runtime import Agent, AgentFactory, Runtime
from agents.trust.alertmanager import RESEND_SECONDS, Alertmanager
from agents.trust.metrics import TrustMetrics, TrustRow
from agents.trust.outcomes import SeriesKey
from agents.trust.partition_state import PartitionState, TrustMessage
from agents.trust.restore import stored_series
from agents.trust.settings import AlertmanagerSettings, TrustSettings
from schemas import SeriesAnew
from streams.clients import Consumer, group_consumer, start
from streams.errors import BrokerUnavailable, StreamError
from streams.messages import alert_message
from streams.settings import KafkaSettings
from streams.topics import partitions_of

NAME: Final = "trust-monitor"

_FLUSH_SECONDS: Final = 5.0
"""Between writes of the state, besides one at every alert: what was counted since is counted again after a crash, with
the same result. Each series with new verdicts writes about 5 kB a version."""

_FLUSH_VERDICTS: Final = 20_000
"""While a backlog is read the state is written after so many verdicts at the latest: what a crash then costs is a
second of counting, and what a rebalance waits for stays short."""

_MOST_SERIES: Final = 10_000
"""Series that are watched at most, divided evenly over the partitions: producers choose sources and models, so memory
needs a limit. Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`."""

_FORGET_EVERY_SECONDS: Final = 3600.0

_RETRY_SECONDS: Final = 1.0
"""Between attempts to restore while a broker is away."""

_REMEMBERED: Final = 16_384
"""Verdict ids remembered for each partition, to count a verdict once that is delivered twice: a worker that is killed
repeats at most its window of 4,096 records."""

_BATCH: Final = 500
"""Outcomes counted at once: some 10 ms of work, after which the event loop has its turn."""

_POLL_SECONDS: Final = 0.2

_log = structlog.get_logger(__name__)


def trust_monitor(
    settings: TrustSettings,
    alertmanager: AlertmanagerSettings,
    *,
    flush_seconds: float = _FLUSH_SECONDS,
    resend_seconds: float = RESEND_SECONDS,
) -> AgentFactory:
    """The monitor as an agent of a worker."""

    def build(runtime: Runtime) -> Agent:
        metrics = TrustMetrics(runtime.metrics)
        poster = Alertmanager(alertmanager, metrics, resend_seconds=resend_seconds)
        return TrustMonitor(settings, poster, metrics, runtime, flush_seconds=flush_seconds)

    return build


class NotOwner(Exception):
    """The group has reassigned the partitions, or is about to."""


class TrustMonitor(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka is untyped
    """Counts each verdict once and loses no alert, even if workers are killed.

    State is written before alerts are published, and alerts before offsets are committed. State holds, for each
    series in one message, its statistics, the offset up to which its outcomes are in them, and the alerts raised and
    perhaps not published. The next owner reads it back, publishes those alerts again (under the same ids), starts
    at the committed offset and passes over what a series has counted already.

    A monitor that was thought dead and wakes up must not undo what its successor did. Each flush first asks the group,
    by committing once more what was committed last, whether the partitions are still its own. And should it have
    frozen between that and writing, the state that has come farthest holds, not the one that was written last.
    """

    name = NAME

    def __init__(
        self,
        settings: TrustSettings,
        alertmanager: Alertmanager,
        metrics: TrustMetrics,
        runtime: Runtime,
        *,
        flush_seconds: float,
    ) -> None:
        topics = runtime.settings.topics
        self.topics: Collection[str] = (topics.outcomes, topics.alerts, topics.trust_state)
        self._settings = settings
        self._runtime = runtime
        self._metrics = metrics
        self._flush_seconds = flush_seconds
        self._metrics.watch(self._rows)
        self._agent_metrics = runtime.metrics.agent(NAME)
        self._agent_metrics.watch(in_flight=lambda: 0, held=lambda: 0, paused=lambda: False)
        self._consumer: Consumer | None = None
        self._joined = False
        self._assigned: set[int] = set()
        self._alertmanager = alertmanager
        self._states: dict[int, PartitionState] = {}
        self._committed: dict[int, int] = {}
        self._partitions = 1
        # Held while states are written: the group's callbacks come in between of everything else.
        self._lock = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._abandoned = False
        self._flushed_at = 0.0
        self._forgot_at = time.monotonic()
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
        topics = settings.topics
        self._partitions = await require_equal_partitions(settings.kafka, (topics.outcomes, topics.trust_state))
        self._consumer = group_consumer(settings, f"{topics.prefix}.{NAME}", RangePartitionAssignor)
        self._consumer.subscribe([topics.outcomes], listener=self)
        await start(self._consumer, settings.kafka)
        self._alertmanager.start()
        self._running = asyncio.create_task(self._run())
        self._runtime.watch(NAME, self._running)

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
        await self._alertmanager.stop()
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
            for number, offset in self._counted().items():
                end = self._consumer.highwater(self._place(number))
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
                self._alertmanager.forget(state.watched)
            self._states.clear()
            self._committed.clear()

    async def on_partitions_assigned(self, assigned: set[Any]) -> None:
        self._assigned = {place.partition for place in assigned}
        self._joined = True

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
            alarm = False
            for place, records in fetched.items():
                if (state := self._states.get(place.partition)) is None:
                    # It comes again: whoever takes the partition over goes back.
                    continue
                for record in records:
                    alarm |= state.count(record) is not None
                    self._unflushed += 1
            due = time.monotonic() - self._flushed_at >= self._flush_seconds
            if alarm or due or self._unflushed >= _FLUSH_VERDICTS:
                async with self._lock:
                    await self._flush()

    async def _take_over(self, partitions: Sequence[int]) -> None:
        begun, assigned = time.monotonic(), self._assigned
        try:
            states = await self._restored(partitions)
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
            self._committed[state.partition] = state.next
            for watched in state.watched.values():
                if watched.series.alert is not None:
                    self._alertmanager.dropped(watched.series.alert)
        _log.info(
            "partitions taken over",
            agent=NAME,
            partitions=list(partitions),
            series=sum(len(state.watched) for state in states),
            seconds=round(time.monotonic() - begun, 2),
        )

    async def _restored(self, partitions: Sequence[int]) -> list[PartitionState]:
        consumer, settings = self._running_consumer(), self._runtime.settings
        stored = await stored_series(settings.kafka, settings.topics.trust_state, partitions)
        places = [self._place(number) for number in partitions]
        begins, ends = await consumer.beginning_offsets(places), await consumer.end_offsets(places)
        most = max(1, _MOST_SERIES // self._partitions)
        states = []
        for place in places:
            state = PartitionState(place.partition, self._settings, self._metrics, most=most, remember=_REMEMBERED)
            state.restore(stored[place.partition], ends[place])
            committed = await consumer.committed(place)
            # What is committed of a topic that was made anew lies behind its end.
            state.next = (
                begins[place] if committed is None or committed > ends[place] else max(committed, begins[place])
            )
            consumer.seek(place, max(begins[place], state.next - _REMEMBERED))
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
        """Persist changes, publish alerts, then commit. Does nothing if the partitions were reassigned."""
        self._flushed_at = time.monotonic()
        self._unflushed = 0
        offsets = self._counted()
        if offsets == self._committed and not any(state.changed for state in self._states.values()):
            return
        try:
            await self._commit(self._committed)
            self._forget_old()
            await self._write_changes()
            if await self._publish_pending():
                await self._write_changes()
            await self._commit(offsets)
        except NotOwner:
            _log.info("partitions are being reassigned; their next owner counts what is not committed")
            return
        self._committed = offsets

    async def _commit(self, offsets: Mapping[int, int]) -> None:
        """Commit, and thereby ask the group whether the partitions are still this monitor's.

        Raises:
            NotOwner: they are not.
            KafkaError: the group must not be written to.
        """
        if not offsets:
            return
        try:
            await self._running_consumer().commit({self._place(number): offset for number, offset in offsets.items()})
        except (CommitFailedError, IllegalStateError) as error:
            raise NotOwner from error

    def _counted(self) -> dict[int, int]:
        return {number: state.next for number, state in self._states.items()}

    def _place(self, number: int) -> TopicPartition:
        return TopicPartition(self._runtime.settings.topics.outcomes, number)

    def _running_consumer(self) -> Consumer:
        if self._consumer is None:
            raise StreamError(f"{NAME} has left its group")
        return self._consumer

    async def _write_changes(self) -> None:
        publisher = self._runtime.publisher
        topic = self._runtime.settings.topics.trust_state
        enqueued = [
            (message, await publisher.enqueue(message))
            for state in self._states.values()
            for message in state.changes(topic)
        ]
        for message, future in enqueued:
            await publisher.acknowledged(message, future)

    async def _publish_pending(self) -> bool:
        pending = [(state, message) for state in self._states.values() for message in state.pending()]
        for state, message in pending:
            await self._runtime.publisher.publish(alert_message(message, self._runtime.settings.topics))
            state.published(message)
            self._metrics.alert(message.checker, message.kind)
            self._tell(message)
        return bool(pending)

    def _tell(self, message: TrustMessage) -> None:
        if isinstance(message, SeriesAnew):
            # Neither still down nor recovered: at Alertmanager it ends by itself.
            self._alertmanager.forget((SeriesKey(message.source, message.model, message.checker),))
        elif message.kind == "trust_drop":
            self._alertmanager.dropped(message)
        else:
            self._alertmanager.recovered(message)

    def _forget_old(self) -> None:
        now = time.monotonic()
        if now - self._forgot_at >= _FORGET_EVERY_SECONDS:
            self._forgot_at = now
            for state in self._states.values():
                self._alertmanager.forget(state.forget_old())

    def _rows(self) -> Iterator[TrustRow]:
        for state in self._states.values():
            for key, watched in state.watched.items():
                series = watched.series
                yield TrustRow(
                    checker=key.checker,
                    source=key.source,
                    model=key.model,
                    baseline=series.baseline,
                    dropped=series.dropped,
                    evidence_ratio=series.evidence_ratio,
                    dispersion=series.dispersion,
                    allowance=series.allowance,
                )


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
