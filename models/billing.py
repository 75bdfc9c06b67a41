"""The cost of asking: booked once, by the meter around every model, onto the bill of whatever is under way."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count

from models.worktime import WorkClock
from schemas import Usage

_NUMBERS = count(1)


@dataclass(slots=True)
class Bill:
    """The running cost of one check, improvement or datapoint."""

    number: int = field(default_factory=_NUMBERS.__next__)
    """In the order in which bills are opened."""
    recorded: list[str] = field(default_factory=list)
    """Digests of the questions that a recording has."""
    _booked: list[Usage] = field(default_factory=list)
    clock: WorkClock = field(default_factory=WorkClock)

    @property
    def usage(self) -> Usage:
        """The sum up to now; `seconds` is the time since the bill was opened, but for what was only waited."""
        return Usage.total(self._booked, seconds=round(self.clock.seconds, 6))

    def book(self, usage: Usage) -> None:
        self._booked.append(usage)


_OPEN: ContextVar[tuple[Bill, ...]] = ContextVar("open_bills", default=())


@contextmanager
def billed() -> Iterator[Bill]:
    """A bill for every question asked within the context, also by the tasks and threads that it starts.

    Bills nest: what a check within an improvement costs is on the check's bill and on the improvement's.
    """
    bill = Bill()
    token = _OPEN.set((*_OPEN.get(), bill))
    try:
        with bill.clock:
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
        bill.book(usage)
