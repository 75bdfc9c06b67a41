"""The agent of a source: asks each subject once an interval, and the clock numbers what is asked.

A record's number is that of its interval since 1970, and its id follows from source, subject and number. So nothing is
kept: a worker that restarts, or a second one, makes the records of an interval under the ids that they have anyway.
"""

import asyncio
import time
from collections.abc import Collection

import structlog

from agents.routing import Budgets
from agents.runtime import Agent, Runtime
from checkers.plugin import RecordSource
from models.protocol import ModelUnavailable
from schemas import content_id
from streams.messages import TooLarge, record_message

_BUDGET_SECONDS = 60.0  # Between looks at a budget that is spent; it is reset at midnight.
_SHORTEST_WAIT_SECONDS = 0.05

_log = structlog.get_logger(__name__)


class Scheduler(Agent):
    """Makes no record for an interval that has passed: not after a restart, nor for a subject that was away."""

    def __init__(self, source: RecordSource, runtime: Runtime, *, budgets: Budgets | None = None) -> None:
        """Without `budgets` nothing is limited but the pace of `source`."""
        self.name = source.name
        self.topics: Collection[str] = (runtime.settings.topics.outputs,)
        self._source, self._budgets, self._runtime = source, budgets or Budgets(), runtime
        said = "Records that the agent made on a schedule and published"
        self._records = runtime.counter("assay_scheduled_records", said, "agent", "model")
        self._asking: set[str] = set()
        self._waiting: set[str] = set()  # Subjects that are away, or that no budget is left for.
        self._tasks: list[asyncio.Task[None]] = []
        runtime.metrics.watch(
            self.name, in_flight=lambda: len(self._asking), held=lambda: len(self._waiting), paused=lambda: False
        )

    async def start(self) -> None:
        for model in self._source.models:
            # Begins the count at zero, so that the first record is an increase.
            self._records.labels(self.name, model)
            self._tasks.append(self._runtime.run(self.name, self._ask_on_and_on(model)))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask_on_and_on(self, model: str) -> None:
        seconds = self._source.seconds_between
        # What is under way at the start may have been asked before it.
        number = int(time.time() / seconds)
        while True:
            number = max(number + 1, int(time.time() / seconds))
            await asyncio.sleep(max(0.0, number * seconds - time.time()))
            self._asking.add(model)
            wait = await self._ask(model, number)
            self._asking.discard(model)
            self._waiting.discard(model)
            if wait is not None:
                self._waiting.add(model)
                await asyncio.sleep(max(wait, _SHORTEST_WAIT_SECONDS))

    async def _ask(self, model: str, number: int) -> float | None:
        """Publish the record with this number, or return how long to wait before the next."""
        if (reason := self._budgets.exhausted(self.name)) is not None:
            _log.warning("nothing is asked", agent=self.name, reason=reason)
            return _BUDGET_SECONDS
        try:
            with self._budgets.booked(self.name):
                id_ = content_id("scheduled", [self.name, model, number])
                record = await self._source.record(model, number, id_)
            await self._runtime.publisher.publish(record_message(record, self._runtime.settings.topics))
        except ModelUnavailable as error:
            _log.warning("a subject cannot be reached", agent=self.name, model=model)
            return error.retry_after
        except TooLarge as error:
            _log.error("a record is skipped", agent=self.name, model=model, detail=str(error))
        else:
            self._records.labels(self.name, model).inc()
        return None
