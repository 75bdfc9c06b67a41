"""Waiting for a condition, never for the clock: a busy machine takes longer and fails nothing."""

import asyncio
import inspect
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_SECONDS = 120.0
"""A condition that never comes fails the test after this time. No condition takes so long on any machine."""

_PAUSES = tuple(0.01 * 1.15**number for number in range(20))
"""Longer and longer: to look, topics are read or a page is made, by the processor that is waited for."""

T = TypeVar("T")


async def until(condition: Callable[[], Awaitable[T] | T], what: Callable[[], object] = lambda: "") -> T:
    """Return the first value of `condition` that is true; `what` says how things stand if it never comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        value = condition()
        found = await value if inspect.isawaitable(value) else value
        if found:
            break
        assert time.monotonic() < deadline, what()
        await asyncio.sleep(pause)
    return found


def wait_until(
    condition: Callable[[], T], what: Callable[[], object] = lambda: "", seconds: float = PATIENCE_SECONDS
) -> T:
    """The same, without an event loop."""
    deadline = time.monotonic() + seconds
    for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
        if found := condition():
            break
        assert time.monotonic() < deadline, what()
        time.sleep(pause)
    return found
