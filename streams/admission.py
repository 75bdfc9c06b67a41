"""Admission: what holds a message back, and what lets it go; and the window of those begun and not acknowledged.

1. **A slot.** A message begins when a slot is free. There are few slots at first, more while no message queues for a
   model, fewer while many do. A message that waits behind unusually long ones gives its slot up.
2. **The gate.** A message whose handler raises `Hold` is held, and the gate closes: no new message begins. It stays
   open if others do not need what is away. For a message that may be to blame itself it closes at the third in a row.
3. **A trial.** After the stated time one held message is tried; the others go on waiting. If all of them were tried in
   vain, a new message is tried.
4. **The end of a hold.** A trial that is answered, or takes long, opens the gate and lets all go.
5. **The end of patience.** A message that may be to blame is given up after three trials in vain and the stated time,
   if others are answered meanwhile.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from faust.types import TP

_QUEUE = 16
"""Messages that may queue for a model: enough that it is never idle, few enough that the last does not wait long."""

_LOOK_SECONDS = 0.01
"""After this long without a queue more messages begin at once: a message that is going to queue does so by then."""

_WITHOUT_SLOT = 16
"""Times the number of slots that may be under way, including those without a slot: memory stays bounded."""

_SHORTEST_WAIT_SECONDS = 0.05
"""A handler that asks to be retried at once must not spin the event loop."""

_LONGEST_WAIT_SECONDS = 60.0
"""However long the outage, work resumes within a minute of its end."""

_TRIAL_SECONDS = 5.0
"""A model that is down refuses a trial sooner. A longer one is a long check, and no reason to hold the others back."""

_SUSPECTS_IN_A_ROW = 3

_STRIKES = 3
"""Trials in vain while others are answered: one or two may be chance, as where one of two instances is down."""


Assigned: TypeAlias = tuple[TP, int]
"""A partition, and the group's generation in which it was assigned."""


@dataclass(slots=True, eq=False)
class Place:
    """That of a record that is begun, among those of its partition."""

    partition: Assigned
    offset: int  # The record's; later, that of the last record which was passed over behind it.
    begun: float  # When, by Unix time.
    finished: bool = False


class AckWindow:
    """The low-water mark: records finish in any order, and are acknowledged in the order of their offsets.

    A partition that was reassigned and came back counts as another one: a record from before acknowledges nothing.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._places: dict[Assigned, deque[Place]] = {}
        self._changed = asyncio.Event()

    def first(self, partition: Assigned) -> Place | None:
        """The first record that is not acknowledged."""
        places = self._places.get(partition)
        return places[0] if places else None

    async def room(self, partition: Assigned) -> None:
        """Wait while all places are taken."""
        while len(self._places.get(partition, ())) >= self._size:
            self._changed.clear()
            await self._changed.wait()

    def enter(self, partition: Assigned, offset: int) -> Place:
        """Take the next place; in the order of the offsets."""
        place = Place(partition, offset, time.time())
        self._places.setdefault(partition, deque()).append(place)
        return place

    def finish(self, place: Place) -> int | None:
        """The last offset that may be acknowledged now that this record is finished; None if none may."""
        place.finished = True
        places, last = self._places.get(place.partition, deque()), None
        while places and places[0].finished:
            last = places.popleft().offset
        if not places:
            self._places.pop(place.partition, None)
        self._changed.set()
        return last

    def pass_over(self, partition: Assigned, offset: int) -> bool:
        """Let a record go with the one that it follows; True if it follows none, and may be acknowledged now."""
        places = self._places.get(partition)
        if places:
            places[-1].offset = offset
        return not places

    def clear(self) -> None:
        """Forget everything: nothing of it is acknowledged any more."""
        self._places.clear()
        self._changed.set()


class Slots:
    """Begins with few slots, has more while no message queues for a model, and fewer while many do."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.most_under_way = _WITHOUT_SLOT * most
        self._least = min(_QUEUE, most)
        self._limit = self._least
        self._taken = 0
        self._queued = 0
        self._changed = asyncio.Event()
        self._grows_at: float | None = None
        """When there are to be more slots, by the loop's clock, if none queues by then; None until all are taken."""
        self.under_way = 0
        """Messages begun and not ended, including those without a slot."""

    def locked(self) -> bool:
        """True if as many are taken as there may be."""
        return self._taken >= self._most

    async def acquire(self) -> None:
        """Wait until a slot is free, and take it."""
        loop = asyncio.get_running_loop()
        while self._taken >= self._limit:
            if self._queued or self._limit == self._most:
                self._grows_at = None
            elif self._grows_at is None:
                self._grows_at = loop.time() + _LOOK_SECONDS
            elif loop.time() >= self._grows_at:
                self._limit, self._grows_at = min(2 * self._limit, self._most), None
                continue
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._grows_at):
                    await self._changed.wait()
        self._taken += 1

    def release(self) -> None:
        """Give a slot back."""
        self._taken -= 1
        self._changed.set()

    def queue(self, count: int) -> None:
        """Count messages with a slot that begin to queue for a model, or, if negative, no longer do."""
        self._queued += count
        if self._queued > _QUEUE:
            self._limit = max(min(self._limit, self._taken - self._queued + _QUEUE), self._least)
        self._grows_at = None
        self._changed.set()


