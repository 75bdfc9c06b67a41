"""Around every model: layers that serve questions and claims alike, and outermost the cost meter."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from models.billing import book
from models.claims import Claims, Grades
from models.protocol import (
    Answer,
    Grader,
    Grading,
    Oracle,
    OracleError,
    OracleUnavailable,
    Question,
    ReplyT,
    Sampler,
    Samples,
    Sampling,
)
from models.sampling import asked_often
from schemas import Usage

ResultT = TypeVar("ResultT")

Request = Question[Any] | Grading | Sampling[Any]

Ending = Literal["answered", "failed", "unavailable"]
"""How a request ended: with an answer, with none that can be used, or because the model could not be asked for now."""


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


class Layer(Protocol):
    """A cache, a recorder: something between the caller and the model."""

    async def __call__(self, request: Request, call: Callable[[], Awaitable[Answer[ResultT]]]) -> Answer[ResultT]:
        """The answer to `request`, from `call` (the layer below) or without it; raises OracleError."""


class _Metered:
    def __init__(
        self, inner: Oracle | Grader, layers: Sequence[Layer], on_usage: UsageListener | None, *, charged: bool = True
    ) -> None:
        self.inner = inner
        self._layers = layers
        self._on_usage = on_usage
        self._charged = charged

    @property
    def name(self) -> str:
        return self.inner.name

    async def close(self) -> None:
        await self.inner.close()

    async def _through(self, request: Request, call: Callable[[], Awaitable[Answer[ResultT]]]) -> Answer[ResultT]:
        for layer in reversed(self._layers):
            call = partial(layer, request, call)
        begun = time.monotonic()
        try:
            answer = await call()
        except OracleError as error:
            ending: Ending = "unavailable" if isinstance(error, OracleUnavailable) else "failed"
            self._count(request.task, ending, error.usage, begun)
            raise
        self._count(request.task, "answered", answer.usage, begun)
        return answer

    def _count(self, task: str, ending: Ending, usage: Usage, begun: float) -> None:
        if self._charged:
            book(usage)
        if self._on_usage is not None:
            # What came from the cache, or from another's question, waited for no model.
            waited = 0.0 if usage.cached else max(time.monotonic() - begun - usage.seconds, 0.0)
            self._on_usage(EndedRequest(model=self.name, task=task, ending=ending, usage=usage, waited=waited))


class MeteredOracle(_Metered):
    """Around an oracle: books what each question cost on the open bills."""

    def __init__(
        self, inner: Oracle, *layers: Layer, on_usage: UsageListener | None = None, max_tokens: int | None = None
    ) -> None:
        """`layers` are given from the outermost in."""
        super().__init__(inner, layers, on_usage)
        self.max_tokens = max_tokens
        """Tokens of one reply at most; None if no limit is set."""
        self._oracle = inner

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        return await self._through(question, partial(self._oracle.ask, question))

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        inner = self._oracle
        call = partial(inner.sample, sampling) if isinstance(inner, Sampler) else partial(asked_often, inner, sampling)
        return await self._through(sampling, call)


class MeteredGrader(_Metered):
    """Around a grader: the same."""

    def __init__(
        self, inner: Grader, *layers: Layer, on_usage: UsageListener | None = None, charged: bool = True
    ) -> None:
        """What is not `charged` stands on no bill: it is no call to an endpoint."""
        super().__init__(inner, layers, on_usage, charged=charged)
        self._grader = inner

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        return await self._through(Grading(task, tuple(claims)), partial(self._grader.grade, task, claims))
