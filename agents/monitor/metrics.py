"""Prometheus metrics of the monitors: counters, and the state of each series whenever the metrics are asked for."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, Generic, TypeVar, get_args

from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from agents.monitor.counter import Key, Skipped
from agents.monitor.trust_series import TrustSeries
from schemas import AlertKind, Calibration
from streams.metrics import OTHER, StreamMetrics

RESULTS: Final = (
    *("counted", "replaced", "withdrawn", "repeat", "older", "unknown"),
    *("not_expert", "other_rubric", "late", "too_many", "unreadable"),
)  # What may become of a label.

_SERIES: Final = ("checker", "source", "model")

_MAX_CHECKERS: Final = 100  # Their names come in messages: what writes those must not fill Prometheus' memory.

_TRUST_GAUGES: Final = {
    "baseline": ("baseline_ratio", "Success rate expected of a subject"),
    "dropped": ("dropped", "1 from a drop of a subject's success rate to its recovery, 0 otherwise"),
    "evidence_ratio": (
        "evidence_ratio",
        "How far the evidence for a drop or a recovery has come: 1 raises an alert",
    ),
    "dispersion": ("dispersion", "What evidence is divided by, as verdicts fail together"),
    "allowance": ("allowance_ratio", "How much less is expected of a subject, as its days differ"),
}  # By property of a series, the end of the name `assay_trust_` and what it holds.


StateT = TypeVar("StateT")


class SeriesMetrics(Collector, Generic[StateT]):
    """Gauges of series, whose subjects have their own labels up to a maximum."""

    def __init__(self, metrics: StreamMetrics) -> None:
        self._metrics = metrics
        self._rows: Callable[[], Iterable[tuple[Key, StateT]]] = tuple
        self._subjects: dict[tuple[str, str], tuple[str, str]] = {}
        metrics.registry.register(self)

    def watch(self, rows: Callable[[], Iterable[tuple[Key, StateT]]]) -> None:
        """Call `rows` at every scrape."""
        self._rows = rows

    def describe(self) -> Iterator[Metric]:
        """Empty: prometheus_client asks at registration, before there are series."""
        return iter(())

    def _by_labels(self) -> Iterator[tuple[tuple[str, str, str], StateT]]:
        # A subject is asked about once only: what is beyond the maximum is counted with every question.
        before, self._subjects = self._subjects, {}
        for (source, model, checker, *_), state in self._rows():
            pair = (source, model)
            known = self._subjects.get(pair) or before.get(pair)
            subject = self._subjects[pair] = known or self._metrics.subject(*pair)
            yield (checker, *subject), state


class TrustMetrics(SeriesMetrics[TrustSeries]):
    """Counts of the trust monitor, and the state of its series.

    Series whose subject has no label are one row, `other`: it only shows whether any of them dropped.
    """

    def __init__(self, metrics: StreamMetrics) -> None:
        super().__init__(metrics)
        self._checkers: set[str] = set()
        counter = partial(Counter, registry=metrics.registry)
        skipped = "Verdicts that the trust monitor did not count: "
        self._verdicts = counter(
            "assay_trust_verdicts", "Verdicts that the trust monitor counted", ["checker", "outcome"]
        )
        self._repeats = counter("assay_trust_repeats", f"{skipped}they came again", ["checker"])
        self._unwatched = counter(
            "assay_trust_unwatched_verdicts", f"{skipped}as many series as it watches were there before", ["checker"]
        )
        self._unreadable = counter("assay_trust_unreadable", "Messages on the topic of outcomes that are none")
        self._alerts = counter(
            "assay_trust_alerts", "Drops and recoveries published, and new series", ["checker", "kind"]
        )
        self.posts = counter("assay_alertmanager_posts", "Requests to Alertmanager, by result", ["outcome"])

    def counted(self, checker: str, outcome: str) -> None:
        self._verdicts.labels(self._checker(checker), outcome).inc()

    def skipped(self, reason: Skipped, checker: str) -> None:
        """Count a message on the topic of outcomes that counts for no series."""
        if reason == "unreadable":
            self._unreadable.inc()
        else:
            (self._repeats if reason == "repeat" else self._unwatched).labels(self._checker(checker)).inc()

    def alert(self, checker: str, kind: str) -> None:
        self._alerts.labels(self._checker(checker), kind).inc()

    def collect(self) -> Iterator[Metric]:
        gauges = {name: _gauge(f"assay_trust_{end}", text) for name, (end, text) in _TRUST_GAUGES.items()}
        others: dict[tuple[str, str, str], bool] = {}
        for (checker, *subject), series in self._by_labels():
            where = (self._checker(checker), subject[0], subject[1])
            if where[0] == OTHER or where[1:] == (OTHER, OTHER):
                others[where] = others.get(where, False) or series.dropped
                continue
            for name, gauge in gauges.items():
                if (value := getattr(series, name)) is not None:
                    gauge.add_metric(where, value)
        for where, any_dropped in others.items():
            gauges["dropped"].add_metric(where, any_dropped)
        yield from gauges.values()

    def _checker(self, name: str) -> str:
        if name not in self._checkers:
            if len(self._checkers) >= _MAX_CHECKERS:
                return OTHER
            self._checkers.add(name)
            # Prometheus sees no increase in a series that begins at 1.
            for kind in (*get_args(AlertKind), "series_anew"):
                self._alerts.labels(name, kind)
        return name


class LabelMetrics(SeriesMetrics[Calibration]):
    """Counts of requests and labels, and what is known of each subject.

    Of several configurations of a checker the one is shown that had the last verdict.
    """

    def __init__(self, metrics: StreamMetrics) -> None:
        super().__init__(metrics)
        counter = partial(Counter, registry=metrics.registry)
        self.requests = counter("assay_review_requests", "Verdicts that people were asked about", ["checker"])
        self.labels = counter("assay_labels", "Labels, by what became of them", ["result"])
        self.alerts = counter("assay_true_rate_alerts", "Alerts on the true success rate", ["checker", "cause"])
        for result in RESULTS:
            # Prometheus sees no increase in a series that begins at 1.
            self.labels.labels(result)

    def collect(self) -> Iterator[Metric]:
        seen = "success rate as people see it, by an interval of 95% that holds at every look"
        rate = {
            "estimate": _gauge("assay_true_success_ratio", "Success rate as people see it"),
            "low": _gauge("assay_true_success_lower_ratio", f"Least {seen}"),
            "high": _gauge("assay_true_success_upper_ratio", f"Highest {seen}"),
        }
        kappa = _gauge("assay_judge_kappa", "Agreement of the judge with people")
        answered = _gauge("assay_review_answered_ratio", "Share of the requests that have a label", "outcome")
        fallen = _gauge("assay_true_rate_fallen", "1 from an alarm on the true success rate to its recovery")
        newest = dict(sorted(self._by_labels(), key=lambda each: each[1].updated_at))
        for where, row in newest.items():
            if where[1:] == (OTHER, OTHER):
                continue
            for name, gauge in rate.items() if row.rate is not None else ():
                gauge.add_metric(where, getattr(row.rate, name))
            if row.kappa is not None:
                kappa.add_metric(where, row.kappa.estimate)
            for each in row.strata:
                if each.asked:
                    answered.add_metric([*where, each.stratum], each.answered)
            fallen.add_metric(where, row.fallen)
        yield from (*rate.values(), kappa, answered, fallen)


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=[*_SERIES, *labels])
