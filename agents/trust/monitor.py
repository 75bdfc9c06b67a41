"""The trust monitor: an agent that reads all verdicts and raises an alert when a subject gets worse."""

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import structlog
from aiokafka.errors import KafkaError

from agents.runtime import Agent, AgentFactory, Runtime
from agents.trust.alertmanager import Alertmanager
from agents.trust.metrics import TrustMetrics, TrustRow
from agents.trust.partition_state import PartitionState, Told
from agents.trust.restore import restore
from agents.trust.settings import AlertmanagerSettings, TrustSettings
from agents.trust.verdict_reader import SeriesKey
from schemas import SeriesAnew
from streams.errors import BrokerUnavailable, StreamError
from streams.messages import alert_message
from streams.paired_topics import NotOwner, PairedReader, require_equal_partitions

NAME: Final = "trust-monitor"

_FLUSH_VERDICTS: Final = 20_000
"""While a backlog is read the state is written after so many verdicts at the latest: what a crash then costs is a
second of counting, and what a rebalance waits for stays short."""

_FORGET_EVERY_SECONDS: Final = 3600.0

_RETRY_SECONDS: Final = 1.0
"""Between attempts to restore while a broker is away."""

_log = structlog.get_logger(__name__)


def trust_monitor(settings: TrustSettings, alertmanager: AlertmanagerSettings) -> AgentFactory:
    """The monitor as an agent of a worker."""

    def build(runtime: Runtime) -> Agent:
        return TrustMonitor(settings, alertmanager, runtime)

    return build


