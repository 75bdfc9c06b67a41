"""Calls from Python: the event loop that all run on, on a thread of its own."""

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

_END_SECONDS = 5.0
"""Patience with what is to be closed when Python ends."""

closing: list[Callable[[], Awaitable[None]]] = []
"""Called on the loop when Python ends, after whatever still runs there was cancelled."""

_starting = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def start(coroutine: Coroutine[Any, Any, ResultT]) -> "Future[ResultT]":
    """Run `coroutine` on the loop; cancelling the future cancels it."""
    global _running  # noqa: PLW0603 - one for the process
    with _starting:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name="assay", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(coroutine, _running)


def result_of(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return or raise what `coroutine` does; Ctrl-C cancels it."""
    future = start(coroutine)
    try:
        return future.result()
    finally:
        future.cancel()


@atexit.register
def _end() -> None:
    if _running is not None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_close(), _running).result(_END_SECONDS)


async def _close() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for close in closing:
        await close()


def _forget() -> None:
    """Begin anew: a forked process has the loop, and not its thread."""
    global _starting, _running
    _starting, _running = threading.Lock(), None
    closing.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
