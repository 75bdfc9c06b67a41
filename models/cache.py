"""Cache and single flight: identical requests are made once, also while the first of them is under way."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from cachetools import TTLCache

from models.digests import request_digest
from models.meter import Request
from models.protocol import Answer, OracleFailed, OracleUnavailable, WindowExceeded
from models.settings import CacheSettings
from models.single_flight import SingleFlight
from schemas import Usage

ResultT = TypeVar("ResultT")


class AnswerCache:
    """The layer around a model; belongs to one event loop.

    A failure is raised to all who wait for it and then forgotten. Asking again for each of them would multiply the load
    on an endpoint that has just failed.
    """

    def __init__(self, settings: CacheSettings) -> None:
        self._answers: TTLCache[str, Answer[Any]] = TTLCache(
            maxsize=settings.entries, ttl=settings.ttl_seconds, timer=time.monotonic
        )
        self._keeps = settings.entries > 0
        self._flights: SingleFlight[_Outcome] = SingleFlight()

    async def __call__(self, request: Request, call: Callable[[], Awaitable[Answer[ResultT]]]) -> Answer[ResultT]:
        """The answer, with `usage.cached` 1 if it cost nothing. The reply is shared and must not be changed."""
        key = request_digest(request)
        known = self._answers.get(key)
        if known is not None:
            return _shared(known, Usage(cached=1))
        begun = time.monotonic()
        outcome = await self._flights.join(key, partial(self._outcome, key, call))
        # Mostly whoever asked first; that one may have left meanwhile.
        is_another, outcome.is_charged = outcome.is_charged, True
        result = outcome.result
        if isinstance(result, Answer):
            return _shared(result, _joined(begun)) if is_another else result
        raise _of_another(result, _joined(begun)) if is_another else result

    async def _outcome(self, key: str, call: Callable[[], Awaitable[Answer[Any]]]) -> "_Outcome":
        try:
            answer = await call()
        except (OracleUnavailable, OracleFailed) as error:
            return _Outcome(error)
        if self._keeps:
            self._answers[key] = answer
        return _Outcome(answer)


@dataclass(slots=True)
class _Outcome:
    result: Answer[Any] | OracleUnavailable | OracleFailed
    is_charged: bool = False
    """True once somebody was told what it cost."""


def _shared(answer: Answer[Any], usage: Usage) -> Answer[Any]:
    return Answer(answer.reply, usage, answer.probabilities, answer.complete)


def _joined(begun: float) -> Usage:
    return Usage(cached=1, seconds=time.monotonic() - begun)


def _of_another(error: OracleUnavailable | OracleFailed, usage: Usage) -> OracleUnavailable | OracleFailed:
    """The same error, without its cost, for one who joined."""
    if isinstance(error, OracleUnavailable):
        return error.told_as(type(error), usage)
    if isinstance(error, WindowExceeded):
        return WindowExceeded(error.detail, characters=error.characters, usage=usage)
    return OracleFailed(error.detail, cause=error.cause, usage=usage)
