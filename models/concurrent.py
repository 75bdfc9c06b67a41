"""Doing several things at once: within one check, over the items of a run, and once for all who need the same."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, cast

from models.worktime import Phase, WaitObserver

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
OtherT = TypeVar("OtherT")
P = ParamSpec("P")


async def gather_or_cancel(awaitables: Iterable[Awaitable[ResultT]]) -> list[ResultT]:
    """All results in order; the first failure cancels the rest, so that no question is paid for in vain.

    They have ended when this does: whatever they cost is booked.

    Raises:
        Exception: the first failure itself, not a group: callers distinguish them by type.
    """
    awaitables = list(awaitables)
    if len(awaitables) == 1:
        return [await awaitables[0]]
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
        given_up = False

        def give_up() -> None:
            nonlocal given_up
            if not given_up:
                given_up = True
                slots.release()

        try:
            with WaitObserver(give_up=give_up):
                return await work(item)
        finally:
            give_up()

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


@dataclass(slots=True)
class _Flight(Generic[ResultT]):
    task: asyncio.Task[ResultT]
    waiters: int = 0


class SingleFlight(Generic[ResultT]):
    """Work under way, by key; belongs to one event loop. It is cancelled when the last one who waits is."""

    def __init__(self, on_left: Callable[[ResultT], None] = lambda result: None) -> None:
        """`on_left` is called with a result that came as the last one who waits was cancelled."""
        self._on_left = on_left
        self._under_way: dict[str, _Flight[ResultT]] = {}

    async def join(
        self, key: str, start: Callable[P, Coroutine[Any, Any, ResultT]], *args: P.args, **kwargs: P.kwargs
    ) -> ResultT:
        """The result of `start`, which only the first caller starts; its exception is raised to all of them."""
        flight = self._under_way.get(key)
        joined = None if flight is None else Phase("joined")
        if flight is None:
            flight = self._under_way[key] = _Flight(asyncio.create_task(start(*args, **kwargs)))
            flight.task.add_done_callback(lambda task: self._ended(key, task))
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            if flight.waiters == 1 and flight.task.done() and not flight.task.cancelled():
                self._on_left(flight.task.result())
            raise
        finally:
            if joined is not None:
                joined.end()
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                # Nobody may join what is being cancelled.
                self._under_way.pop(key, None)
                flight.task.cancel()
                # It books its cost before the caller that leaves adds it up.
                await asyncio.wait({flight.task})

    def _ended(self, key: str, task: asyncio.Task[ResultT]) -> None:
        flight = self._under_way.get(key)
        if flight is not None and flight.task is task:
            del self._under_way[key]
