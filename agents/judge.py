"""A worker's judge: metrics of asking it, to be fed by the caller, and its part of readiness."""

import asyncio
from collections.abc import Callable
from typing import get_args

import httpx
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from models.flow import BreakerState
from models.judges.prompted import PromptedJudge
from models.llama import LlamaModel
from models.local_grader import LocalGrader
from models.meter import EndedRequest, Ending, MeteredJudge, MeteredModel
from models.protocol import Judge
from models.settings import JudgeSettings

_SECONDS = (0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 60)

_ANSWER_SECONDS = 1.5  # Below the two seconds that `/readyz` gives each part, so that the fault is known.


class JudgeMetrics:
    """Questions by their endings, time, tokens, cost and cache hits. `task` is the kind of question."""

    def __init__(self, registry: CollectorRegistry, currency: str = "USD") -> None:
        labels = ["judge", "task"]

        def counter(name: str, said: str, *more: str) -> Counter:
            return Counter(f"assay_judge_{name}", said, [*labels, *more], registry=registry)

        said = "Questions to the judge by how they ended: with an answer, with no usable one, or unasked as it is away"
        self._answers = counter("answers", said, "outcome")
        self._calls = counter("calls", "Requests that were sent to the judge, retries included")
        self._hits = counter("cache_hits", "Questions answered from the cache, without the judge")
        self._tokens = counter("tokens", "Tokens that the judge read (prompt) and wrote (completion)", "direction")
        self._cost, self._currency = counter("cost", "Cost of asking the judge", "currency"), currency
        said = "Time that questions waited for the judge: for their turn, a back-off that it asked for, or its loading"
        self._waiting = counter("waiting_seconds", said)
        said = "Time that the judge worked on a question, without any waiting"
        self._seconds = Histogram("assay_judge_duration_seconds", said, labels, buckets=_SECONDS, registry=registry)
        said = "Short records that the judge takes, by its self-test with a few at once"
        self._pace = Gauge("assay_judge_records_per_second", said, ["judge"], registry=registry)

    def watch(self, judge: str, pace: Callable[[], float | None]) -> None:
        """Show how many records a second a judge takes, once that is known."""
        self._pace.labels(judge).set_function(lambda: pace() or float("nan"))

    def ended(self, request: EndedRequest) -> None:
        """Count a question that ended."""
        labels, usage = (request.model, request.task), request.usage
        # All begin at once, so that the first failure is an increase.
        for ending in get_args(Ending):
            self._answers.labels(*labels, ending).inc(ending == request.ending)
        self._calls.labels(*labels).inc(usage.calls)
        self._hits.labels(*labels).inc(usage.cached)
        self._tokens.labels(*labels, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(*labels, "completion").inc(usage.completion_tokens)
        self._cost.labels(*labels, self._currency).inc(usage.cost)
        self._waiting.labels(*labels).inc(request.waited)
        if usage.calls:
            self._seconds.labels(*labels).observe(usage.seconds)


class JudgeProbe:
    """Reports the fault of the judge, or None, to the worker's HTTP server."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._breaker: BreakerState = "closed"
        self._local: LocalGrader | LlamaModel | None = None

    def breaker(self, state: BreakerState) -> None:
        self._breaker = state

    def watch(self, judge: Judge) -> None:
        """If it is a judge in this process, load its model now; to be called on the running event loop."""
        metered = judge.model if isinstance(judge, PromptedJudge) else judge
        inner = metered.inner if isinstance(metered, MeteredJudge | MeteredModel) else None
        if isinstance(inner, LocalGrader | LlamaModel):
            self._local = inner
            self._local.load()

    async def __call__(self) -> str | None:
        if self._local is not None and (fault := self._local.fault) is not None:
            return fault
        if self._breaker != "closed":
            return "the judge's endpoint is down: it does not answer a health probe"
        if self._settings.backend not in {"openai", "cascade"}:
            return None
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), httpx.AsyncClient(timeout=_ANSWER_SECONDS) as client:
                # Any answer will do: a refusal without the key shows that the endpoint can be reached.
                await client.get(f"{self._settings.base_url}/models")
        except (httpx.HTTPError, TimeoutError) as error:
            return f"no answer from judge.base_url ({type(error).__name__})"
        return None
