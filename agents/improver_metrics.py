"""Prometheus metrics of an improver."""

from typing import Literal

from prometheus_client import Counter, Histogram

from schemas import Improvement
from streams.metrics import StreamMetrics

# From sentences that are all in the cache to ten rounds of a slow writer.
_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300)

_ROUNDS = (0, 1, 2, 3, 5, 10)


class ImproverMetrics:
    def __init__(self, metrics: StreamMetrics) -> None:
        self._metrics = metrics
        registry = metrics.registry
        self._improvements = Counter(
            "assay_improvements",
            "Rejected responses that went through the improver, by what became of them",
            ["source", "model", "status"],
            registry=registry,
        )
        self._skipped = Counter(
            "assay_improver_skipped",
            "Rejected verdicts not rewritten: of another checker, or delivered before",
            ["reason"],
            registry=registry,
        )
        self._rounds = Histogram(
            "assay_improver_rounds",
            "Rounds of rewriting and checking again of one response",
            buckets=_ROUNDS,
            registry=registry,
        )
        self._seconds = Histogram(
            "assay_improver_duration_seconds",
            "Wall time of one improvement, without waiting for its turn",
            buckets=_SECONDS,
            registry=registry,
        )

    def improved(self, improvement: Improvement) -> None:
        """Count a delivered improvement of any status."""
        subject = self._metrics.subject(improvement.source, improvement.model)
        self._improvements.labels(*subject, improvement.status).inc()
        self._rounds.observe(len(improvement.rounds))
        self._seconds.observe(improvement.usage.seconds)

    def skip(self, reason: Literal["other_checker", "repeat"]) -> None:
        self._skipped.labels(reason).inc()
