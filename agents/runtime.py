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
        """What logs, metrics and readiness call it; its consumer group is named after it."""

    @property
    def topics(self) -> Collection[str]:
        """The topics that must be there: those it reads, and those it writes."""

    @property
    def started(self) -> bool:
        """Whether there is something to stop."""

    async def start(self) -> None:
        """Connect and begin to listen; returns without waiting for partitions."""

    async def stop(self) -> None:
        """Finish what is under way within the drain time, commit, leave the group."""

    async def ready(self) -> str | None:
        """Why it does not work on its share yet, or None."""

    def measure(self) -> None:
        """Bring those metrics up to date that are not told as they change."""

    def abandon(self) -> None:
        """The broker takes no answers: a stop that follows waits for nothing."""


class Service(Protocol):
    """What the agents of a worker share: started before them, and stopped after them."""

    @property
    def name(self) -> str:
        """What readiness calls it."""

    def topics(self, topics: TopicSettings) -> Collection[str]:
        """The topics that must be there for it."""

    async def start(self, runtime: Runtime) -> None:
        """Begin; the publisher has been started."""

    async def stop(self) -> None:
        """End, while the publisher still takes messages; also where it was not started."""

    async def ready(self) -> str | None:
        """Why the agents must wait for it, or None."""


AgentFactory: TypeAlias = Callable[[Runtime], Agent]
"""Builds an agent, on the event loop that it is to run on."""
