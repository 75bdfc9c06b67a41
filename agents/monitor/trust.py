"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse."""

from collections.abc import Iterable
from typing import Any, Final

import structlog

from agents.monitor.alertmanager import RESEND_SECONDS, Alertmanager
from agents.monitor.counter import Entry, Key, Partition, Raised, Skipped
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.metrics import TrustMetrics
from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import AlertmanagerSettings, TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from agents.runtime import Runtime
from schemas import Alert, SeriesAnew, TrueRateAlert

_FLUSH_SECONDS: Final = 5.0
"""Between writes of the state, besides one at every alert: what was counted since is counted again after a crash, with
the same result. Each series with new verdicts writes about 5 kB a version."""

_log = structlog.get_logger(__name__)


class TrustEntry(Entry):
    """A series of verdicts."""

    key: SeriesKey
    series: TrustSeries


class TrustPartition(Partition[TrustEntry, TrustSettings, TrustMetrics]):
    """Counts the outcomes of one partition."""

    def _read(self, stored: bytes) -> TrustEntry:
        entry = TrustEntry.model_validate_json(stored)
        plan = Plan.of(self._settings, entry.key)
        if entry.series.plan != plan:
            _log.warning("a series is reset, as its settings changed", **entry.key._asdict())
            entry.series = TrustSeries(plan, runs=entry.series.runs)
            self._changed[entry.key] = None
        return entry

    def _begin(self, key: Key) -> TrustEntry:
        subject = SeriesKey(*key)
        return TrustEntry(key=subject, series=TrustSeries(Plan.of(self._settings, subject)))

    def _count_verdict(self, entry: TrustEntry, outcome: SeriesOutcome) -> Alert | SeriesAnew | None:
        raised = entry.series.update(outcome, self._now)
        self._metrics.counted(outcome.checker, "accept" if outcome.accepted else "reject")
        if raised is not None:
            self._raise(raised)
        return raised

    def _skipped(self, reason: Skipped, record: Any, checker: str = "") -> None:
        self._metrics.skipped(reason, checker)
        if reason == "unreadable":
            _log.warning("no outcome", partition=record.partition, offset=record.offset)


class TrustMonitor(CounterAgent[TrustPartition]):
    """Counts each verdict once and loses no alert, even if workers are killed."""

    name = "trust-monitor"
    most_series = 10_000  # Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`.

    def __init__(
        self,
        settings: TrustSettings,
        alertmanager: AlertmanagerSettings,
        runtime: Runtime,
        *,
        flush_seconds: float = _FLUSH_SECONDS,
        resend_seconds: float = RESEND_SECONDS,
    ) -> None:
        topics = runtime.settings.topics
        super().__init__(runtime, [topics.outcomes], [topics.alerts], topics.trust_state, flush_seconds)
        self._settings = settings
        self._metrics = TrustMetrics(runtime.metrics)
        self._metrics.watch(
            lambda: ((key, each.series) for one in self._partitions.values() for key, each in one.entries.items())
        )
        self._alertmanagers = [
            Alertmanager(url, alertmanager, self._metrics, resend_seconds=resend_seconds) for url in alertmanager.urls
        ]

    async def start(self) -> None:
        await super().start()
        for each in self._alertmanagers:
            self._runtime.watch(self.name, await each.start())

    async def stop(self) -> None:
        await super().stop()
        for each in self._alertmanagers:
            await each.stop()

    async def _new(self, number: int) -> TrustPartition:
        most, remember = self._most, self.remembered
        return TrustPartition(number, self._settings, self._topics, self._metrics, most=most, remember=remember)

    def _taken_over(self, partition: TrustPartition) -> None:
        for entry in partition.entries.values():
            if entry.series.alert is not None:
                self._post(entry.series.alert)

    def _forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            for each in self._alertmanagers:
                each.forget(key)

    def _published(self, alert: Raised) -> None:
        if not isinstance(alert, TrueRateAlert):
            self._metrics.alert(alert.checker, alert.kind)
            # One on versions has no end: Prometheus raises it by `assay_trust_alerts_total`.
            if alert.kind != "version_worse":
                self._post(alert)

    def _post(self, message: Alert | SeriesAnew) -> None:
        for each in self._alertmanagers:
            each.take(message)
