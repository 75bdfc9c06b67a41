"""The labels' agent: asks people about some verdicts, and corrects the success rate by what they say."""

import time
from collections.abc import Mapping
from typing import Final

from agents.labels.metrics import LabelMetrics
from agents.labels.partition import EXPIRES_AFTER, LabelPartition
from agents.labels.settings import LabelSettings
from agents.restore import messages_since
from agents.runtime import Agent, AgentFactory, Runtime
from agents.stateful import StatefulAgent

NAME: Final = "labels"

_FLUSH_SECONDS: Final = 2.0
"""Between writes of the state: a request, and what a label changes, is seen after that time."""

_MOST_SERIES: Final = 2_000
"""Series that people are asked about at most, divided evenly over the partitions: producers choose names."""

_REMEMBERED: Final = 16_384
"""Messages of each partition that are read again on taking over: ids of verdicts that are counted, and what the people
said whose labels may be replaced."""

_FORGET_EVERY_SECONDS: Final = 3600.0


def labels_agent(settings: LabelSettings, *, flush_seconds: float = _FLUSH_SECONDS) -> AgentFactory:
    """The agent as one of a worker."""

    def build(runtime: Runtime) -> Agent:
        return LabelsAgent(settings, LabelMetrics(runtime.metrics), runtime, flush_seconds=flush_seconds)

    return build


class LabelsAgent(StatefulAgent[LabelPartition]):
    """Counts each verdict and each label once, and loses no request, even if workers are killed."""

    name = NAME

    def __init__(
        self, settings: LabelSettings, metrics: LabelMetrics, runtime: Runtime, *, flush_seconds: float
    ) -> None:
        topics = runtime.settings.topics
        super().__init__(
            runtime,
            reads=[topics.outcomes, topics.labels],
            writes=[topics.review_requests, topics.calibration, topics.alerts],
            state_topic=topics.label_state,
            flush_seconds=flush_seconds,
            remembered=_REMEMBERED,
        )
        self._settings = settings
        self._metrics = metrics
        self._forgot_at = time.monotonic()
        metrics.watch(lambda: (each for state in self._states.values() for each in state.calibrations))

    async def _restored(self, partition: int, stored: Mapping[bytes, bytes], ends: Mapping[str, int]) -> LabelPartition:
        settings = self._runtime.settings
        most = max(1, _MOST_SERIES // self._partitions)
        state = LabelPartition(
            partition, self._settings, settings.topics, self._metrics, most=most, remember=_REMEMBERED
        )
        since = time.time() - EXPIRES_AFTER.total_seconds()
        requests = await messages_since(settings.kafka, settings.topics.review_requests, partition, since)
        state.restore(stored.values(), requests, ends)
        return state

    def _taken_over(self, state: LabelPartition) -> None:
        pass

    def _given_up(self, state: LabelPartition) -> None:
        pass

    async def _write(self) -> None:
        if time.monotonic() - self._forgot_at >= _FORGET_EVERY_SECONDS:
            self._forgot_at = time.monotonic()
            for state in self._states.values():
                state.forget_old()
        await self._runtime.publisher.publish(
            *(message for state in self._states.values() for message in state.outbox())
        )
        await self._write_changes()
