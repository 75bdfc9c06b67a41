"""Doing several things at once within one check."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

ResultT = TypeVar("ResultT")


async def gather_or_cancel(awaitables: Iterable[Awaitable[ResultT]]) -> list[ResultT]:
    """All results in order; the first failure cancels the rest, so that no question is paid for in vain.

    Raises:
        Exception: the first failure itself, not a group: callers tell them apart by type.
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
