"""The cost of asking: booked once, by the meter around every model, onto the bill of whatever is under way."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from models.worktime import Work
from schemas import Usage

_NUMBERS = count(1)


class Bill:
    """The running cost of one check, improvement or datapoint."""

    def __init__(self) -> None:
        self.number = next(_NUMBERS)
        """In the order in which bills are opened."""
        self.recorded: list[str] = []
        """Digests of the questions that a recording has."""
        self.booked: list[Usage] = []
        self._begun, self._stopped = time.perf_counter(), 0.0

    @property
    def usage(self) -> Usage:
        """The sum up to now; `seconds` is the time since the bill was opened, but for what was only waited."""
        seconds = (self._stopped or time.perf_counter()) - self._begun
        return Usage.total(self.booked, seconds=round(seconds, 6))

    def stop_clock(self, work: Work) -> None:
        """Stop the clock while nothing is done, and start it again."""
        if work.only_waits:
            self._stopped = self._stopped or time.perf_counter()
        elif self._stopped:
            self._begun, self._stopped = self._begun + time.perf_counter() - self._stopped, 0.0


_OPEN: ContextVar[tuple[Bill, ...]] = ContextVar("open_bills", default=())


@contextmanager
def billed() -> Iterator[Bill]:
    """A bill for every question asked within the context, also by the tasks and threads that it starts.

    Bills nest: what a check within an improvement costs is on the check's bill and on the improvement's.
    """
    bill = Bill()
    token = _OPEN.set((*_OPEN.get(), bill))
    try:
        with Work(bill.stop_clock).counted():
            yield bill
    finally:
        _OPEN.reset(token)


def work_number() -> int:
    """The number of the piece of work under way, lower for one that began earlier; 0 if nobody pays for it."""
    bills = _OPEN.get()
    return bills[0].number if bills else 0


def note(digest: str) -> None:
    """Put the digest of a recorded question onto every open bill."""
    for bill in _OPEN.get():
        bill.recorded.append(digest)


def book(usage: Usage) -> None:
    """Add the cost of one question to every open bill."""
    for bill in _OPEN.get():
        bill.booked.append(usage)
