"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final, get_args

import structlog

from agents.monitor.alertmanager import RESEND_SECONDS, Alertmanager
from agents.monitor.counter import Entry, Key, Partition, Raised, Skipped
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.metrics import TrustMetrics
from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import AlertmanagerSettings, TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from agents.runtime import Runtime
from schemas import Alert, AlertKind, SeriesAnew

_MOST_SERIES: Final = 10_000  # Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`.

_FLUSH_SECONDS: Final = 5.0
"""Between writes of the state, besides one at every alert: what was counted since is counted again after a crash, with
the same result. Each series with new verdicts writes about 5 kB a version."""

_log = structlog.get_logger(__name__)

TrustEntry = Entry[TrustSeries]


class TrustPartition(Partition[TrustSeries, TrustSettings, TrustMetrics]):
    """Counts the outcomes of one partition."""

    @property
    def rows(self) -> Iterable[tuple[Key, TrustSeries]]:
        """The series by key."""
        return ((key, entry.series) for key, entry in self.entries.items())

    @property
    def ongoing(self) -> Iterable[Alert]:
        return [each.series.alert for each in self.entries.values() if each.series.alert is not None]

    def published(self, alert: Raised) -> None:
        self._metrics.alerts.labels(alert.checker, alert.kind).inc()

    def _read(self, stored: bytes) -> TrustEntry:
        entry = TrustEntry.model_validate_json(stored)
        fresh = self._begin(entry.key)
        if entry.series.plan != fresh.series.plan:
            _log.warning("a series is reset, as its settings changed", key="/".join(entry.key))
            entry.series = TrustSeries(fresh.series.plan, runs=entry.series.runs)
            self._changed[entry.key] = None
        return entry

    def _begin(self, key: Key) -> TrustEntry:
        subject = SeriesKey(*key)
        for kind in (*get_args(AlertKind), "series_anew"):
            # Prometheus sees no increase in a series that begins at 1.
            self._metrics.alerts.labels(subject.checker, kind)
        return TrustEntry(key=subject, series=TrustSeries(Plan.of(self._settings, subject)))

    def _count_verdict(self, entry: TrustEntry, outcome: SeriesOutcome) -> Alert | SeriesAnew | None:
        raised = entry.series.update(outcome, self._now)
        self._metrics.verdicts.labels(outcome.checker, outcome.outcome).inc()
        if raised is not None:
            self._raise(raised)
        return raised

    def _skipped(self, reason: Skipped, record: Any, checker: str = "") -> None:
        if reason == "unreadable":
            self._metrics.unreadable.inc()
            _log.warning("no outcome", partition=record.partition, offset=record.offset)
        else:
            (self._metrics.repeats if reason == "repeat" else self._metrics.unwatched).labels(checker).inc()


def trust_monitor(
    settings: TrustSettings,
    alertmanager: AlertmanagerSettings,
    runtime: Runtime,
    *,
    flush_seconds: float = _FLUSH_SECONDS,
    resend_seconds: float = RESEND_SECONDS,
) -> CounterAgent[TrustPartition]:
    """The agent, which counts each verdict once and loses no alert, even if workers are killed."""
    topics, metrics = runtime.settings.topics, TrustMetrics(runtime.metrics)
    agent = CounterAgent(
        runtime,
        "trust-monitor",
        partial(TrustPartition, settings, topics, metrics),
        reads=[topics.outcomes],
        writes=[topics.alerts],
        state=topics.trust_state,
        most_series=_MOST_SERIES,
        flush_seconds=flush_seconds,
        alertmanagers=[Alertmanager(url, alertmanager, metrics.posts, resend_seconds) for url in alertmanager.urls],
    )
    metrics.watch(lambda: (row for each in agent.partitions.values() for row in each.rows))
    return agent
