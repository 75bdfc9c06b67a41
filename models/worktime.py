"""The time of a piece of work, without its waits: a verdict must not depend on how busy the machine is.

Code that makes a question wait, or works on it, says so by a `Phase`, which counts for all work that the question
belongs to.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Literal, Self

PhaseName = Literal["waits", "slow_lane", "computed", "asked"]
"""A question `waits` for a slot or for a model that is being loaded; it waits in the `slow_lane`, perhaps long, while
others are answered; it is `computed` in this process, or asked by another; or a model elsewhere is `asked`."""


class Work:
    """A piece of work: its questions by their phases."""

    def __init__(self, changed: Callable[["Work"], None]) -> None:
        """`changed` is called whenever the phases have changed, within the context `counted`."""
        self.phases: Counter[PhaseName] = Counter()
        self.changed: Callable[[Work], None] | None = changed

    @property
    def only_waits(self) -> bool:
        """True if nothing is done for it: its questions wait, all of them."""
        return 0 < self.phases["waits"] + self.phases["slow_lane"] == self.phases.total()

    @contextmanager
    def counted(self) -> Iterator[Self]:
        """Counts the questions of the context."""
        token = _WORK.set((*_WORK.get(), self))
        try:
            yield self
        finally:
            # A question that others wait for, too, may outlive this work.
            self.changed = None
            _WORK.reset(token)


_WORK: ContextVar[tuple[Work, ...]] = ContextVar("work", default=())


class Phase:
    """The phase that a question is in, from here to the end of the context."""

    def __init__(self, name: PhaseName) -> None:
        self._work = _WORK.get()
        self._name: PhaseName | None = None
        self.to(name)

    def to(self, name: PhaseName | None) -> None:
        """Go on to another phase, or end; also from another task."""
        before, self._name = self._name, name
        for work in self._work:
            work.phases.update({name: 1} if name else {})
            work.phases.subtract({before: 1} if before else {})
            if work.changed is not None:
                work.changed(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.to(None)


@contextmanager
def observed_waits(
    on_waits: Callable[[bool], None] = lambda waits: None, give_up: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Calls `on_waits` with True when the work within only waits, and with False when that has ended.

    For work that has one of a few slots, `give_up` is called, once or more, when a question of it is in the slow lane.
    """
    waited = False

    def tell(waits: bool) -> None:
        nonlocal waited
        if waits != waited:
            waited = waits
            on_waits(waits)

    def changed(work: Work) -> None:
        if work.phases["slow_lane"]:
            give_up()
        tell(work.only_waits)

    try:
        with Work(changed).counted():
            yield
    finally:
        tell(waits=False)


@asynccontextmanager
async def work_limit(seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """As `asyncio.timeout`, but the time does not run while its questions wait or are computed in this process.

    Raises TimeoutError when the time is over; the timeout's `expired` distinguishes it from others.
    """
    left: float | None = None

    def changed(work: Work) -> None:
        nonlocal left
        is_paused = work.phases.total() > 0 and not work.phases["asked"]
        if timeout.expired() or is_paused == (left is not None):
            return
        now = asyncio.get_running_loop().time()
        if left is None:
            left = (timeout.when() or now) - now
            timeout.reschedule(None)
        else:
            timeout.reschedule(now + left)
            left = None

    async with asyncio.timeout(seconds) as timeout:
        with Work(changed).counted():
            yield timeout
