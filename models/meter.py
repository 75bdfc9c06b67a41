"""Around every model: the cost meter, the cache with its single flight, and the recorder."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from cachetools import TTLCache

from models.billing import book, note
from models.claims import Claims, Grades
from models.concurrent import SingleFlight
from models.protocol import (
    Answer,
    Grading,
    Judge,
    Model,
    ModelFailed,
    ModelUnavailable,
    Question,
    ReplyT,
    Sampler,
    Samples,
    Sampling,
)
from models.recording import Journal, Request, request_digest
from models.sampling import asked_often
from schemas import Usage
from schemas.evidence import SelfTestFigure

_KEPT, _KEPT_SECONDS = 4096, 3600.0
"""Answers in memory, the least recently used of which go first, and how long each stays."""

Ending = Literal["answered", "failed", "unavailable", "left"]
"""`failed`: with no answer to be used. `unavailable`: the model cannot be asked for now. `left`: nobody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRequest:
    """One request to a model: how it ended, and what it cost."""

    model: str
    task: str
    ending: Ending
    usage: Usage
    waited: float
    """Seconds in which nothing was done for it: for its turn, a pause of the endpoint or the loading of the model."""


UsageListener = Callable[[EndedRequest], None]
"""Called with every request that ended, answered or not."""


@dataclass(slots=True)
class _Outcome:
    task: str
    result: Answer[Any] | ModelUnavailable | ModelFailed
    is_charged: bool = False
    """True once its cost was charged."""


class _Metered:
    """A model whose every request is booked, however it ends; belongs to one event loop.

    If it is `cached`, identical requests are made once, also while the first of them is under way. A failure is raised
    to all who wait for it and then forgotten.
    """

    def __init__(
        self,
        inner: Model | Judge,
        *,
        cached: bool = False,
        journal: Journal | None = None,
        on_usage: UsageListener | None = None,
        charged: bool = True,
        is_subject: bool = False,
        temperature: float | str | None = None,
    ) -> None:
        """A call that is not `charged` is on no bill."""
        self.inner, self.temperature = inner, temperature
        self._journal, self._charged, self._is_subject = journal, charged, is_subject
        self._on_usage = on_usage or (lambda ended: None)
        self._flights = SingleFlight(self._left) if cached else None
        self._answers: TTLCache[str, Answer[Any]] = TTLCache(_KEPT, _KEPT_SECONDS, timer=time.monotonic)

    @property
    def name(self) -> str:
        return self.inner.name

    async def close(self) -> None:
        await self.inner.close()

    async def _booked(self, request: Request) -> Answer[Any]:
        """The model's answer, with `usage.cached` 1 if it cost nothing; the reply is shared and must not be changed."""
        begun, key = time.monotonic(), request_digest(request)
        if self._journal is not None:
            # Of samples the question is recorded with each of its answers.
            note(request_digest(request.question) if isinstance(request, Sampling) else key)
        if self._flights is None:
            outcome = await self._fresh(request, key)
        elif (known := self._answers.get(key)) is not None:
            return self._count(request.task, _shared(known, Usage(cached=1)), begun)
        else:
            outcome = await self._flights.join(key, self._fresh, request, key)
        # The first to ask is charged, unless it has left meanwhile.
        is_another, outcome.is_charged = outcome.is_charged, True
        joined = Usage(cached=1, seconds=time.monotonic() - begun)
        return self._count(request.task, _shared(outcome.result, joined) if is_another else outcome.result, begun)

    async def _fresh(self, request: Request, key: str) -> _Outcome:
        """Ask the model itself."""
        begun, inner = time.monotonic(), cast("Any", self.inner)
        answer: Answer[Any]
        try:
            if isinstance(request, Grading):
                answer = await inner.grade(request.task, request.claims)
            elif isinstance(request, Question):
                answer = await inner.ask(request)
            elif isinstance(inner, Sampler):
                answer = await inner.sample(request)
            else:
                answer = await asked_often(inner, request)
        except asyncio.CancelledError as left:
            # Nobody waits for it any longer, and it has cost what it has cost.
            self._book(request.task, "left", getattr(left, "usage", Usage()), begun)
            raise
        except ModelUnavailable as error:
            return _Outcome(request.task, error)
        except ModelFailed as error:
            if self._journal is not None:
                self._journal.record(self.name, request, error)
            return _Outcome(request.task, error)
        if self._flights is not None:
            self._answers[key] = answer
        if self._journal is not None:
            self._journal.record(self.name, request, answer)
        return _Outcome(request.task, answer)

    def _left(self, outcome: _Outcome) -> None:
        if not outcome.is_charged:
            self._book(outcome.task, "left", outcome.result.usage, time.monotonic())

    def _count(self, task: str, result: Answer[Any] | ModelUnavailable | ModelFailed, begun: float) -> Answer[Any]:
        """Book the result, and return or raise it."""
        if isinstance(result, Answer):
            self._book(task, "answered", result.usage, begun)
            return result
        self._book(task, "unavailable" if isinstance(result, ModelUnavailable) else "failed", result.usage, begun)
        raise result

    def _book(self, task: str, ending: Ending, usage: Usage, begun: float) -> None:
        if self._charged:
            book(usage.model_copy(update={"subject_calls": usage.calls}) if self._is_subject else usage)
        # What came from the cache, or from another's question, waited for no model.
        waited = 0.0 if usage.cached else max(time.monotonic() - begun - usage.seconds, 0.0)
        self._on_usage(EndedRequest(model=self.name, task=task, ending=ending, usage=usage, waited=waited))


class MeteredModel(_Metered):
    """Around a model."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        return await self._booked(question)

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        return await self._booked(sampling)


class MeteredJudge(_Metered):
    """Around a judge of this process, or a recorded one: the same."""

    @property
    def version(self) -> str:
        return cast("Judge", self.inner).version

    @property
    def self_test(self) -> SelfTestFigure | None:
        return cast("Judge", self.inner).self_test

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        return await self._booked(Grading(task, tuple(claims)))


def _shared(
    result: Answer[Any] | ModelUnavailable | ModelFailed, usage: Usage
) -> Answer[Any] | ModelUnavailable | ModelFailed:
    """A copy with another cost."""
    if isinstance(result, Answer):
        return replace(result, usage=usage)
    return result.copied_as(type(result), usage)
