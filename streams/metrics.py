"""Prometheus metrics of the stream: records, verdicts, dead letters, intake."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from schemas import DeadLetterReason, Verdict

OTHER: Final = "other"
"""The label value under which everything beyond the maximum is counted."""

# From a checker that only computes (milliseconds) to a judge that is retried (a minute).
_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 60)


class StreamMetrics:
    """All metrics of the stream, on one registry."""

    def __init__(self, registry: CollectorRegistry, *, max_subjects: int) -> None:
        self.registry = registry
        self._max_subjects = max_subjects
        self._subjects: set[tuple[str, str]] = set()
        self.records = Counter("assay_records", "Records read", ["checker", "kind"], registry=registry)
        self.skipped = Counter(
            "assay_skipped", "Records of kinds that the checker does not take", ["checker", "kind"], registry=registry
        )
        self.verdicts = Counter(
            "assay_verdicts", "Verdicts delivered", ["checker", "outcome", "source", "model"], registry=registry
        )
        self.dead_letters = Counter(
            "assay_dead_letters", "Dead letters delivered", ["agent", "reason"], registry=registry
        )
        self.seconds = Histogram(
            "assay_check_duration_seconds",
            "Wall time of a check, without waiting for its turn",
            ["checker"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.last_verdict = Gauge(
            "assay_last_verdict_timestamp_seconds",
            "When the last verdict was delivered",
            ["checker"],
            registry=registry,
        )
        self.in_flight = Gauge(
            "assay_records_in_flight",
            "Records begun and not finished, held ones included",
            ["agent"],
            registry=registry,
        )
        self.held = Gauge(
            "assay_records_held", "Records that wait for the judge to come back", ["agent"], registry=registry
        )
        self.paused = Gauge(
            "assay_intake_paused", "1 while nothing new is begun, as the judge is down", ["agent"], registry=registry
        )
        self.lag = Gauge(
            "assay_consumer_lag_records",
            "Records of this worker's partitions not finished",
            ["agent"],
            registry=registry,
        )

    def agent(self, name: str) -> "AgentMetrics":
        """The metrics of one agent, whatever it does."""
        return AgentMetrics(self, name)

    def checker(self, name: str) -> "CheckerMetrics":
        """The metrics of one checker."""
        return CheckerMetrics(self, name)

    def subject(self, source: str, model: str) -> tuple[str, str]:
        """The labels of a subject: its names, or `other` where too many have been seen."""
        pair = (source, model)
        if pair in self._subjects:
            return pair
        if len(self._subjects) >= self._max_subjects:
            return (OTHER, OTHER)
        self._subjects.add(pair)
        return pair


class AgentMetrics:
    """One agent's metrics, its label filled in."""

    def __init__(self, metrics: StreamMetrics, agent: str) -> None:
        self._metrics = metrics
        self._agent = agent
        self._lag = metrics.lag.labels(agent)

    def watch(self, *, in_flight: Callable[[], int], held: Callable[[], int], paused: Callable[[], bool]) -> None:
        """Read these whenever the metrics are asked for."""
        self._metrics.in_flight.labels(self._agent).set_function(in_flight)
        self._metrics.held.labels(self._agent).set_function(held)
        self._metrics.paused.labels(self._agent).set_function(paused)

    def dead_letter(self, reason: DeadLetterReason) -> None:
        """A dead letter was delivered."""
        self._metrics.dead_letters.labels(self._agent, reason).inc()

    def lag(self, messages: int) -> None:
        """So many messages are not finished."""
        self._lag.set(messages)


class CheckerMetrics:
    """One checker's metrics, its label filled in."""

    def __init__(self, metrics: StreamMetrics, checker: str) -> None:
        self._metrics = metrics
        self._checker = checker
        self._records: dict[str, Counter] = {}
        self._skipped: dict[str, Counter] = {}
        self._verdicts: dict[tuple[str, str, str], Counter] = {}
        self._seconds = metrics.seconds.labels(checker)
        self._last_verdict = metrics.last_verdict.labels(checker)

    def record(self, kind: str) -> None:
        """A record was read that the checker takes."""
        counter = self._records.get(kind)
        if counter is None:
            counter = self._records[kind] = self._metrics.records.labels(self._checker, kind)
        counter.inc()

    def skip(self, kind: str) -> None:
        """A record was read whose kind the checker does not take."""
        counter = self._skipped.get(kind)
        if counter is None:
            counter = self._skipped[kind] = self._metrics.skipped.labels(self._checker, kind)
        counter.inc()

    def checked(self, seconds: float) -> None:
        """A check took so long."""
        self._seconds.observe(seconds)

    def verdict(self, verdict: Verdict) -> None:
        """A verdict was delivered."""
        labels = (verdict.outcome, *self._metrics.subject(verdict.source, verdict.model))
        counter = self._verdicts.get(labels)
        if counter is None:
            counter = self._verdicts[labels] = self._metrics.verdicts.labels(self._checker, *labels)
        counter.inc()
        self._last_verdict.set_to_current_time()
