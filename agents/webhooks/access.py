"""Access to a target: many requests at once while it takes them, one at a time and ever more rarely while it does not.

Not the gate that records wait at while a judge is down: that one lets nothing new begin, so that a single message on
which a target fails would be the only one that is tried. Here each trial is the next message's, new ones included, and
the first that is taken opens the way for all.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streams.intake_gate import Hold

_DOWN_AFTER = 3
"""Messages in a row that the target failed on: one or two may be to blame themselves."""

_SHORTEST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0
"""However long a target was down, it is asked again this soon."""


def pause_after(seconds: float) -> float:
    """Pause before the next attempt of what has failed for `seconds`: 0.5 to 30 s."""
    longest = min(max(seconds / 2, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


class Access:
    """Access to one target for one topic; belongs to one event loop. First come, first served."""

    def __init__(self, places: int) -> None:
        """`places`: maximum of concurrent requests."""
        self._places = asyncio.Semaphore(places)
        self._trial = asyncio.Lock()
        self._news = asyncio.Event()
        self._leaving = False
        self._failures = 0
        self._failing_since = 0.0
        self._next_trial = 0.0
        self._asked_until = 0.0
        """The target asked to be left alone until then: to be kept also where an earlier request is taken meanwhile."""
        self.taken = 0
        """Messages that the target took."""
        self.waiting = 0
        """Messages that wait to be tried again."""

    @property
    def down(self) -> bool:
        """True if the target fails on every message."""
        return self._failures >= _DOWN_AFTER

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place for one message's requests.

        Raises:
            Hold: everybody leaves.
        """
        async with self._places:
            while self._limited():
                async with self._trial:
                    if self._limited():
                        await self._wait(max(self._next_trial, self._asked_until) - _now())
                        yield
                        return
            self._stay()
            yield

    def succeeded(self) -> None:
        """Note that the target took a message."""
        self.taken += 1
        was_down = self.down
        self._failures = 0
        if was_down:
            self._next_trial = 0.0
            self._tell()

    def failed(self, retry_after: float | None) -> None:
        """Note that the target failed on a message, and for how many seconds it asked not to be called."""
        now = _now()
        if self._failures == 0:
            self._failing_since = now
        self._failures += 1
        if self.down:
            self._next_trial = now + pause_after(now - self._failing_since)
        if retry_after is not None:
            self._asked_until = max(self._asked_until, now + retry_after)

    async def pause(self, seconds: float) -> None:
        """Wait so long with one message, or until the target takes messages again.

        Raises:
            Hold: everybody leaves.
        """
        self.waiting += 1
        try:
            await self._wait(seconds)
        finally:
            self.waiting -= 1

    def leave(self) -> None:
        """Make all who wait raise `Hold`: the partitions are reassigned or the worker stops."""
        self._leaving = True
        self._tell()

    def stay(self) -> None:
        """Let messages wait again."""
        self._leaving = False

    def _limited(self) -> bool:
        return self.down or _now() < self._asked_until

    async def _wait(self, seconds: float) -> None:
        self._stay()
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._news.wait()
        except TimeoutError:
            pass
        self._stay()

    def _stay(self) -> None:
        if self._leaving:
            raise Hold(0)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


def _now() -> float:
    return asyncio.get_running_loop().time()
