"""Holding records back while the model that judges them cannot be reached."""

import asyncio
from collections import deque
from collections.abc import Callable

_SHORTEST_WAIT_SECONDS = 0.05
"""A handler that asks to be retried at once must not spin the event loop."""

_LONGEST_WAIT_SECONDS = 60.0
"""However long the outage, work resumes within a minute of its end."""


class Hold(Exception):
    """Raised by a handler: keep the record, which is not to blame, and try again after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"hold for {retry_after:g} s")
        self.retry_after = retry_after


class IntakeGate:
    """While it is open, everything passes. While it is closed, no new record starts and held ones are tried singly.

    The first `hold` closes it. After the stated time the record that has waited longest passes as the trial. The
    caller then calls `open` if the trial succeeded, else `hold` again.
    """

    def __init__(self, on_change: Callable[[bool], None]) -> None:
        """`on_change(closed)` is called whenever the gate closes or opens."""
        self._on_change = on_change
        self._opened = asyncio.Event()
        self._opened.set()
        self._held: deque[asyncio.Future[bool]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._trial_under_way = False

    @property
    def closed(self) -> bool:
        return not self._opened.is_set()

    @property
    def held(self) -> int:
        """Number of records that wait to be tried again."""
        return len(self._held)

    async def passed(self) -> None:
        """Return as soon as new records may start."""
        await self._opened.wait()

    async def hold(self, retry_after: float, *, was_trial: bool) -> bool:
        """Wait until this record may be tried again; returns true if it is the trial."""
        loop = asyncio.get_running_loop()
        if not self.closed:
            self._opened.clear()
            self._on_change(True)
        if was_trial:
            self._trial_under_way = False
        turn: asyncio.Future[bool] = loop.create_future()
        self._held.append(turn)
        if self._timer is None and not self._trial_under_way:
            wait = min(max(retry_after, _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS)
            self._timer = loop.call_later(wait, self._begin_trial)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.trial_gone()
            raise
        finally:
            if turn in self._held:
                self._held.remove(turn)

    def open(self) -> None:
        """Let everything pass again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._trial_under_way = False
        if self.closed:
            self._opened.set()
            self._on_change(False)
        while self._held:
            turn = self._held.popleft()
            if not turn.done():
                turn.set_result(False)

    def trial_gone(self) -> None:
        """The trial ended without an answer: try the next held record, or open if there is none."""
        self._trial_under_way = False
        self._begin_trial()

    def _begin_trial(self) -> None:
        self._timer = None
        while self._held:
            turn = self._held.popleft()
            if not turn.done():
                self._trial_under_way = True
                turn.set_result(True)
                return
        self.open()
