"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final, TypeAlias

import structlog

from agents.monitor.alertmanager import RESEND_SECONDS, Alertmanager
from agents.monitor.counter import Entry, Key, Partition, Skipped
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.metrics import TrustMetrics
from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import AlertmanagerSettings, TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from agents.runtime import AgentFactory, Runtime
from schemas import Alert, SeriesAnew

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


class TrustPartition(Partition[TrustEntry, TrustSettings, TrustMetrics]):
    """Counts the outcomes of one partition."""

    def __init__(self, *given: Any, **limits: Any) -> None:
        super().__init__(*given, **limits)
        self.raised: list[TrustMessage] = []  # What is in the outbox.

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
        raised = entry.series.update(outcome, self._now)
        self._metrics.counted(outcome.checker, "accept" if outcome.accepted else "reject")
        if raised is not None:
            self.raised.append(raised)
            self._raise(raised)
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
    return partial(TrustMonitor, settings, alertmanager, flush_seconds=flush_seconds, resend_seconds=resend_seconds)


class TrustMonitor(CounterAgent[TrustPartition]):
    """Counts each verdict once and loses no alert, even if workers are killed."""

    name = NAME
    most_series = 10_000
    """Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`."""

    def __init__(
        self,
        settings: TrustSettings,
        alertmanager: AlertmanagerSettings,
        runtime: Runtime,
        *,
        flush_seconds: float,
        resend_seconds: float,
    ) -> None:
        topics = runtime.settings.topics
        super().__init__(runtime, [topics.outcomes], [topics.alerts], topics.trust_state, flush_seconds)
        self._settings = settings
        self._metrics = TrustMetrics(runtime.metrics)
        self._metrics.watch(
            lambda: ((key, each.series) for one in self._partitions.values() for key, each in one.entries.items())
        )
        self._alertmanager = Alertmanager(alertmanager, self._metrics, resend_seconds=resend_seconds)

    async def start(self) -> None:
        await super().start()
        self._alertmanager.start()

    async def stop(self) -> None:
        await super().stop()
        await self._alertmanager.stop()

    async def _new(self, number: int) -> TrustPartition:
        return TrustPartition(number, self._settings, self._topics, self._metrics, **self._limits)

    def _taken_over(self, partition: TrustPartition) -> None:
        for entry in partition.entries.values():
            if entry.series.alert is not None:
                self._alertmanager.take(entry.series.alert)

    def _forget(self, keys: Iterable[Key]) -> None:
        self._alertmanager.forget(keys)

    async def _write(self) -> None:
        await super()._write()
        for partition in self._partitions.values():
            raised, partition.raised = partition.raised, []
            for message in raised:
                self._metrics.alert(message.checker, message.kind)
                self._alertmanager.take(message)
