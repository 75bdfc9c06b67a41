"""A piece of work: what its questions cost, and the time that it took, without waits.

A verdict must not depend on how busy the machine is. Code that makes a question wait, or works on it, says so by a
`Phase`, which counts for all work that the question belongs to. Costs are booked once, by the meter around every model.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from itertools import count
from typing import Any, Generic, Literal, Self, TypeVar, cast

from schemas import Usage

PhaseName = Literal["waits", "slow_lane", "computed", "asked"]
"""A question `waits` for a slot or for a model that is being loaded; it waits in the `slow_lane`, perhaps long, while
others are answered; it is `computed` in this process, or asked by another; or a model elsewhere is `asked`."""
_NUMBERS = count(1)


class Work:
    """One check, improvement or datapoint: a context that counts every question asked within it, also by its tasks.

    Work nests: what a check within an improvement costs is on the check's bill and on the improvement's.
    """

    def __init__(self, changed: Callable[["Work"], None] = lambda work: None) -> None:
        """`changed` is called whenever the phases have changed, within the context."""
        self.number, self.phases, self.booked = next(_NUMBERS), Counter[PhaseName](), list[Usage]()
        self.recorded = list[str]()  # digests of the questions that a recording has
        self._changed, self._begun, self._stopped = changed, time.perf_counter(), 0.0

    @property
    def usage(self) -> Usage:
        """The cost up to now; `seconds` is the time since the work began, but for what was only waited."""
        return Usage.total(self.booked, seconds=round((self._stopped or time.perf_counter()) - self._begun, 6))

    @property
    def only_waits(self) -> bool:
        """True if nothing is done for it: its questions wait, all of them."""
        return 0 < self.phases["waits"] + self.phases["slow_lane"] == self.phases.total()

    def move(self, before: PhaseName | None, after: PhaseName | None) -> None:
        """Count a question that goes from one phase to another; the clock stops while nothing is done."""
        self.phases.update({after: 1} if after else {})
        self.phases.subtract({before: 1} if before else {})
        if self.only_waits:
            self._stopped = self._stopped or time.perf_counter()
        elif self._stopped:
            self._begun, self._stopped = self._begun + time.perf_counter() - self._stopped, 0.0
        self._changed(self)

    def __enter__(self) -> Self:
        self._token = _WORK.set((*_WORK.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        # A question that others wait for, too, may outlive this work.
        self._changed = lambda work: None
        _WORK.reset(self._token)


_WORK: ContextVar[tuple[Work, ...]] = ContextVar("work", default=())


def work_number() -> int:
    """The number of the piece of work under way, lower for one that began earlier; 0 outside of any."""
    return next((work.number for work in _WORK.get()), 0)


def note(digest: str) -> None:
    """Put the digest of a recorded question onto every open bill."""
    for work in _WORK.get():
        work.recorded.append(digest)


def book(usage: Usage) -> None:
    """Add the cost of one question to every open bill."""
    for work in _WORK.get():
        work.booked.append(usage)


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
            work.move(before, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.to(None)


@contextmanager
def observed_waits(
    on_waits: Callable[[bool], None] = lambda waits: None, give_up: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Calls `on_waits` with True when the work within only waits, and with False when that has ended.

    `give_up` is called, once or more, when a question of it is in the slow lane: others may then have its slot.
    """
    waited = False

    def changed(work: Work, *, ended: bool = False) -> None:
        nonlocal waited
        if work.phases["slow_lane"] and not ended:
            give_up()
        if waited != (work.only_waits and not ended):
            waited = not waited
            on_waits(waited)

    with Work(changed) as work:
        try:
            yield
        finally:
            changed(work, ended=True)


@asynccontextmanager
async def work_limit(seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """As `asyncio.timeout`, but the time does not run while its questions wait or are computed in this process."""
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
        with Work(changed):
            yield timeout


ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
OtherT = TypeVar("OtherT")


async def gather_or_cancel(awaitables: Iterable[Awaitable[ResultT]]) -> list[ResultT]:
    """All results in order; the first failure is raised itself, once the rest is cancelled, and its cost is booked."""
    tasks = [asyncio.ensure_future(one) for one in awaitables]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def both(first: Awaitable[ResultT], second: Awaitable[OtherT]) -> tuple[ResultT, OtherT]:
    """The results of two things at once; as `gather_or_cancel` does otherwise."""
    one, other = await gather_or_cancel(cast("list[Awaitable[Any]]", [first, second]))
    return one, other


async def in_order(
    items: AsyncIterable[ItemT],
    work: Callable[[ItemT], Coroutine[Any, Any, ResultT]],
    emit: Callable[[ResultT], None],
    *,
    window: int,
    ahead: int | None = None,
) -> None:
    """Call `emit` with the result of `work` for each item, in order, as soon as it and all before it are done.

    At most `window` items are worked on at once, not counting those in the slow lane; at most `ahead` (default: as
    many) wait for one before them. An exception of `items`, `work` or `emit` ends it all.
    """
    slots = asyncio.Semaphore(window)
    under_way: asyncio.Queue[asyncio.Task[ResultT] | None] = asyncio.Queue(ahead or window)

    async def worked(item: ItemT) -> ResultT:
        with ExitStack() as slot, observed_waits(give_up=slot.close):
            slot.callback(slots.release)
            return await work(item)

    async def feed(tasks: asyncio.TaskGroup) -> None:
        async for item in items:
            await slots.acquire()
            await under_way.put(tasks.create_task(worked(item)))
        await under_way.put(None)

    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(feed(tasks))
            while (task := await under_way.get()) is not None:
                emit(await task)
    except BaseExceptionGroup as group:
        # The other tasks were cancelled by the first failure.
        raise group.exceptions[0] from None


class Flight(Generic[ResultT]):
    """Work whose result several may wait for; it is cancelled when the last of them is."""

    def __init__(self, work: asyncio.Task[ResultT]) -> None:
        self.work, self.waiters, self.is_taken = work, 0, False  # taken: to be set by the first who has the result

    async def result(self) -> ResultT:
        """The result; raises the work's exception to all who wait."""
        self.waiters += 1
        try:
            with nullcontext() if self.waiters == 1 else Phase("computed"):
                return await asyncio.shield(self.work)
        finally:
            self.waiters -= 1
            if not self.waiters and not self.work.done():
                self.work.cancel()
                # It books its cost before the caller that leaves adds it up.
                await asyncio.wait({self.work})


def joined(
    under_way: dict[str, Flight[ResultT]], key: str, work: Callable[[], Coroutine[Any, Any, ResultT]]
) -> Flight[ResultT]:
    """The work `under_way`, or else begun now; to be waited for at once: nobody may join what the last one left."""
    flight = under_way.get(key)
    if flight is None or not flight.waiters:
        flight = under_way[key] = Flight(asyncio.create_task(work()))
        flight.work.add_done_callback(lambda _: under_way.get(key) is flight and under_way.pop(key))
    return flight
