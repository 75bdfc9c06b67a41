"""Waiting for models that cannot be reached, in runs over a file: on the stream, records are held instead."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from models.protocol import ModelFailed, ModelUnavailable

ResultT = TypeVar("ResultT")

PATIENCE_SECONDS = 60.0
"""A model that restarts or is throttled is back within a minute; a run is not held up longer for one that is gone."""

_SHORTEST_PAUSE_SECONDS = 0.05
_MOST_SUSPICIONS = 3
"""Failures of one question, with answers to others between them, until it is given up."""


class ModelRefuses(Exception):
    """A model refuses what is configured: the run is of no use until that is corrected."""


class ModelLost(Exception):
    """A model was away for longer than the patience."""


def blamed(error: ModelUnavailable) -> str:
    """The words about a question that is not asked again, as it is to blame."""
    return f"the model failed on it again and again, and answered others meanwhile: {error.detail}"


class ModelPatience:
    """The patience of one run with all its models."""

    def __init__(self, say: Callable[[str], None], seconds: float = PATIENCE_SECONDS) -> None:
        """`say` is told what the person who waits should know."""
        self.seconds = seconds
        self.lost = False
        """True once a model was away for longer than that."""
        self._say = say
        self._answers = 0
        self._down_since: float | None = None

    async def until_answered(self, ask: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """The result of `ask`, or what it raises, once no model is away that it needs.

        Raises:
            ModelFailed: a model fails on this question again and again, and answers others meanwhile.
            ModelLost: one was away for longer than the patience.
            ModelRefuses: one need not be asked again.
        """
        failed_at: set[int] = set()
        while True:
            try:
                result = await ask()
            except ModelUnavailable as error:
                if error.suspect:
                    failed_at.add(self._answers)
                if len(failed_at) > _MOST_SUSPICIONS:
                    raise ModelFailed(blamed(error), cause="judge_failed") from None
                await self._wait(error)
                continue
            except Exception:
                # A model that fails on this question is there.
                self._answered()
                raise
            self._answered()
            return result

    async def _wait(self, error: ModelUnavailable) -> None:
        if error.misconfigured:
            raise ModelRefuses(f"a model refuses whatever it is asked: {error.detail}")
        now = asyncio.get_running_loop().time()
        if self._down_since is None:
            self._down_since = now
            self._say(f"a model cannot be reached ({error.detail}); trying for {self.seconds:g} s")
        if now - self._down_since >= self.seconds:
            self.lost = True
            raise ModelLost(f"a model could not be reached for {self.seconds:g} s: {error.detail}") from None
        await asyncio.sleep(min(max(error.retry_after, _SHORTEST_PAUSE_SECONDS), self.seconds))

    def _answered(self) -> None:
        self._answers += 1
        self._down_since = None
