"""The parts that a worker's agents share."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from agents.runtime import Runtime
from streams.metrics import StreamMetrics
from streams.publisher import Publisher
from streams.settings import StreamSettings


async def _raises() -> None:
    raise ValueError("no")


async def _fails_in_a_group() -> None:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_raises())
    except BaseExceptionGroup as error:
        raise error.exceptions[0] from None


async def _runs_into_a_cancellation() -> None:
    other: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    other.cancel()
    await other


async def _ends() -> None:
    pass


async def _failures(work: Coroutine[Any, Any, None], *, cancel: bool = False) -> list[type[BaseException]]:
    """The errors that ended the worker of an agent with this task."""
    found: list[BaseException] = []
    settings = StreamSettings()
    metrics = StreamMetrics(CollectorRegistry(), max_subjects=1)
    runtime = Runtime(settings=settings, publisher=Publisher(settings), metrics=metrics, fail=found.append)
    task = asyncio.create_task(work)
    runtime.watch("agent", task)
    if cancel:
        task.cancel()
    await asyncio.wait([task])
    await asyncio.sleep(0)
    return [type(error) for error in found]


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (_raises, ValueError),
        # Python 3.11 leaves the mark of a cancellation on the task whose group failed.
        (_fails_in_a_group, ValueError),
        (_runs_into_a_cancellation, asyncio.CancelledError),
    ],
)
async def test_an_agent_whose_task_fails_ends_the_worker(work: Any, error: type[BaseException]):
    assert await _failures(work()) == [error]


async def test_an_agent_whose_task_is_done_or_cancelled_does_not():
    assert await _failures(_ends()) == []
    assert await _failures(_ends(), cancel=True) == []
