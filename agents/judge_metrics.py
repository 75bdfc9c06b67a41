"""Prometheus metrics of asking a judge, to be fed by whoever asks."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from schemas import Usage

# From a cached or local answer to a long one of a large model.
_SECONDS = (0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 60)


class JudgeMetrics:
    """Calls, tokens, cost and cache hits. `task` is the kind of question, `outcome` how it ended."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "assay_judge_calls", "Questions that reached the judge", ["judge", "task"], registry=registry
        )
        self._answers = Counter(
            "assay_judge_answers", "Questions put, by how they ended", ["judge", "task", "outcome"], registry=registry
        )
        self._hits = Counter(
            "assay_judge_cache_hits", "Questions answered without asking", ["judge", "task"], registry=registry
        )
        self._tokens = Counter(
            "assay_judge_tokens", "Tokens read and written", ["judge", "task", "direction"], registry=registry
        )
        self._cost = Counter(
            "assay_judge_cost", "Cost in the currency of the configured prices", ["judge", "task"], registry=registry
        )
        self._seconds = Histogram(
            "assay_judge_duration_seconds", "Time under way", ["judge", "task"], buckets=_SECONDS, registry=registry
        )

    def answered(self, judge: str, task: str, usage: Usage, outcome: str = "answered") -> None:
        """Count a question that ended: `answered`, `failed` or `unavailable`, at the cost of `usage`."""
        self._answers.labels(judge, task, outcome).inc()
        self._calls.labels(judge, task).inc(usage.calls)
        self._hits.labels(judge, task).inc(usage.cached)
        self._tokens.labels(judge, task, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(judge, task, "completion").inc(usage.completion_tokens)
        self._cost.labels(judge, task).inc(usage.cost)
        if usage.calls:
            self._seconds.labels(judge, task).observe(usage.seconds)