class TrustMonitor:
    """Counts each verdict once and loses no alert, even if workers are killed.

    State is written before alerts are published, and alerts before offsets are committed. State holds, for each
    series in one message, its statistics, the offsets up to which its verdicts are in them, and the alerts raised and
    perhaps not published. The next owner reads it back, publishes those alerts again (under the same ids), starts
    at the committed offsets and passes over what a series has counted already.

    A monitor that was thought dead and wakes up must not undo what its successor did. Each flush first asks the group,
    by committing once more what was committed last, whether the partitions are still its own. And should it have
    frozen between that and writing, the state that has come farthest holds, not the one that was written last.
    """

    name = NAME

    def __init__(self, settings: TrustSettings, alertmanager: AlertmanagerSettings, runtime: Runtime) -> None:
        topics = runtime.settings.topics
        self.topics: Collection[str] = (topics.accepted, topics.rejected, topics.alerts, topics.trust_state)
        self._settings = settings
        self._runtime = runtime
        self._metrics = TrustMetrics(runtime.metrics)
        self._metrics.watch(self._rows)
        self._agent_metrics = runtime.metrics.agent(NAME)
        self._reader = PairedReader(
            f"{topics.prefix}.{NAME}",
            (topics.accepted, topics.rejected),
            runtime.settings,
            on_revoked=self._on_revoked,
        )
        self._agent_metrics.watch(in_flight=lambda: self._reader.queued, held=lambda: 0, paused=lambda: False)
        self._alertmanager = Alertmanager(alertmanager, self._metrics)
        self._states: dict[int, PartitionState] = {}
        self._committed: dict[int, tuple[int, int]] = {}
        self._partitions = 1
        # Held while states are filled or written: the group's callbacks come in between of everything else.
        self._lock = asyncio.Lock()
        self._restoring: asyncio.Task[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._started = False
        self._stopping = False
        self._abandoned = False
        self._flushed_at = 0.0
        self._forgot_at = time.monotonic()
        self._unflushed = 0

    @property
    def started(self) -> bool:
        return self._started

    async def start(self) -> None:
        """Ask to join the group.

        Raises:
            StreamError: no broker, or topics that do not go together; each says what to do.
        """
        self._started = True
        topics = self._runtime.settings.topics
        self._partitions = await require_equal_partitions(
            self._runtime.settings.kafka, (topics.accepted, topics.rejected, topics.trust_state)
        )
        await self._reader.start()
        self._alertmanager.start()
        self._running = asyncio.create_task(self._run())
        self._runtime.watch(NAME, self._running)

    async def stop(self) -> None:
        """Persist and commit, then leave the group."""
        self._stopping = True
        if self._restoring is not None:
            self._restoring.cancel()
        if self._running is not None:
            if self._abandoned:
                self._running.cancel()
            await asyncio.wait([self._running])
        if not self._abandoned:
            async with self._lock:
                await self._last_flush()
        await self._alertmanager.stop()
        await self._reader.stop()

    async def ready(self) -> str | None:
        if not self._reader.joined:
            return "has not joined its group yet"
        return "takes over the state of its partitions" if self._reader.unopened else None

    def measure(self) -> None:
        if self._reader.joined:
            self._agent_metrics.lag(self._reader.lag(self._counted()))

    def abandon(self) -> None:
        self._abandoned = True

    async def _run(self) -> None:
        while not self._stopping:
            if unopened := self._reader.unopened:
                await self._take_over(unopened)
            alarm = False
            for partition, side, record in await self._reader.take():
                alarm |= self._states[partition].count(side, record) is not None
                self._unflushed += 1
            due = time.monotonic() - self._flushed_at >= self._settings.flush_seconds
            if alarm or due or self._unflushed >= _FLUSH_VERDICTS:
                async with self._lock:
                    await self._flush()

    async def _take_over(self, partitions: Sequence[int]) -> None:
        async with self._lock:
            self._restoring = asyncio.create_task(self._restore(partitions))
            try:
                await asyncio.wait([self._restoring])
                if not self._restoring.cancelled():
                    self._restoring.result()
            finally:
                self._restoring.cancel()
                self._restoring = None

    async def _restore(self, partitions: Sequence[int]) -> None:
        begun = time.monotonic()
        most = max(1, self._settings.max_series // self._partitions)
        while True:
            try:
                states = [PartitionState(number, self._settings, self._metrics, most=most) for number in partitions]
                for state in states:
                    state.next = list(await self._reader.next_offsets(state.partition))
                await restore(states, self._runtime.settings, remember=self._settings.remember)
                break
            except NotOwner:
                return
            except (BrokerUnavailable, KafkaError) as error:
                if isinstance(error, KafkaError) and not error.retriable:
                    raise
                _log.warning("state not restored yet", error=type(error).__name__)
                await asyncio.sleep(_RETRY_SECONDS)
        for state in states:
            self._states[state.partition] = state
            self._committed[state.partition] = (state.next[0], state.next[1])
            self._reader.open(state.partition)
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

    async def _on_revoked(self) -> None:
        if self._restoring is not None:
            self._restoring.cancel()
        async with self._lock:
            await self._last_flush()
            for state in self._states.values():
                self._alertmanager.forget(state.watched)
            self._states.clear()
            self._committed.clear()

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
            await self._reader.commit(self._committed)
            self._forget_old()
            await self._write_changes()
            if await self._publish_pending():
                await self._write_changes()
            await self._reader.commit(offsets)
        except NotOwner:
            _log.info("partitions are being reassigned; their next owner counts what is not committed")
            return
        self._committed = offsets

    def _counted(self) -> dict[int, tuple[int, int]]:
        return {number: (state.next[0], state.next[1]) for number, state in self._states.items()}

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
        pending = [(state, told) for state in self._states.values() for told in state.pending()]
        for state, told in pending:
            await self._runtime.publisher.publish(alert_message(told, self._runtime.settings.topics))
            state.published(told)
            self._metrics.alert(told.checker, told.kind)
            self._tell(told)
        return bool(pending)

    def _tell(self, told: Told) -> None:
        if isinstance(told, SeriesAnew):
            # Neither still down nor recovered: at Alertmanager it ends by itself.
            self._alertmanager.forget((SeriesKey(told.source, told.model, told.checker),))
        elif told.kind == "trust_drop":
            self._alertmanager.dropped(told)
        else:
            self._alertmanager.recovered(told)

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
                    autocorrelation=series.autocorrelation,
                )
