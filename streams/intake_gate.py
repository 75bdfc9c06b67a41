"""Holding records back while what they need cannot be reached."""

import asyncio
from collections.abc import Callable, Sequence

from streams.messages import Outgoing

_SHORTEST_WAIT_SECONDS = 0.05
"""A handler that asks to be retried at once must not spin the event loop."""

_LONGEST_WAIT_SECONDS = 60.0
"""However long the outage, work resumes within a minute of its end."""

_TRIAL_SECONDS = 5.0
"""A model that is down refuses a trial sooner: a breaker at once, a connection mostly. A longer trial is a long check,
and no reason to hold the others back."""

_SUSPECTS_IN_A_ROW = 3
"""Records that may be to blame themselves close the gate when so many were held with no answer between."""


class Hold(Exception):
    """Raised by a handler: keep the record, and try again after `retry_after` seconds."""

    def __init__(
        self,
        retry_after: float,
        *,
        otherwise: Callable[[], Sequence[Outgoing]] | None = None,
        give_up_seconds: float | None = None,
        others_pass: bool = False,
    ) -> None:
        """`otherwise` makes the answer if the record is held for `give_up_seconds` while others are answered.

        Without it, the record is not to blame and is held for as long as it takes. It needs something that others do
        not need if `others_pass`.
        """
        super().__init__(f"hold for {retry_after:g} s")
        self.retry_after = retry_after
        self.otherwise = otherwise
        self.give_up_seconds = give_up_seconds
        self.others_pass = others_pass


class IntakeGate:
    """While it is open, new records pass. While it is closed, one is tried at a time.

    Held records are tried one at a time in any case: after the stated time the one that has waited longest passes as
    the trial. A new record is tried last: held ones may be to blame. The caller then calls
    `passed_trial`, which lets everything pass, or `hold` again. A trial that takes long lets everything pass as well.
    """

    def __init__(self, on_change: Callable[[bool], None], trial_seconds: float | None = None) -> None:
        """`on_change(closed)` is called whenever the gate closes or opens; a trial is long after `trial_seconds`."""
        self._on_change = on_change
        self._trial_seconds = _TRIAL_SECONDS if trial_seconds is None else trial_seconds
        self._closed = False
        self._held: dict[asyncio.Future[int], bool] = {}
        """Records that wait for their turn, and whether they were tried in vain."""
        self._new: asyncio.Future[int] | None = None
        """The one that waits to begin."""
        self._timer: asyncio.TimerHandle | None = None
        """To the next trial, or to when the one under way has taken long."""
        self._trials = 0
        self._trial = 0
        """The number of the trial under way; 0 if none is."""
        self._suspects = 0
        """Held in a row."""
        self.answered = 0
        """Records answered, but for what was passed over."""

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def held(self) -> int:
        """Number of records that wait to be tried again."""
        return len(self._held)

    async def passed(self) -> int:
        """Wait until a new record may start; returns the trial's number if it is one, else 0. One waits at a time."""
        if not self._closed:
            return 0
        self._new = asyncio.get_running_loop().create_future()
        try:
            return await self._turn(self._new)
        finally:
            self._new = None

    async def hold(self, retry_after: float, *, trial: int, others_pass: bool = False, suspect: bool = False) -> int:
        """Wait until this record may be tried again; returns the trial's number if it is one, else 0.

        `trial` is what this or `passed` returned the last time. The gate stays open if `others_pass`, and for a
        `suspect` alone.
        """
        loop = asyncio.get_running_loop()
        self._suspects += suspect
        if not self._closed and not others_pass and (not suspect or self._suspects >= _SUSPECTS_IN_A_ROW):
            self._closed = True
            self._on_change(True)
        if self._is_under_way(trial):
            self._trial = 0
            self._stop_timer()
        turn: asyncio.Future[int] = loop.create_future()
        self._held[turn] = trial != 0
        if self._timer is None:
            wait = min(max(retry_after, _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS)
            self._timer = loop.call_later(wait, self._begin_trial)
        try:
            return await self._turn(turn)
        finally:
            self._held.pop(turn, None)

    def answer(self) -> None:
        """Note that a record was answered."""
        self.answered += 1
        self._suspects = 0

    def passed_trial(self, trial: int) -> None:
        """A record that was the trial of this number is not held again."""
        if self._is_under_way(trial):
            self.open()

    def open(self) -> None:
        """Let everything pass again."""
        self._stop_timer()
        self._trial = self._suspects = 0
        if self._closed:
            self._closed = False
            self._on_change(False)
        for turn in (*self._held, self._new):
            if turn is not None and not turn.done():
                turn.set_result(0)
        self._held.clear()

    async def _turn(self, turn: asyncio.Future[int]) -> int:
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and self._is_under_way(turn.result()):
                # The trial ended without an answer: try another, or open if none is held.
                self._stop_timer()
                self._begin_trial()
            raise

    def _is_under_way(self, trial: int) -> bool:
        return trial != 0 and trial == self._trial

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin_trial(self) -> None:
        self._timer = None
        self._trial = 0
        waiting = [turn for turn in self._held if not turn.done()]
        if not waiting:
            self.open()
            return
        turn = next((turn for turn in waiting if not self._held[turn]), None)
        if turn is None and self._new is not None and not self._new.done():
            turn = self._new
            self._held = dict.fromkeys(waiting, False)
        turn = turn or waiting[0]
        self._held.pop(turn, None)
        self._trials += 1
        self._trial = self._trials
        self._timer = asyncio.get_running_loop().call_later(self._trial_seconds, self.open)
        turn.set_result(self._trial)
