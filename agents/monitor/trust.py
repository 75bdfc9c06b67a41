"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, get_args

import structlog
from prometheus_client import Counter
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from agents.monitor.alertmanager import Alertmanager
from agents.monitor.counter import Entry, Key, Partition, labels_of, series_gauge
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import AlertmanagerSettings, TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from agents.runtime import Runtime
from schemas.alerts import AlertKind
from streams.metrics import OTHER, StreamMetrics

_MOST_CHECKERS: Final = 100  # Names come in messages: what writes those must not fill Prometheus' memory.
_MOST_SERIES: Final = 10_000  # Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`.

_FLUSH_SECONDS: Final = 5.0  # Between writes of the state, besides one at every alert: about 5 kB a version.

_TRUST_GAUGES: Final = {
    "baseline": ("baseline_ratio", "Success rate expected of a subject"),
    "dropped": ("dropped", "1 from a drop of a subject's success rate to its recovery, 0 otherwise"),
    "evidence_ratio": ("evidence_ratio", "How far the evidence for a drop or a recovery has come: 1 raises an alert"),
    "dispersion": ("dispersion", "What evidence is divided by, as verdicts fail together"),
    "allowance": ("allowance_ratio", "How much less is expected of a subject, as its days differ"),
}  # By property of a series, the end of the name `assay_trust_` and what it holds.

_log = structlog.get_logger(__name__)

TrustEntry = Entry[TrustSeries]


class TrustMetrics(Collector):
    """Counts and series of the trust monitor; those whose subject has no label are one: whether any of them dropped."""

    def __init__(self, metrics: StreamMetrics) -> None:
        counter = partial(Counter, registry=metrics.registry)
        self.verdicts = counter("assay_trust_verdicts", "Verdicts counted by the trust monitor", ["checker", "outcome"])
        self.repeats = counter("assay_trust_repeats", "Verdicts not counted, as they came again", ["checker"])
        said = "Verdicts not counted, as there are as many series as are watched"
        self.unwatched = counter("assay_trust_unwatched_verdicts", said, ["checker"])
        self.unreadable = counter("assay_trust_unreadable", "Messages on the topic of outcomes that are none")
        said = "Drops and recoveries published, and new series"
        self.alerts = counter("assay_trust_alerts", said, ["checker", "kind"])
        self.posts = counter("assay_alertmanager_posts", "Requests to Alertmanager, by result", ["outcome"])
        self._checkers: set[str] = set()
        self._metrics = metrics
        self.rows: Callable[[], Iterable[tuple[Key, TrustSeries]]] = tuple  # Called at every scrape.
        metrics.registry.register(self)

    def checker(self, name: str) -> str:
        """A checker's name as a label; `other` for those that come when there are 100."""
        if name not in self._checkers and len(self._checkers) >= _MOST_CHECKERS:
            return OTHER
        self._checkers.add(name)
        return name

    def collect(self) -> Iterator[Metric]:
        gauges = {name: series_gauge(f"assay_trust_{end}", text) for name, (end, text) in _TRUST_GAUGES.items()}
        others: dict[tuple[str, ...], bool] = {}
        for key, series in self.rows():
            checker, *subject = labels_of(self._metrics, key)
            labels = (self.checker(checker), *subject)
            if labels[0] == OTHER or subject == [OTHER, OTHER]:
                others[labels] = others.get(labels, False) or series.dropped
                continue
            for name, gauge in gauges.items():
                if (value := getattr(series, name)) is not None:
                    gauge.add_metric(labels, value)
        for labels, any_dropped in others.items():
            gauges["dropped"].add_metric(labels, any_dropped)
        yield from gauges.values()


class TrustPartition(Partition[TrustSeries, TrustSettings, TrustMetrics]):
    """Counts the outcomes of one partition."""

    def _read(self, stored: bytes) -> TrustEntry:
        entry = TrustEntry.model_validate_json(stored)
        fresh = self._begin(entry.key)
        if entry.series.plan != fresh.series.plan:
            _log.warning("a series is reset, as its settings changed", key="/".join(entry.key))
            entry.series = TrustSeries(fresh.series.plan, runs=entry.series.runs)
            self._changed[entry.key] = None
        if entry.series.alert is not None:
            self.raised.append(entry.series.alert)
        return entry

    def _begin(self, key: Key) -> TrustEntry:
        subject = SeriesKey(*key)
        for kind in (*get_args(AlertKind), "series_anew"):
            # Prometheus sees no increase in a series that begins at 1.
            self._metrics.alerts.labels(self._metrics.checker(subject.checker), kind)
        return TrustEntry(key=subject, series=TrustSeries(Plan.of(self._settings, subject)))

    def _count_verdict(self, entry: TrustEntry, outcome: SeriesOutcome) -> None:
        checker = self._metrics.checker(outcome.checker)
        self._metrics.verdicts.labels(checker, outcome.outcome).inc()
        if (raised := entry.series.update(outcome, self._now)) is not None:
            self._raise(raised, self._metrics.alerts.labels(checker, raised.kind).inc)

    def _skipped(self, reason: str, checker: str = "") -> None:
        if reason == "unreadable":
            self._metrics.unreadable.inc()
        else:
            counter = self._metrics.repeats if reason == "repeat" else self._metrics.unwatched
            counter.labels(self._metrics.checker(checker)).inc()


def trust_monitor(
    settings: TrustSettings,
    alertmanager: AlertmanagerSettings,
    runtime: Runtime,
    *,
    flush_seconds: float = _FLUSH_SECONDS,
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
        alertmanagers=[Alertmanager(url, alertmanager, metrics.posts) for url in alertmanager.urls],
    )
    metrics.rows = lambda: (
        (each.key, each.series) for one in agent.partitions.values() for each in one.entries.values()
    )
    return agent
