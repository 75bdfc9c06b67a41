"""The time of a piece of work, told apart from its waits: a verdict must not depend on how busy the machine is.

Whoever makes a question wait, or works on it, says so by a `Phase`; it concerns all work that the question belongs to.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, ParamSpec, Self, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

PhaseName = Literal["waits", "computed", "joined", "asked"]
"""A question `waits` for a place or for a model that is being loaded; it is `computed` in this process, as fast as the
machine allows; it has `joined` one of somebody else that is the same; or a model elsewhere is `asked`."""


class _Work:
    """Counts the questions of one piece of work by their phases."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._counts: Counter[PhaseName] = Counter()
        self._changed = changed

    @property
    def only_waits(self) -> bool:
        """True if nothing is done for it: its questions wait, all of them."""
        return self._counts["waits"] > 0 and self._counts["waits"] == self._counts.total()

    @property
    def stands(self) -> bool:
        """True while its time does not run."""
        return self._counts.total() > 0 and not self._counts["asked"]

    def add(self, phase: PhaseName, count: int) -> None:
        self._counts[phase] += count

    def changed(self) -> None:
        self._changed()


_WORK: ContextVar[tuple[_Work, ...]] = ContextVar("work", default=())


class Phase:
    """The phase that a question is in, from here to the end of the context or to `end`."""

    def __init__(self, name: PhaseName) -> None:
        self._work = _WORK.get()
        self._name: PhaseName | None = None
        self.to(name)

    def to(self, name: PhaseName | None) -> None:
        """Go on to another phase; also from a task of somebody else."""
        before, self._name = self._name, name
        for work in self._work:
            if before is not None:
                work.add(before, -1)
            if name is not None:
                work.add(name, 1)
            work.changed()

    def end(self) -> None:
        if self._name is not None:
            self.to(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()


@contextmanager
def _observed(changed: Callable[[_Work], None]) -> Iterator[None]:
    ended = False

    def tell() -> None:
        # A question that others wait for too may go on when this work has ended.
        if not ended:
            changed(work)

    work = _Work(tell)
    token = _WORK.set((*_WORK.get(), work))
    try:
        yield
    finally:
        ended = True
        _WORK.reset(token)


@contextmanager
def waits_told(tell: Callable[[bool], None]) -> Iterator[None]:
    """Call `tell` with True when nothing but waiting is left of the work within, and with False when that has ended."""
    waited = False

    def changed(work: _Work) -> None:
        nonlocal waited
        if work.only_waits != waited:
            waited = not waited
            tell(waited)

    try:
        with _observed(changed):
            yield
    finally:
        if waited:
            tell(False)


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """As `asyncio.timeout`, for work alone: the time stands while its questions wait, or are computed in this process.

    Raises:
        TimeoutError: the time is over; the timeout's `expired` tells it from others.
    """
    left: float | None = None

    def changed(work: _Work) -> None:
        nonlocal left
        now = asyncio.get_running_loop().time()
        if timeout.expired():
            return
        if work.stands and left is None:
            left = (timeout.when() or now) - now
            timeout.reschedule(None)
        elif not work.stands and left is not None:
            timeout.reschedule(now + left)
            left = None

    async with asyncio.timeout(seconds) as timeout:
        with _observed(changed):
            yield timeout


async def compute(call: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """The result of `call`, worked out on a thread."""
    with Phase("computed"):
        return await asyncio.to_thread(call, *args, **kwargs)
