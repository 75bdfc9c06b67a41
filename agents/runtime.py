"""What a worker gives its agents, and what it asks of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from streams.metrics import StreamMetrics
from streams.publisher import Publisher
from streams.settings import StreamSettings, TopicSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What all agents of a worker share."""

    settings: StreamSettings
    publisher: Publisher
    """Started before any agent, stopped after all."""
    metrics: StreamMetrics
    fail: Callable[[BaseException], None]
    """To be told when an agent cannot go on: the worker then ends, and what is not committed comes back."""


class Agent(Protocol):
    """Listens to topics until it is stopped."""

    @property
    def name(self) -> str:
        """Name in logs, metrics and readiness; part of the consumer group's name."""

    @property
    def topics(self) -> Collection[str]:
        """Topics that must exist."""

    @property
    def started(self) -> bool:
        """True if `stop` has something to do."""

    async def start(self) -> None:
        """Begin. An agent returns without waiting for partitions."""

    async def stop(self) -> None:
        """Finish what is under way, commit and disconnect; also if it was not started."""

    async def ready(self) -> str | None:
        """Why it is not ready yet, or None."""

    def measure(self) -> None:
        """Update the metrics that are not updated as they change."""

    def abandon(self) -> None:
        """Called before `stop` if the broker takes no answers: wait for nothing."""


class WorkerService(Protocol):
    """What the agents of a worker share: started before them and stopped after them."""

    @property
    def name(self) -> str:
        """Name in logs, metrics and readiness; part of the consumer group's name."""

    def topics(self, topics: TopicSettings) -> Collection[str]:
        """Topics that must exist."""

    async def start(self, runtime: Runtime) -> None:
        """Begin. An agent returns without waiting for partitions."""

    async def stop(self) -> None:
        """Finish what is under way, commit and disconnect; also if it was not started."""

    async def ready(self) -> str | None:
        """Why it is not ready yet, or None."""


AgentFactory: TypeAlias = Callable[[Runtime], Agent]
"""Builds an agent, on the event loop that it is to run on."""
