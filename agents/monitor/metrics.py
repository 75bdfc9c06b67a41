"""Prometheus metrics of the monitors: counters, and the state of each series whenever the metrics are asked for."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from agents.monitor.counter import Key
from agents.monitor.trust_series import TrustSeries
from schemas import Calibration
from streams.metrics import OTHER, StreamMetrics

RESULTS: Final = (
    *("counted", "replaced", "withdrawn", "repeat", "older", "unknown"),
    *("not_expert", "other_rubric", "late", "too_many", "unreadable"),
)  # What may become of a label.

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


class TrustMetrics(Collector):
    """Counts of the trust monitor, and the state of its series.

    Series whose subject has no label are one row, `other`: it only shows whether any of them dropped.
    """

    def __init__(self, metrics: StreamMetrics) -> None:
        counter = partial(Counter, registry=metrics.registry)
        skipped = "Verdicts that the trust monitor did not count: "
        self.verdicts = counter(
            "assay_trust_verdicts", "Verdicts that the trust monitor counted", ["checker", "outcome"]
        )
        self.repeats = counter("assay_trust_repeats", f"{skipped}they came again", ["checker"])
        self.unwatched = counter(
            "assay_trust_unwatched_verdicts", f"{skipped}as many series as it watches were there before", ["checker"]
        )
        self.unreadable = counter("assay_trust_unreadable", "Messages on the topic of outcomes that are none")
        self.alerts = counter(
            "assay_trust_alerts", "Drops and recoveries published, and new series", ["checker", "kind"]
        )
        self.posts = counter("assay_alertmanager_posts", "Requests to Alertmanager, by result", ["outcome"])
        self._metrics = metrics
        self._rows: Callable[[], Iterable[tuple[Key, TrustSeries]]] = tuple

    def watch(self, rows: Callable[[], Iterable[tuple[Key, TrustSeries]]]) -> None:
        """Call `rows` at every scrape."""
        self._rows = rows
        self._metrics.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        gauges = {name: _gauge(f"assay_trust_{end}", text) for name, (end, text) in _TRUST_GAUGES.items()}
        others: dict[str, bool] = {}
        for key, series in self._rows():
            checker, *subject = labels = _labels(self._metrics, key)
            if subject == [OTHER, OTHER]:
                others[checker] = others.get(checker, False) or series.dropped
                continue
            for name, gauge in gauges.items():
                if (value := getattr(series, name)) is not None:
                    gauge.add_metric(labels, value)
        for checker, any_dropped in others.items():
            gauges["dropped"].add_metric([checker, OTHER, OTHER], any_dropped)
        yield from gauges.values()


class LabelMetrics(Collector):
    """Counts of requests and labels, and what is known of each subject.

    Of several configurations of a checker the one is shown that had the last verdict.
    """

    def __init__(self, metrics: StreamMetrics) -> None:
        counter = partial(Counter, registry=metrics.registry)
        self.requests = counter("assay_review_requests", "Verdicts that people were asked about", ["checker"])
        self.labels = counter("assay_labels", "Labels, by what became of them", ["result"])
        self.alerts = counter("assay_true_rate_alerts", "Alerts on the true success rate", ["checker", "cause"])
        for result in RESULTS:
            # Prometheus sees no increase in a series that begins at 1.
            self.labels.labels(result)
        self._metrics = metrics
        self._rows: Callable[[], Iterable[tuple[Key, Calibration]]] = tuple

    def watch(self, rows: Callable[[], Iterable[tuple[Key, Calibration]]]) -> None:
        """Call `rows` at every scrape."""
        self._rows = rows
        self._metrics.registry.register(self)

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
        rows = sorted(self._rows(), key=lambda each: each[1].updated_at)
        for labels, row in {_labels(self._metrics, key): row for key, row in rows}.items():
            if labels[1:] == (OTHER, OTHER):
                continue
            for name, gauge in rate.items() if row.rate is not None else ():
                gauge.add_metric(labels, getattr(row.rate, name))
            if row.kappa is not None:
                kappa.add_metric(labels, row.kappa.estimate)
            for each in row.strata:
                if each.asked:
                    answered.add_metric([*labels, each.stratum], each.answered)
            fallen.add_metric(labels, row.fallen)
        yield from (*rate.values(), kappa, answered, fallen)


def _labels(metrics: StreamMetrics, key: Key) -> tuple[str, str, str]:
    source, model, checker = key[:3]
    # No event: what is beyond the maximum counts where it is checked.
    return (checker, *metrics.subject(source, model, 0))


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=["checker", "source", "model", *labels])
