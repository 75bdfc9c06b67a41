"""Cache and single flight: identical questions are asked once, also while the first of them is under way."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any, cast

from cachetools import TTLCache

from checkers.oracle.digests import question_digest
from checkers.oracle.protocol import Answer, Oracle, OracleFailed, OracleUnavailable, Question, ReplyT
from checkers.oracle.settings import CacheSettings
from schemas import Usage


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Answer[Any]]
    waiters: int = 0


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
        self._flights: dict[str, _Flight] = {}

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
        flight = self._flights.get(key)
        first = flight is None
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(self._fly(key, question)))
        begun = time.monotonic()
        flight.waiters += 1
        try:
            answer = await asyncio.shield(flight.task)
        except (OracleUnavailable, OracleFailed) as error:
            if first:
                raise
            raise _of_another(error, _joined(begun)) from error
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                # Everyone has left; who asks the same from now on must not join a call that is being given up.
                self._flights.pop(key, None)
                flight.task.cancel()
        if first:
            return answer
        return cast("Answer[ReplyT]", Answer(answer.reply, _joined(begun), answer.grades))

    async def close(self) -> None:
        """Close the cached oracle."""
        await self._inner.close()

    async def _fly(self, key: str, question: Question[Any]) -> Answer[Any]:
        mine = asyncio.current_task()
        try:
            answer = await self._inner.ask(question)
            if self._keeps:
                self._answers[key] = answer
            return answer
        finally:
            flight = self._flights.get(key)
            if flight is not None and flight.task is mine:
                del self._flights[key]


def _joined(begun: float) -> Usage:
    return Usage(cached=1, seconds=time.monotonic() - begun)


def _of_another(error: OracleUnavailable | OracleFailed, usage: Usage) -> OracleUnavailable | OracleFailed:
    """The same error for one who joined: it cost nothing more."""
    if isinstance(error, OracleUnavailable):
        return OracleUnavailable(error.detail, retry_after=error.retry_after, usage=usage)
    return OracleFailed(error.detail, cause=error.cause, usage=usage)
