"""Around every model: the cost meter, the cache with its single flight, and the recorder."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from cachetools import TTLCache

from models.claims import Claims, Grades
from models.concurrent import Flight, SingleFlight
from models.protocol import Answer, AnswerT, Judge, Model, ModelError, ModelFailed, ModelUnavailable, Question, ReplyT
from models.recording import Journal, claims_digest, request_digest
from models.work import book, note
from schemas import Usage
from schemas.evidence import SelfTestFigure

_KEPT, _KEPT_SECONDS = 4096, 3600.0
"""Answers in memory, the least recently used of which go first, and how long each stays."""

InnerT = TypeVar("InnerT", bound=Model | Judge)

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


class _Metered(Generic[InnerT]):
    """A model whose every request is booked, however it ends; belongs to one event loop.

    Identical requests are made once, also while the first of them is under way: replies are shared and must not be
    changed. A failure is raised to all who wait for it and then forgotten.
    """

    def __init__(
        self,
        inner: InnerT,
        *,
        cached: bool = True,
        journal: Journal | None = None,
        on_usage: UsageListener | None = None,
        charged: bool = True,
        is_subject: bool = False,
        temperature: float | str | None = None,
    ) -> None:
        """Without `cached`, each request is made by itself; a call that is not `charged` is on no bill."""
        self.inner, self.temperature, self._cached = inner, temperature, cached
        self._journal, self._on_usage, self._charged, self._is_subject = journal, on_usage, charged, is_subject
        self._flights = SingleFlight[Answer[Any]]()
        self._answers: TTLCache[str, Answer[Any]] = TTLCache(_KEPT, _KEPT_SECONDS, timer=time.monotonic)

    @property
    def name(self) -> str:
        return self.inner.name

    async def close(self) -> None:
        await self.inner.close()

    async def _paid(
        self, task: str, digest: str, fresh: Callable[[], Coroutine[Any, Any, Answer[AnswerT]]]
    ) -> Answer[AnswerT]:
        """The answer to a request, known or still to come; the first to have it pays for it."""
        if self._journal is not None:
            # A recording has several answers to one question under its digest.
            note(digest.partition("/")[0])
        begun = time.monotonic()
        result: Answer[AnswerT] | ModelError
        if self._cached and (known := self._answers.get(digest)) is not None:
            self._book(task, "answered", Usage(cached=1), begun)
            return replace(known, usage=Usage(cached=1))
        flight = self._flights.join(digest, fresh) if self._cached else Flight(asyncio.create_task(fresh()))
        try:
            result = await flight.result()
        except ModelError as error:
            result = error
        except asyncio.CancelledError:
            if flight.work.done() and not (flight.waiters or flight.is_taken or flight.work.cancelled()):
                # It ended as the last one left.
                ended = flight.work.exception() or flight.work.result()
                self._book(task, "left", getattr(ended, "usage", Usage()), begun)
            raise
        is_first, flight.is_taken = not flight.is_taken, True
        usage = result.usage if is_first else Usage(cached=1, seconds=time.monotonic() - begun)
        if isinstance(result, Answer):
            self._book(task, "answered", usage, begun)
            return replace(result, usage=usage)
        self._book(task, "unavailable" if isinstance(result, ModelUnavailable) else "failed", usage, begun)
        raise result if is_first else replace(result, usage=usage)

    async def _fresh(self, task: str, digest: str, ask: Callable[[], Awaitable[Answer[AnswerT]]]) -> Answer[AnswerT]:
        """The answer of the model itself, kept and recorded."""
        begun = time.monotonic()
        ending: Answer[AnswerT] | ModelFailed | None = None
        try:
            self._answers[digest] = ending = await ask()
        except ModelFailed as error:
            ending = error
            raise
        except asyncio.CancelledError as left:
            # Nobody waits for it any longer, and it has cost what it has cost.
            self._book(task, "left", getattr(left, "usage", Usage()), begun)
            raise
        finally:
            if self._journal is not None and ending is not None:
                self._journal.record(self.name, task, digest, ending)
        return ending

    def _book(self, task: str, ending: Ending, usage: Usage, begun: float) -> None:
        if self._charged:
            book(usage.model_copy(update={"subject_calls": usage.calls}) if self._is_subject else usage)
        # What came from the cache, or from another's question, waited for no model.
        waited = 0.0 if usage.cached else max(time.monotonic() - begun - usage.seconds, 0.0)
        if self._on_usage is not None:
            self._on_usage(EndedRequest(model=self.name, task=task, ending=ending, usage=usage, waited=waited))


class MeteredModel(_Metered[Model]):
    """Around a model."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        task, digest = question.task, request_digest(question)
        return await self._paid(task, digest, partial(self._fresh, task, digest, partial(self.inner.ask, question)))


class MeteredJudge(_Metered[Judge]):
    """Around a judge of this process, or a recorded one: the same."""

    @property
    def version(self) -> str:
        return self.inner.version

    @property
    def self_test(self) -> SelfTestFigure | None:
        return self.inner.self_test

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        digest = claims_digest(task, claims)
        grade = partial(self.inner.grade, task, claims)
        return await self._paid(task, digest, partial(self._fresh, task, digest, grade))
