"""Waiting for a condition, never for the clock: a busy machine takes longer and fails nothing."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_SECONDS = 120.0
"""A condition that never comes fails the test after this time. No condition takes so long on any machine."""

_PAUSE_SECONDS = 0.02

T = TypeVar("T")


async def until(condition: Callable[[], Awaitable[T] | T], what: Callable[[], object] = lambda: "") -> T:
    """Return the first value of `condition` that is true; `what` says how things stand if it never comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        value = condition()
        found = await value if inspect.isawaitable(value) else value
        if found:
            return found
        assert time.monotonic() < deadline, what()
        await asyncio.sleep(_PAUSE_SECONDS)


def wait_until(
    condition: Callable[[], T], what: Callable[[], object] = lambda: "", seconds: float = PATIENCE_SECONDS
) -> T:
    """The same, without an event loop."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, what()
        time.sleep(_PAUSE_SECONDS)
    return found
