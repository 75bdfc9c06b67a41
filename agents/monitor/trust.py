"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import structlog
from pydantic import Field

from agents.monitor.alertmanager import RESEND_SECONDS, Alertmanager
from agents.monitor.counter import Entry, Key, Partition, Skipped
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.metrics import TrustMetrics
from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import AlertmanagerSettings, TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from agents.runtime import Agent, AgentFactory, Runtime
from schemas import Alert, SeriesAnew
from streams.messages import alert_message

NAME: Final = "trust-monitor"

_FLUSH_SECONDS: Final = 5.0
"""Between writes of the state, besides one at every alert: what was counted since is counted again after a crash, with
the same result. Each series with new verdicts writes about 5 kB a version."""

TrustMessage: TypeAlias = Alert | SeriesAnew
"""A message on the topic of alerts."""

_log = structlog.get_logger(__name__)


class TrustEntry(Entry):
    """A series of verdicts."""

    key: SeriesKey
    series: TrustSeries
    pending: list[TrustMessage] = Field(default_factory=list)
    """Messages that were raised and perhaps not published yet."""


class TrustPartition(Partition[TrustEntry]):
    """Counts the outcomes of one partition, and keeps the alerts that wait to be published."""

    def __init__(self, number: int, settings: TrustSettings, metrics: TrustMetrics, **limits: Any) -> None:
        """`limits`: see `Partition`."""
        super().__init__(number, **limits)
        self._settings = settings
        self._metrics = metrics

    @property
    def changed(self) -> bool:
        return super().changed or any(entry.pending for entry in self.entries.values())

    def pending(self) -> list[tuple[TrustEntry, TrustMessage]]:
        """Messages that are to be published."""
        return [(entry, message) for entry in self.entries.values() for message in entry.pending]

    def published(self, entry: TrustEntry, message: TrustMessage) -> None:
        """Note that it was published."""
        entry.pending.remove(message)
        self._changed[entry.key] = None

    def _read(self, stored: bytes) -> TrustEntry:
        entry = TrustEntry.model_validate_json(stored)
        plan = Plan.of(self._settings, entry.key)
        if entry.series.plan != plan:
            _log.warning("a series begins anew, as its settings changed", **entry.key._asdict())
            entry.series = TrustSeries(plan, runs=entry.series.runs)
            self._changed[entry.key] = None
        return entry

    def _begin(self, key: Key) -> TrustEntry:
        subject = SeriesKey(*key)
        return TrustEntry(key=subject, series=TrustSeries(Plan.of(self._settings, subject)))

    def _key(self, outcome: SeriesOutcome) -> SeriesKey:
        return outcome.key

    def _count_verdict(self, entry: TrustEntry, outcome: SeriesOutcome) -> TrustMessage | None:
        raised = entry.series.update(outcome, datetime.fromtimestamp(entry.counted_at, UTC))
        self._metrics.counted(outcome.checker, "accept" if outcome.accepted else "reject")
        if raised is not None:
            entry.pending.append(raised)
            _log.warning(raised.kind, id=raised.id, summary=raised.summary)
        return raised

    def _skipped(self, reason: Skipped, record: Any, checker: str = "") -> None:
        self._metrics.skipped(reason, checker)
        if reason == "unreadable":
            _log.warning("no outcome", partition=record.partition, offset=record.offset)


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


class TrustMonitor(CounterAgent[TrustPartition]):
    """Counts each verdict once and loses no alert, even if workers are killed.

    State is written before alerts are published, and alerts before offsets are committed. State holds the alerts raised
    and perhaps not published. The next owner publishes those again, under the same ids.
    """

    name = NAME
    most_series = 10_000
    """Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`."""

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
        state, reads, writes = topics.trust_state, [topics.outcomes], [topics.alerts]
        super().__init__(runtime, reads=reads, writes=writes, state_topic=state, flush_seconds=flush_seconds)
        self._settings = settings
        self._metrics = metrics
        self._metrics.watch(
            lambda: ((key, each.series) for one in self._partitions.values() for key, each in one.entries.items())
        )
        self._alertmanager = alertmanager

    async def start(self) -> None:
        await super().start()
        self._alertmanager.start()

    async def stop(self) -> None:
        await super().stop()
        await self._alertmanager.stop()

    async def _new(self, number: int) -> TrustPartition:
        return TrustPartition(number, self._settings, self._metrics, most=self._most, remember=self.remembered)

    def _taken_over(self, partition: TrustPartition) -> None:
        for entry in partition.entries.values():
            if entry.series.alert is not None:
                self._alertmanager.take(entry.series.alert)

    def _forget(self, keys: Iterable[Key]) -> None:
        self._alertmanager.forget(keys)

    async def _write(self) -> None:
        await self._store()
        pending = [(partition, *each) for partition in self._partitions.values() for each in partition.pending()]
        for partition, entry, message in pending:
            await self._runtime.publisher.publish(alert_message(message, self._runtime.settings.topics))
            partition.published(entry, message)
            self._metrics.alert(message.checker, message.kind)
            self._alertmanager.take(message)
        if pending:
            await self._store()