class Slot:
    """The slot of one message, which it may give up and take again, and the patience with it."""

    def __init__(self, slots: Slots) -> None:
        """`slots`: one of them is taken already."""
        self._slots = slots
        self._taken = True
        self._queued = False
        self._worked_on = False
        self.only_waits = False
        """True while nothing is lost by cancelling: it is held, or queues for a model with its first question."""
        self._answered: int | None = None
        self._strikes = 0
        self._struck_at = 0.0
        slots.under_way += 1

    async def take_again(self) -> None:
        """Wait for a slot, if this one was given up."""
        if not self._taken:
            await self._slots.acquire()
            self._taken = True

    def give_up(self) -> None:
        """Let others begin in place of the message, which only waits for its turn; if not too many are under way."""
        if self._taken and self._slots.under_way < self._slots.most_under_way:
            self._give_back()

    def queue(self, waits: bool) -> None:
        """The message begins to queue for a model, or no longer does."""
        self._worked_on |= not waits
        self.only_waits = waits and not self._worked_on
        if self._taken and waits != self._queued:
            self._queued = waits
            self._slots.queue(1 if waits else -1)

    def patience_ends(self, seconds: float, answered: int) -> bool:
        """True if the message is to be given up, after a failure and so many others that were `answered` in all."""
        before, self._answered = self._answered, answered
        if before is None or answered == before:
            return False
        self._strikes += 1
        if self._strikes == 1:
            self._struck_at = time.monotonic()
        return self._strikes >= _STRIKES and time.monotonic() - self._struck_at >= seconds

    def end(self) -> None:
        """The message is finished."""
        self._slots.under_way -= 1
        if self._taken:
            self._give_back()

    def _give_back(self) -> None:
        if self._queued:
            self._queued = False
            self._slots.queue(-1)
        self._taken = False
        self._slots.release()


Trial: TypeAlias = asyncio.Future[float]
"""That a message is tried; its result, if it was in vain, the seconds until the next one."""


class Gate:
    """While it is open, new messages pass. While it is closed, one is tried at a time.

    Held messages are tried one at a time in any case: after the stated time the one that has waited longest passes as
    the trial. A new message is tried last: held ones may be to blame. The caller then calls `passed_trial`, which lets
    everything pass, or `hold` again.
    """

    def __init__(self, on_change: Callable[[bool], None], trial_seconds: float | None = None) -> None:
        """`on_change(closed)` is called whenever the gate closes or opens; a trial is long after `trial_seconds`."""
        self._on_change = on_change
        self._trial_seconds = _TRIAL_SECONDS if trial_seconds is None else trial_seconds
        self.closed = False
        self._held: dict[asyncio.Future[Trial | None], bool] = {}
        """Messages that wait for their turn, and whether they were tried in vain."""
        self._new: asyncio.Future[Trial | None] | None = None  # The one that waits to begin.
        self._trying: asyncio.Task[None] | None = None
        self._trial: Trial | None = None  # The one under way.
        self._suspects = 0  # Held in a row.
        self.answered = 0

    @property
    def held(self) -> int:
        """Number of messages that wait to be tried again."""
        return len(self._held)

    async def passed(self) -> Trial | None:
        """Wait until a new message may start, as a trial or not. One waits at a time."""
        if not self.closed:
            return None
        self._new = asyncio.get_running_loop().create_future()
        try:
            return await self._turn(self._new)
        finally:
            self._new = None

    async def hold(
        self, retry_after: float, *, trial: Trial | None, suspect: bool = False, others_pass: bool = False
    ) -> Trial | None:
        """Wait until this message may be tried again, as a trial or, if all may, not.

        `trial` is what this or `passed` returned the last time. A `suspect` may be to blame itself; `others_pass` if it
        needs what others do not need.
        """
        self._suspects += suspect
        if not self.closed and not others_pass and (not suspect or self._suspects >= _SUSPECTS_IN_A_ROW):
            self.closed = True
            self._on_change(True)
        turn: asyncio.Future[Trial | None] = asyncio.get_running_loop().create_future()
        self._held[turn] = trial is not None
        if trial is not None and trial is self._trial:
            self._trial = None
            trial.set_result(retry_after)
        elif self._trying is None:
            self._trying = asyncio.create_task(self._try(retry_after))
        try:
            return await self._turn(turn)
        finally:
            self._held.pop(turn, None)

    def answer(self) -> None:
        """Note that a message was answered, not passed over."""
        self.answered += 1
        self._suspects = 0

    def passed_trial(self, trial: Trial | None) -> None:
        """A message that was this trial is not held again."""
        if trial is not None and trial is self._trial:
            self.open()

    def open(self) -> None:
        """Let everything pass again."""
        if self._trying is not None:
            self._trying.cancel()
        self._trying = self._trial = None
        self._suspects = 0
        if self.closed:
            self.closed = False
            self._on_change(False)
        for turn in (*self._held, self._new):
            if turn is not None and not turn.done():
                turn.set_result(None)
        self._held.clear()

    async def _turn(self, turn: asyncio.Future[Trial | None]) -> Trial | None:
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and (trial := turn.result()) is not None and trial is self._trial:
                # The trial ended without an answer: the next one.
                self._trial = None
                trial.set_result(0)
            raise

    async def _try(self, wait: float) -> None:
        """Try one message after the other, until one is not held again, or takes long."""
        while True:
            await asyncio.sleep(min(max(wait, _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS))
            waiting = [turn for turn in self._held if not turn.done()]
            if not waiting:
                break
            turn = next((turn for turn in waiting if not self._held[turn]), None)
            if turn is None and self._new is not None and not self._new.done():
                turn = self._new
                self._held = dict.fromkeys(waiting, False)
            turn = turn or waiting[0]
            self._held.pop(turn, None)
            self._trial = trial = asyncio.get_running_loop().create_future()
            turn.set_result(trial)
            await asyncio.wait([trial], timeout=self._trial_seconds)
            if not trial.done():
                break
            wait = trial.result()
        self.open()
