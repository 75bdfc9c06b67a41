"""Limits: requests at the same time, requests a second, pauses that the endpoint asks for, and time."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from checkers.oracle.protocol import OracleUnavailable


class TimeLimit:
    """The time of one question. It runs from the first place on, and bounds the wait for that place before."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._runs = False
        self.ends_at = _now() + seconds
        """By the event loop's clock."""

    def begin(self) -> None:
        """The question has its place: however long others made it wait, it now has all of its time."""
        if not self._runs:
            self._runs = True
            self.ends_at = _now() + self._seconds

    @property
    def left(self) -> float:
        """Seconds; none left is 0."""
        return max(self.ends_at - _now(), 0.0)


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
    async def place(self, ends_at: float) -> AsyncIterator[None]:
        """A place for one exchange.

        Raises:
            OracleUnavailable: none is free by `ends_at` (the loop's clock), or the endpoint asked for a longer pause.
        """
        await self._take(ends_at)
        try:
            yield
        finally:
            self._places.release()

    async def _take(self, ends_at: float) -> None:
        while True:
            await self._wait_out_hold(ends_at)
            try:
                async with asyncio.timeout(ends_at - _now()):
                    if self._rate is not None:
                        await self._rate.acquire()
                    await self._places.acquire()
            except TimeoutError:
                raise OracleUnavailable(
                    "no place came free in time under the configured limits", retry_after=1.0
                ) from None
            if not self.held_for:
                return
            self._places.release()

    async def _wait_out_hold(self, ends_at: float) -> None:
        while held := self.held_for:
            if _now() + held >= ends_at:
                raise OracleUnavailable("the endpoint asked for a pause (rate limit)", retry_after=held)
            # Spread out, so that those who waited do not all begin at the same moment.
            await asyncio.sleep(held * (1 + random.random() * 0.1))  # noqa: S311


def _now() -> float:
    return asyncio.get_running_loop().time()
