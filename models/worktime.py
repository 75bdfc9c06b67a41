"""The time of a piece of work, without its waits: a verdict must not depend on how busy the machine is.

Code that makes a question wait, or works on it, says so by a `Phase`, which counts for all work that the question
belongs to.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Literal, ParamSpec, Self, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

PhaseName = Literal["waits", "slow_lane", "computed", "joined", "asked"]
"""A question `waits` for a slot or for a model that is being loaded; it waits in the `slow_lane`, perhaps long, while
others are answered; it is `computed` in this process; it has `joined` an identical one that is under way; or a model
elsewhere is `asked`."""


class _Work(ABC):
    """Counts the questions of one piece of work by their phases, to the end of the context."""

    def __init__(self) -> None:
        self._phases: Counter[PhaseName] = Counter()
        self._ended = False
        self._token: Token[tuple[_Work, ...]] | None = None

    def move(self, before: PhaseName | None, after: PhaseName | None) -> None:
        """Count a question in another phase; None: it begins or ends."""
        self._phases.update({after: 1} if after else {})
        self._phases.subtract({before: 1} if before else {})
        # A question that others wait for, too, may outlive this work.
        if not self._ended:
            self.changed()

    @abstractmethod
    def changed(self) -> None:
        """Act on the counts, which have changed."""

    @property
    def only_waits(self) -> bool:
        """True if nothing is done for it: its questions wait, all of them."""
        return 0 < self._phases["waits"] + self._phases["slow_lane"] == self._phases.total()

    def __enter__(self) -> Self:
        self._token = _WORK.set((*_WORK.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        if self._token is not None:
            _WORK.reset(self._token)


_WORK: ContextVar[tuple[_Work, ...]] = ContextVar("work", default=())


class Phase:
    """The phase that a question is in, from here to the end of the context or to `end`."""

    def __init__(self, name: PhaseName) -> None:
        self._work = _WORK.get()
        self._name: PhaseName | None = None
        self.to(name)

    def to(self, name: PhaseName | None) -> None:
        """Go on to another phase; also from another task."""
        before, self._name = self._name, name
        for work in self._work:
            work.move(before, name)

    def end(self) -> None:
        if self._name is not None:
            self.to(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class WaitObserver(_Work):
    """Calls `on_waits` with True when the work within only waits, and with False when that has ended.

    For work that has one of a few slots, `give_up` is called, once or more, when a question of it is in the slow lane.
    """

    def __init__(
        self, on_waits: Callable[[bool], None] = lambda waits: None, give_up: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__()
        self._on_waits, self._give_up = on_waits, give_up
        self._waits = False

    def changed(self) -> None:
        if self._phases["slow_lane"]:
            self._give_up()
        if self.only_waits != self._waits:
            self._waits = not self._waits
            self._on_waits(self._waits)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._waits:
            self._on_waits(False)


class WorkClock(_Work):
    """Measures the time of the work within, without the time in which it only waited."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = time.perf_counter()
        self._stopped: float | None = None

    @property
    def seconds(self) -> float:
        """Up to now."""
        return (time.perf_counter() if self._stopped is None else self._stopped) - self._begun

    def changed(self) -> None:
        if self.only_waits and self._stopped is None:
            self._stopped = time.perf_counter()
        elif not self.only_waits and self._stopped is not None:
            self._begun += time.perf_counter() - self._stopped
            self._stopped = None


class WorkLimit(_Work):
    """As `asyncio.timeout`, but the time does not run while its questions wait or are computed in this process.

    Raises TimeoutError when the time is over; the timeout's `expired` distinguishes it from others.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._timeout = asyncio.timeout(seconds)
        self._left: float | None = None

    def changed(self) -> None:
        if self._timeout.expired():
            return
        now = asyncio.get_running_loop().time()
        is_paused = self._phases.total() > 0 and not self._phases["asked"]
        if is_paused and self._left is None:
            self._left = (self._timeout.when() or now) - now
            self._timeout.reschedule(None)
        elif not is_paused and self._left is not None:
            self._timeout.reschedule(now + self._left)
            self._left = None

    async def __aenter__(self) -> asyncio.Timeout:
        await self._timeout.__aenter__()
        self.__enter__()
        return self._timeout

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__()
        await self._timeout.__aexit__(kind, error, traceback)


async def compute(call: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """The result of `call`, run on a thread."""
    with Phase("computed"):
        return await asyncio.to_thread(call, *args, **kwargs)
