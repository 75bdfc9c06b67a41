"""Single flight: work that several need at the same time is done once."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

from models.worktime import Phase

ResultT = TypeVar("ResultT")
P = ParamSpec("P")


@dataclass(slots=True)
class _Flight(Generic[ResultT]):
    task: asyncio.Task[ResultT]
    waiters: int = 0


class SingleFlight(Generic[ResultT]):
    """Work under way, by key; belongs to one event loop. It is cancelled when the last one who waits is."""

    def __init__(self, on_left: Callable[[ResultT], None] | None = None) -> None:
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
            if flight.waiters == 1 and flight.task.done() and not flight.task.cancelled() and self._on_left is not None:
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
