"""Prometheus metrics of asking a judge, to be fed by the caller."""

from collections.abc import Callable
from functools import partial
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from models.meter import EndedRequest, Ending

# From a cached or local answer to a long one of a large model.
_SECONDS = (0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 60)


class JudgeMetrics:
    """Questions by their endings, time, tokens, cost and cache hits. `task` is the kind of question."""

    def __init__(self, registry: CollectorRegistry, currency: str = "USD") -> None:
        """`currency` is that of the configured prices."""
        counter = partial(Counter, registry=registry)
        labels = ["judge", "task"]
        self._answers = counter(
            "assay_judge_answers",
            "Questions to the judge by how they ended: with an answer, with no usable one, or unasked as it is away",
            [*labels, "outcome"],
        )
        self._calls = counter("assay_judge_calls", "Requests that were sent to the judge, retries included", labels)
        self._hits = counter("assay_judge_cache_hits", "Questions answered from the cache, without the judge", labels)
        self._tokens = counter(
            "assay_judge_tokens", "Tokens that the judge read (prompt) and wrote (completion)", [*labels, "direction"]
        )
        self._cost = counter("assay_judge_cost", "Cost of asking the judge", [*labels, "currency"])
        self._currency = currency
        self._pace = Gauge(
            "assay_judge_records_per_second",
            "Short records that the judge takes, by its self-test with a few at once",
            ["judge"],
            registry=registry,
        )
        self._seconds = Histogram(
            "assay_judge_duration_seconds",
            "Time that the judge worked on a question, without any waiting",
            labels,
            buckets=_SECONDS,
            registry=registry,
        )
        self._waiting = counter(
            "assay_judge_waiting_seconds",
            "Time that questions waited for the judge: for their turn, a back-off that it asked for, or its loading",
            labels,
        )

    def watch(self, judge: str, pace: Callable[[], float | None]) -> None:
        """Show how many records a second a judge takes, once that is known."""
        self._pace.labels(judge).set_function(lambda: pace() or float("nan"))

    def ended(self, request: EndedRequest) -> None:
        """Count a question that ended."""
        labels, usage = (request.model, request.task), request.usage
        for ending in get_args(Ending):
            # All begin at once, so that the first failure is an increase.
            self._answers.labels(*labels, ending).inc(ending == request.ending)
        self._calls.labels(*labels).inc(usage.calls)
        self._hits.labels(*labels).inc(usage.cached)
        self._tokens.labels(*labels, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(*labels, "completion").inc(usage.completion_tokens)
        self._cost.labels(*labels, self._currency).inc(usage.cost)
        self._waiting.labels(*labels).inc(request.waited)
        if usage.calls:
            self._seconds.labels(*labels).observe(usage.seconds)
