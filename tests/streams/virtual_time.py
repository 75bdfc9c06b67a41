"""An event loop whose clock jumps: sleeping costs nothing, and how long something takes is exact whatever the machine.

For code that waits by the loop's own clock alone: no sockets, no threads.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class _Selector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everything waits for something that no timer will bring")
        self.now += max(timeout, 0)
        return super().select(0)


def run_virtually(make: Callable[[], Awaitable[ResultT]]) -> tuple[ResultT, float]:
    """The result of `make()`, and the seconds that it took by the loop's clock."""
    selector = _Selector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    try:
        return loop.run_until_complete(make()), selector.now  # type: ignore[arg-type]
    finally:
        loop.close()


def virtually(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """`test` on such a loop."""

    def run() -> None:
        run_virtually(test)

    return run
