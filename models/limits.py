"""Limits: requests at the same time, requests a second, pauses that the endpoint asks for, and time."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from models.protocol import OracleUnavailable
from models.worktime import Phase


class TimeLimit:
    """The time of one question: however long others make it wait for a place, it has all of its time."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._runs_since: float | None = None

    def run(self) -> None:
        """The question has its place."""
        self._runs_since = _now()

    def stop(self) -> None:
        """The question waits for a place."""
        self._left, self._runs_since = self.left, None

    @property
    def left(self) -> float:
        """Seconds; none left is 0."""
        ran = 0.0 if self._runs_since is None else _now() - self._runs_since
        return max(self._left - ran, 0.0)


class Limits:
    """One for each endpoint; belongs to one event loop."""

    def __init__(self, *, concurrency: int, requests_per_second: float | None) -> None:
        self.concurrency = concurrency
        self._places = asyncio.Semaphore(concurrency)
        # One at a time, evenly spaced: a bucket that holds more would let bursts of that size through.
        self._rate = AsyncLimiter(1, 1 / requests_per_second) if requests_per_second else None
        self._held_until = 0.0

    def hold(self, seconds: float) -> None:
        """Begin no request for `seconds`; those under way go on."""
        self._held_until = max(self._held_until, _now() + seconds)

    @property
    def held_for(self) -> float:
        """Seconds until requests may begin."""
        return max(self._held_until - _now(), 0.0)

    @asynccontextmanager
    async def place(self, limit: TimeLimit) -> AsyncIterator[None]:
        """A place for one exchange; `limit` runs from when the question has it.

        Raises:
            OracleUnavailable: the endpoint asked for a longer pause than the limit has left.
        """
        limit.stop()
        with Phase("waits"):
            await self._take(limit.left)
        limit.run()
        try:
            with Phase("asked"):
                yield
        finally:
            self._places.release()

    async def _take(self, longest_pause: float) -> None:
        while True:
            await self._wait_out_hold(longest_pause)
            if self._rate is not None:
                await self._rate.acquire()
            await self._places.acquire()
            if not self.held_for:
                return
            self._places.release()

    async def _wait_out_hold(self, longest: float) -> None:
        while held := self.held_for:
            if held >= longest:
                raise OracleUnavailable("the endpoint asked for a pause (rate limit)", retry_after=held)
            # Spread out, so that those who waited do not all begin at the same moment.
            await asyncio.sleep(held * (1 + random.random() * 0.1))  # noqa: S311


def _now() -> float:
    return asyncio.get_running_loop().time()
