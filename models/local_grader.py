"""A model of this process as a grader: on its own thread, many claims in one batch."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import structlog

from models.local_settings import BUNDLED_JUDGE, LocalSettings
from models.model_loading import ModelThread
from models.protocol import Answer, ClaimKind, Claims, Graded, Grades, Judgement, ModelFailed
from models.work import Phase
from schemas import Usage
from schemas.evidence import SelfTestFigure

BATCH_SENTENCES = 256
"""Sentences that end a batch: one batch is well under a second of work, so that those behind it are not kept long."""

_NOT_COMPARED = frozenset({ClaimKind.CRITERION, ClaimKind.STATEMENT, ClaimKind.QUESTION})


class ClaimModel(Protocol):
    """A model that is loaded, and then grades."""

    @property
    def name(self) -> str:
        """The judge's name in verdicts."""

    def load(self) -> None:
        """Read the model, on the thread on which `judge` is called later."""

    def judge(self, batch: Sequence[Claims], /) -> Sequence[Graded]:
        """Grade each entry; called on one thread at a time."""


@dataclass(slots=True)
class _Waiting:
    claims: Sequence[Claims]
    judged: asyncio.Future[Answer[Grades]]
    size: int
    phase: Phase


class LocalGrader(ModelThread[ClaimModel]):
    """Belongs to one event loop, which it never blocks; the model is loaded with the first claims, or by `load`.

    While a batch is judged, the claims that arrive make up the next one; nothing waits for a batch to fill.
    """

    def __init__(
        self,
        model: ClaimModel,
        *,
        called: str,
        size_of: Callable[[Claims], int] = lambda claims: len(claims.sentences),
        batch_size: int = BATCH_SENTENCES,
    ) -> None:
        """Messages call the model `called`. A batch ends before its entries' sizes are beyond `batch_size` together."""
        self.name, self.version = model.name, ""
        self.self_test: SelfTestFigure | None = None
        self._size_of, self._batch_size = size_of, batch_size
        self._waiting: deque[_Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None
        super().__init__(called, partial(_loaded, model))

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The model's grades; raises ModelFailed if it is not there, failed, or cannot judge these claims."""
        if any(one.kind in _NOT_COMPARED for one in claims):
            detail = f"{self._name} compares texts and judges no {task}; configure an endpoint as judge"
            raise ModelFailed(detail, cause="judge_failed")
        with Phase("waits") as phase:
            model = await self.model()
            judged: asyncio.Future[Answer[Grades]] = asyncio.get_running_loop().create_future()
            self._waiting.append(_Waiting(claims, judged, sum(map(self._size_of, claims)), phase))
            if self._worker is None or self._worker.done():
                self._worker = asyncio.create_task(self._work(model))
            return await judged

    async def close(self) -> None:
        """Give up what waits, and end the thread once its batch is done."""
        if self._worker is not None:
            self._worker.cancel()
        for waiting in self._waiting:
            waiting.judged.cancel()
        self._waiting.clear()
        self.end()

    async def _work(self, model: ClaimModel) -> None:
        while batch := self._next_batch():
            claims = [one for waiting in batch for one in waiting.claims]
            begun = time.monotonic()
            try:
                results = await self.run(partial(model.judge, claims))
                if len(results) != len(claims):
                    raise ValueError(f"{len(results)} results for {len(claims)} claims")
            except Exception as error:  # noqa: BLE001 models run code of others: all that it raises goes to the callers
                for waiting in batch:
                    if not waiting.judged.done():
                        detail = f"{self._name} failed: {error}"[:300]
                        waiting.judged.set_exception(ModelFailed(detail, cause="judge_failed"))
            else:
                judged = iter(results)
                usage = Usage(calls=1, seconds=time.monotonic() - begun)
                for waiting in batch:
                    _hand_over(waiting, [next(judged) for _ in waiting.claims], usage)

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        size = 0
        while self._waiting and (not batch or size + self._waiting[0].size <= self._batch_size):
            waiting = self._waiting.popleft()
            # The caller may have left meanwhile.
            if not waiting.judged.done():
                waiting.phase.to("computed")
                batch.append(waiting)
                size += waiting.size
        return batch


def _loaded(model: ClaimModel) -> ClaimModel:
    model.load()
    return model


def _hand_over(waiting: _Waiting, results: Sequence[Graded], usage: Usage) -> None:
    if waiting.judged.done():
        return
    try:
        waiting.judged.set_result(Answer(tuple(tuple(decided(result)) for result in results), usage))
    except ModelFailed as fault:
        waiting.judged.set_exception(fault)


def decided(graded: Graded) -> Sequence[Judgement]:
    """The judgements; raises ModelFailed where there are none."""
    if isinstance(graded, ModelFailed):
        raise graded
    return graded


_LOG = structlog.get_logger(__name__)


def local_judge(settings: LocalSettings) -> LocalGrader:
    """The judge that needs no endpoint. Raises ImportError if its packages are not installed."""
    if settings.judge == BUNDLED_JUDGE:
        from models.local.judge import BundledJudge

        return LocalGrader(BundledJudge(), called="the local judge")
    from models.grounding.catalogue import named_judge
    from models.grounding.judge import BATCH_CHARACTERS, GroundingJudge

    judge = GroundingJudge(named_judge(settings.judge), say=lambda message: _LOG.info("local judge", detail=message))
    called = f"the local judge {settings.judge}"

    def characters(claims: Claims) -> int:
        """The texts to read: the reference with each sentence."""
        return len(claims.reference) * len(claims.sentences) + sum(map(len, claims.sentences))

    return LocalGrader(judge, called=called, size_of=characters, batch_size=BATCH_CHARACTERS)


def fetch(settings: LocalSettings, say: Callable[[str], None]) -> None:
    """Download what a judge with a name needs and this machine does not keep; raises ModelUnusable."""
    from models.grounding.catalogue import named_judge
    from models.grounding.hub import fetched

    named = named_judge(settings.judge)
    for source in (named.weights, named.config):
        if source is not None:
            fetched(source, say)
