"""Calls from Python: the event loop that all run on, on a thread of its own."""

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

_END_SECONDS = 5.0
"""Patience with what is to be closed when Python ends."""


class _LoopThread:
    def __init__(self) -> None:
        ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=_run, args=[ready], name="assay", daemon=True)
        self._thread.start()
        self.loop, self._ended = ready.result()

    def end(self) -> None:
        """Cancel what runs on the loop, and wait for it: that is how a task there learns that it is to close."""
        self.loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(_END_SECONDS)


def _run(ready: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]") -> None:
    # From Python 3.12 on no thread can be started at exit: not the one, either, that waits for the loop's other threads
    # after everything else is done.
    with suppress(RuntimeError):
        asyncio.run(_until_ended(ready))


async def _until_ended(ready: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]") -> None:
    ended = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), ended))
    await ended.wait()


_starting = threading.Lock()
_running: _LoopThread | None = None


def start(coroutine: Coroutine[Any, Any, ResultT]) -> "Future[ResultT]":
    """Run `coroutine` on the loop; cancelling the future cancels it."""
    global _running  # noqa: PLW0603 - one for the process
    with _starting:
        _running = _running or _LoopThread()
    return asyncio.run_coroutine_threadsafe(coroutine, _running.loop)


def result_of(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return or raise what `coroutine` does; Ctrl-C cancels it."""
    future = start(coroutine)
    try:
        return future.result()
    finally:
        future.cancel()


def _end() -> None:
    if _running is not None:
        _running.end()


def _forget() -> None:
    """Begin anew: a forked process has the loop, and not its thread."""
    global _starting, _running
    _starting, _running = threading.Lock(), None


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
