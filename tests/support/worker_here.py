"""A worker inside the test's own event loop: quick to start, and its metrics at hand."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents.checker_agent import checker_agent
from agents.worker import Worker
from checkers.checker import Checker
from streams.settings import StreamSettings

_SECONDS = 30.0
"""Joining a group of the embedded broker takes some six; the rest is for a machine busy with other tests."""


class WorkerHere(Worker):
    """A worker whose metrics can be asked for."""

    def metric(self, name: str, **labels: str) -> float:
        """A series' value; 0 where it is not there."""
        return self.registry.get_sample_value(name, labels) or 0.0

    async def wait_for(self, name: str, at_least: float, **labels: str) -> None:
        """Return when a metric has reached a value."""
        deadline = time.monotonic() + _SECONDS
        while (value := self.metric(name, **labels)) < at_least:
            assert time.monotonic() < deadline, f"{name}{labels} is {value}, expected {at_least}"
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def worker_here(checkers: Sequence[Checker], settings: dict[str, Any], **more: Any) -> AsyncIterator[WorkerHere]:
    """Runs until the context ends, then stops in good order."""
    agents = [checker_agent(checker) for checker in checkers]
    worker = WorkerHere(agents, StreamSettings.model_validate(settings | {"http": {"port": 0}}), **more)
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop()
