"""The judge's part of a worker's readiness."""

import asyncio
import time

from models.flow import BreakerState
from models.judges.prompted import PromptedJudge
from models.llama import LlamaModel
from models.local_grader import LocalGrader
from models.meter import MeteredJudge, MeteredModel
from models.protocol import Judge
from models.settings import JudgeSettings

_ASK_AGAIN_SECONDS = 10.0
"""Orchestrators probe every worker every few seconds; the endpoint is probed less often."""

_ANSWER_SECONDS = 1.5
"""Below the two seconds that `/readyz` gives each part, so that the fault is known and kept."""


class JudgeProbe:
    """Reports the fault of the judge, or None, to the worker's HTTP server."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._breaker: BreakerState = "closed"
        self._local: LocalGrader | LlamaModel | None = None
        self._asked_at = float("-inf")
        self._fault: str | None = None

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
        if self._settings.backend in {"openai", "cascade"}:
            return await self._endpoint()
        return None

    async def _endpoint(self) -> str | None:
        if time.monotonic() - self._asked_at >= _ASK_AGAIN_SECONDS:
            self._asked_at = time.monotonic()
            self._fault = await self._connection_fault()
        return self._fault

    async def _connection_fault(self) -> str | None:
        import httpx

        try:
            async with asyncio.timeout(_ANSWER_SECONDS), httpx.AsyncClient(timeout=_ANSWER_SECONDS) as client:
                # Any answer will do: a refusal without the key shows that the endpoint can be reached.
                await client.get(f"{self._settings.base_url}/models")
        except (httpx.HTTPError, TimeoutError) as error:
            return f"no answer from judge.base_url ({type(error).__name__})"
        return None
