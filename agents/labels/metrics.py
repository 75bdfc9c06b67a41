"""Prometheus metrics of labels."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from schemas import Calibration
from streams.metrics import OTHER, StreamMetrics

RESULTS: Final = (
    "counted",
    "replaced",
    "withdrawn",
    "repeat",
    "older",
    "unknown",
    "not_expert",
    "other_rubric",
    "late",
    "too_many",
    "unreadable",
)


class LabelMetrics(Collector):
    """Counts of requests and labels, and what is known of each subject whenever the metrics are asked for.

    Of several configurations of a checker the one is shown that had the last verdict.
    """

    def __init__(self, metrics: StreamMetrics) -> None:
        self._metrics = metrics
        self._rows: Callable[[], Iterable[Calibration]] = tuple
        self._subjects: dict[tuple[str, str], tuple[str, str]] = {}
        registry = metrics.registry
        self._requests = Counter(
            "assay_review_requests", "Verdicts that people were asked about", ["checker"], registry=registry
        )
        self._labels = Counter("assay_labels", "Labels, by what became of them", ["result"], registry=registry)
        self._alerts = Counter(
            "assay_true_rate_alerts", "Alerts on the true success rate", ["checker", "cause"], registry=registry
        )
        for result in RESULTS:
            # Prometheus sees no increase in a series that begins at 1.
            self._labels.labels(result)
        registry.register(self)

    def watch(self, rows: Callable[[], Iterable[Calibration]]) -> None:
        """Call `rows` at every scrape."""
        self._rows = rows

    def asked(self, checker: str) -> None:
        self._requests.labels(checker).inc()

    def label(self, result: str) -> None:
        self._labels.labels(result).inc()

    def alert(self, checker: str, cause: str) -> None:
        self._alerts.labels(checker, cause).inc()

    def collect(self) -> Iterator[Metric]:
        labels = ["checker", "source", "model"]
        rate = GaugeMetricFamily(
            "assay_true_success_rate",
            "Success rate as people see it, with the 95% interval that holds at every look",
            labels=[*labels, "bound"],
        )
        kappa = GaugeMetricFamily("assay_judge_kappa", "Agreement of the judge with people", labels=labels)
        answered = GaugeMetricFamily(
            "assay_review_answered_ratio", "Share of the requests that have a label", labels=[*labels, "outcome"]
        )
        fallen = GaugeMetricFamily(
            "assay_true_rate_fallen", "1 from an alarm on the true success rate to its recovery", labels=labels
        )
        for where, row in self._newest().items():
            for bound in ("low", "estimate", "high") if row.rate is not None else ():
                rate.add_metric([*where, bound], getattr(row.rate, bound))
            if row.kappa is not None:
                kappa.add_metric(where, row.kappa.estimate)
            for each in row.strata:
                if each.asked:
                    answered.add_metric([*where, each.stratum], each.answered)
            fallen.add_metric(where, row.fallen)
        yield from (rate, kappa, answered, fallen)

    def describe(self) -> Iterator[Metric]:
        """Empty: prometheus_client asks at registration, before there are series."""
        return iter(())

    def _newest(self) -> dict[tuple[str, str, str], Calibration]:
        newest: dict[tuple[str, str, str], Calibration] = {}
        for row in sorted(self._rows(), key=lambda row: row.updated_at):
            pair = (row.source, row.model)
            # A subject is asked about once only: what is beyond the maximum is counted with every question.
            if (subject := self._subjects.get(pair)) is None:
                subject = self._subjects[pair] = self._metrics.subject(*pair)
            if subject != (OTHER, OTHER):
                newest[row.checker, *subject] = row
        return newest
