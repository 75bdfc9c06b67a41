"""Doing several things at once: within one check, and over the items of a run."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar, cast

from models.worktime import WaitObserver

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
OtherT = TypeVar("OtherT")


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
