"""The interface between a worker and its agents."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from streams.errors import StreamError
from streams.metrics import StreamMetrics
from streams.publisher import Publisher
from streams.settings import StreamSettings

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runtime:
    """The parts that all agents of a worker share."""

    settings: StreamSettings
    publisher: Publisher
    """Started before any agent, stopped after all."""
    metrics: StreamMetrics
    fail: Callable[[BaseException], None]
    """To be called when an agent cannot go on: the worker then ends, and what is not committed comes back."""

    def watch(self, agent: str, task: asyncio.Task[None]) -> None:
        """End the worker if `task`, without which `agent` does nothing, ends with an exception."""

        def ended(task: asyncio.Task[None]) -> None:
            if task.cancelled() and task.cancelling():
                return
            # It may run into the cancellation of something else; nobody would ever know.
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is not None:
                # What other exceptions say may quote a message.
                detail = str(error) if isinstance(error, StreamError) else ""
                _log.error("agent ended", agent=agent, error=type(error).__name__, detail=detail)
                self.fail(error)

        task.add_done_callback(ended)


class Agent(ABC):
    """Listens to topics until it is stopped."""

    name: str
    """Name in logs, metrics and readiness; part of the consumer group's name."""
    topics: Collection[str]
    """Topics that must exist."""

    @abstractmethod
    async def start(self) -> None:
        """Begin. An agent returns without waiting for partitions."""

    @abstractmethod
    async def stop(self) -> None:
        """Finish what is under way, commit and disconnect; also if it was not started, or stopped before."""

    async def ready(self) -> str | None:
        """Why it is not ready yet, or None."""
        return None

    async def measure(self) -> None:  # noqa: B027 - others update theirs as they change
        """Update the metrics that are not updated as they change.

        Raises:
            KafkaError: no broker answers.
        """

    def abandon(self) -> None:  # noqa: B027 - most wait for nothing
        """Called before `stop` if the broker takes no answers: wait for nothing."""


AgentFactory: TypeAlias = Callable[[Runtime], Agent]
"""Builds an agent, on the event loop that it is to run on."""
