"""Prometheus metrics of watching trust."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple, get_args

from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from schemas import AlertKind
from streams.metrics import OTHER, StreamMetrics

_MAX_CHECKERS: Final = 100
"""Checkers are few; their names stand in messages, and whatever writes those must not fill the memory of Prometheus."""


class TrustRow(NamedTuple):
    """The state of one series."""

    checker: str
    source: str
    model: str
    baseline: float | None
    """The expected success rate; None while it is learned."""
    dropped: bool
    evidence_ratio: float
    """The evidence as a share of the way to the next alert."""
    dispersion: float
    """The factor by which neighbouring verdicts scatter more than independent ones."""
    allowance: float
    """The part by which less is expected, as days differ."""


class TrustMetrics(Collector):
    """Counts of the trust monitor, and the standing of each of its series whenever the metrics are asked for.

    Series whose subject has no label of its own are one row, `other`: only whether any of them dropped is told.
    """

    def __init__(self, metrics: StreamMetrics) -> None:
        self._metrics = metrics
        self._rows: Callable[[], Iterable[TrustRow]] = tuple
        self._checkers: set[str] = set()
        self._subjects: dict[tuple[str, str], tuple[str, str]] = {}
        registry = metrics.registry
        counter = partial(Counter, registry=registry)
        self._verdicts = counter(
            "assay_trust_verdicts", "Verdicts that the trust monitor counted", ["checker", "outcome"]
        )
        self._repeats = counter(
            "assay_trust_repeats", "Verdicts that the trust monitor did not count: they came again", ["checker"]
        )
        self._unwatched = counter(
            "assay_trust_unwatched_verdicts",
            "Verdicts that the trust monitor did not count: as many series as it watches were there before",
            ["checker"],
        )
        self._unreadable = counter("assay_trust_unreadable", "Messages on the topic of outcomes that are none")
        self._alerts = counter(
            "assay_trust_alerts", "Drops and recoveries published, and series begun anew", ["checker", "kind"]
        )
        self._posts = counter("assay_alertmanager_posts", "Requests to Alertmanager, by result", ["outcome"])
        registry.register(self)

    def watch(self, rows: Callable[[], Iterable[TrustRow]]) -> None:
        """Call `rows` at every scrape."""
        self._rows = rows

    def counted(self, checker: str, outcome: str) -> None:
        self._verdicts.labels(self._checker(checker), outcome).inc()

    def repeat(self, checker: str) -> None:
        self._repeats.labels(self._checker(checker)).inc()

    def unwatched(self, checker: str) -> None:
        self._unwatched.labels(self._checker(checker)).inc()

    def unreadable(self) -> None:
        """Count a message on the topic of outcomes that is none."""
        self._unreadable.inc()

    def alert(self, checker: str, kind: str) -> None:
        self._alerts.labels(self._checker(checker), kind).inc()

    def posted(self, outcome: str) -> None:
        """Count a request to Alertmanager: `accepted`, `refused`, or `failed` if there was no answer."""
        self._posts.labels(outcome).inc()

    def collect(self) -> Iterator[Metric]:
        labels = ["checker", "source", "model"]
        baseline = GaugeMetricFamily("assay_trust_baseline", "Success rate expected of a subject", labels=labels)
        dropped = GaugeMetricFamily(
            "assay_trust_dropped",
            "1 from a drop of a subject's success rate to its recovery, 0 otherwise",
            labels=labels,
        )
        evidence = GaugeMetricFamily(
            "assay_trust_evidence_ratio",
            "How far the evidence for a drop has come, or for a recovery after one: 1 raises an alert",
            labels=labels,
        )
        dispersion = GaugeMetricFamily(
            "assay_trust_dispersion",
            "What evidence is divided by, as verdicts fail together",
            labels=labels,
        )
        allowance = GaugeMetricFamily(
            "assay_trust_allowance", "How much less is expected of a subject, as its days differ", labels=labels
        )
        others: dict[tuple[str, str, str], bool] = {}
        # A subject is asked about once only: what is beyond the maximum is counted with every question.
        before, self._subjects = self._subjects, {}
        for row in self._rows():
            checker = self._checker(row.checker)
            pair = (row.source, row.model)
            subject = self._subjects[pair] = (
                self._subjects.get(pair) or before.get(pair) or self._metrics.subject(*pair)
            )
            where = (checker, *subject)
            if checker == OTHER or subject == (OTHER, OTHER):
                others[where] = others.get(where, False) or row.dropped
                continue
            dropped.add_metric(where, row.dropped)
            evidence.add_metric(where, row.evidence_ratio)
            dispersion.add_metric(where, row.dispersion)
            allowance.add_metric(where, row.allowance)
            if row.baseline is not None:
                baseline.add_metric(where, row.baseline)
        for where, any_dropped in others.items():
            dropped.add_metric(where, any_dropped)
        yield from (baseline, dropped, evidence, dispersion, allowance)

    def describe(self) -> Iterator[Metric]:
        """Empty: prometheus_client asks at registration, before there are series."""
        return iter(())

    def _checker(self, name: str) -> str:
        if name not in self._checkers:
            if len(self._checkers) >= _MAX_CHECKERS:
                return OTHER
            self._checkers.add(name)
            # Prometheus sees no increase in a series that begins at 1.
            for kind in (*get_args(AlertKind), "series_anew"):
                self._alerts.labels(name, kind)
        return name
