"""Doing several things at once: within one check, over the items of a run, and once for all who need the same."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable
from contextlib import ExitStack, nullcontext
from typing import Any, Generic, TypeVar, cast

from models.work import Phase, observed_waits

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
OtherT = TypeVar("OtherT")


async def gather_or_cancel(awaitables: Iterable[Awaitable[ResultT]]) -> list[ResultT]:
    """All results in order; the first failure cancels the rest, so that no question is paid for in vain.

    They have ended when this does: whatever they cost is booked.

    Raises:
        Exception: the first failure itself, not a group: callers distinguish them by type.
    """
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
    many) are read and not yet emitted: more than `window` if a slow item must not hold up those after it. An exception
    of `items`, `work` or `emit` ends it all.
    """
    slots, room = asyncio.Semaphore(window), asyncio.Semaphore(ahead or window)
    under_way: asyncio.Queue[asyncio.Task[ResultT] | None] = asyncio.Queue()

    async def worked(item: ItemT) -> ResultT:
        with ExitStack() as slot, observed_waits(give_up=slot.close):
            slot.callback(slots.release)
            return await work(item)

    async def feed(tasks: asyncio.TaskGroup) -> None:
        async for item in items:
            await room.acquire()
            await slots.acquire()
            under_way.put_nowait(tasks.create_task(worked(item)))
        under_way.put_nowait(None)

    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(feed(tasks))
            while (task := await under_way.get()) is not None:
                emit(await task)
                room.release()
    except BaseExceptionGroup as group:
        # The other tasks were cancelled by the first failure.
        raise group.exceptions[0] from None


class Flight(Generic[ResultT]):
    """Work whose result several may wait for; it is cancelled when the last of them is."""

    def __init__(self, work: asyncio.Task[ResultT]) -> None:
        self.work, self.waiters, self.is_taken = work, 0, False
        """`is_taken` is to be set by the first who has the result."""

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


class SingleFlight(Generic[ResultT]):
    """Work under way, by key; belongs to one event loop."""

    def __init__(self) -> None:
        self._under_way: dict[str, Flight[ResultT]] = {}

    def join(self, key: str, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> Flight[ResultT]:
        """The work under way, or else begun now; to be waited for at once: nobody may join what the last one left."""
        flight = self._under_way.get(key)
        if flight is None or not flight.waiters:
            flight = self._under_way[key] = Flight(asyncio.create_task(work()))
            flight.work.add_done_callback(lambda _: self._under_way.get(key) is flight and self._under_way.pop(key))
        return flight
