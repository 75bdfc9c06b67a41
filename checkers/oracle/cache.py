"""Cache and single flight: identical questions are asked once, also while the first of them is under way."""

import time
from functools import partial
from typing import Any, cast

from cachetools import TTLCache

from checkers.flights import Flights
from checkers.oracle.digests import question_digest
from checkers.oracle.protocol import Answer, Oracle, OracleFailed, OracleUnavailable, Question, ReplyT
from checkers.oracle.settings import CacheSettings
from schemas import Usage


class CachedOracle:
    """Around an oracle whose settings do not change; belongs to one event loop.

    A failure is told to everyone who waits for it and then forgotten: those who wait asked the same thing at the same
    moment, so asking again for each of them would multiply the load on an endpoint that has just failed.
    """

    def __init__(self, inner: Oracle, settings: CacheSettings) -> None:
        self._inner = inner
        self._answers: TTLCache[str, Answer[Any]] = TTLCache(
            maxsize=settings.entries, ttl=settings.ttl_seconds, timer=time.monotonic
        )
        self._keeps = settings.entries > 0
        self._flights: Flights[Answer[Any]] = Flights()

    @property
    def name(self) -> str:
        """The cached oracle's."""
        return self._inner.name

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer; one that cost nothing has `usage.cached` 1. Its reply is shared and must not be changed."""
        key = question_digest(question)
        known = self._answers.get(key)
        if known is not None:
            return cast("Answer[ReplyT]", Answer(known.reply, Usage(cached=1), known.grades))
        first = key not in self._flights
        begun = time.monotonic()
        try:
            answer = await self._flights.join(key, partial(self._asked, key, question))
        except (OracleUnavailable, OracleFailed) as error:
            if first:
                raise
            raise _of_another(error, _joined(begun)) from error
        if first:
            return answer
        return cast("Answer[ReplyT]", Answer(answer.reply, _joined(begun), answer.grades))

    async def close(self) -> None:
        """Close the cached oracle."""
        await self._inner.close()

    async def _asked(self, key: str, question: Question[Any]) -> Answer[Any]:
        answer = await self._inner.ask(question)
        if self._keeps:
            self._answers[key] = answer
        return answer


def _joined(begun: float) -> Usage:
    return Usage(cached=1, seconds=time.monotonic() - begun)


def _of_another(error: OracleUnavailable | OracleFailed, usage: Usage) -> OracleUnavailable | OracleFailed:
    """The same error for one who joined: it cost nothing more."""
    if isinstance(error, OracleUnavailable):
        return OracleUnavailable(error.detail, retry_after=error.retry_after, usage=usage)
    return OracleFailed(error.detail, cause=error.cause, usage=usage)
