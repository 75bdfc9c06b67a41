"""Slots: how many records are under way at the same time follows what their models can take."""

import asyncio
from contextlib import suppress

_QUEUE = 16
"""Records that may queue for a model: enough that it is never idle, few enough that the last one does not wait long."""

_LOOK_SECONDS = 0.01
"""After this long without a queue more records are begun at once: a record that is going to queue does so by then."""

_WITHOUT_SLOT = 16
"""Times the number of slots that may be under way, those included that gave theirs up: memory stays bounded."""


class Slots:
    """Begins with few slots, has more while no record queues for a model, and fewer while many do."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._least = min(_QUEUE, most)
        self._limit = self._least
        self._taken = 0
        self._queued = 0
        self._news = asyncio.Event()
        self._waited_for = False
        """True while somebody waits for news."""
        self._grows_at: float | None = None
        """When there are to be more slots, by the loop's clock, if none queues by then; None until all are taken."""
        self.under_way = 0
        """Records begun and not ended, those without a slot included."""

    def locked(self) -> bool:
        """True if all are taken that there may be."""
        return self._taken >= self._most

    @property
    def may_be_given_up(self) -> bool:
        """True while not too many records are under way."""
        return self.under_way < _WITHOUT_SLOT * self._most

    async def acquire(self) -> None:
        """Wait until a slot is free, and take it."""
        while self._taken >= self._limit:
            if self._queued or self._limit == self._most:
                self._grows_at = None
            elif self._grows_at is None:
                self._grows_at = _now() + _LOOK_SECONDS
            elif _now() >= self._grows_at:
                self._limit, self._grows_at = min(2 * self._limit, self._most), None
                continue
            with suppress(TimeoutError):
                self._waited_for = True
                async with asyncio.timeout_at(self._grows_at):
                    await self._news.wait()
        self._taken += 1

    def release(self) -> None:
        """Give a slot back."""
        self._taken -= 1
        self._tell()

    def queue(self, count: int) -> None:
        """Count records with a slot that begin to queue for a model, or, if negative, no longer do."""
        self._queued += count
        if self._queued > _QUEUE:
            self._limit = max(min(self._limit, self._taken - self._queued + _QUEUE), self._least)
        self._grows_at = None
        self._tell()

    def _tell(self) -> None:
        if self._waited_for:
            self._waited_for = False
            self._news.set()
            self._news = asyncio.Event()


def _now() -> float:
    return asyncio.get_running_loop().time()


class Slot:
    """A record's slot, which it may give up and take again."""

    def __init__(self, slots: Slots) -> None:
        """`slots`: one of them is taken already."""
        self._slots = slots
        self._held = True
        self._queued = False
        self.worked_on = False
        """True once a model worked on the record, which queued for it."""
        slots.under_way += 1

    async def take_again(self) -> None:
        """Wait for a slot, if this one was given up."""
        if not self._held:
            await self._slots.acquire()
            self._held = True

    def give_up(self) -> None:
        """Let others begin in place of the record, which only waits for its turn; if not too many are under way."""
        if self._held and self._slots.may_be_given_up:
            self._give_back()

    def queue(self, waits: bool) -> None:
        """The record begins to queue for a model, or no longer does."""
        self.worked_on |= not waits
        if self._held and waits != self._queued:
            self._queued = waits
            self._slots.queue(1 if waits else -1)

    def end(self) -> None:
        """The record is finished."""
        self._slots.under_way -= 1
        if self._held:
            self._give_back()

    def _give_back(self) -> None:
        if self._queued:
            self._queued = False
            self._slots.queue(-1)
        self._held = False
        self._slots.release()
