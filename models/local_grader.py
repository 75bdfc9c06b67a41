"""A model of this process as a grader: on its own thread, many claims in one batch."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import structlog

from models.model_loading import ModelThread
from models.protocol import Answer, ClaimKind, Claims, Graded, Grades, Judgement, ModelFailed
from models.settings import BUNDLED_JUDGE, LocalSettings
from models.work import Phase
from schemas import Usage
from schemas.evidence import SelfTestFigure

_BATCH_CHARACTERS = 65_536
"""Size of a batch: well under a second of the bundled judge's work, and a few forward passes of a network's."""

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


class _Waiting(NamedTuple):
    claims: Sequence[Claims]
    judged: asyncio.Future[Answer[Grades]]
    phase: Phase


class LocalGrader(ModelThread[ClaimModel]):
    """Belongs to one event loop, which it never blocks; the model is loaded with the first claims, or by `load`.

    While a batch is judged, the claims that arrive make up the next one; nothing waits for a batch to fill.
    """

    def __init__(self, model: ClaimModel, *, called: str) -> None:
        """Messages call the model `called`."""
        self.name, self.version = model.name, ""
        self.self_test: SelfTestFigure | None = None
        self._waiting: deque[_Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None
        super().__init__(called, partial(_loaded, model))

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The model's grades; raises ModelFailed if it is not there, failed, or cannot judge these claims."""
        if any(one.kind in _NOT_COMPARED for one in claims):
            detail = f"{self.called} compares texts and judges no {task}; configure an endpoint as judge"
            raise ModelFailed(detail, cause="judge_failed")
        with Phase("waits") as phase:
            model = await self.model()
            judged: asyncio.Future[Answer[Grades]] = asyncio.get_running_loop().create_future()
            self._waiting.append(_Waiting(claims, judged, phase))
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
        while self._waiting:
            batch, room = list[_Waiting](), _BATCH_CHARACTERS
            while self._waiting and (not batch or _size_of(self._waiting[0].claims) <= room):
                waiting = self._waiting.popleft()
                # The caller may have left meanwhile.
                if not waiting.judged.done():
                    waiting.phase.to("computed")
                    batch.append(waiting)
                    room -= _size_of(waiting.claims)
            begun = time.monotonic()
            try:
                results = await self.run(partial(model.judge, [one for waiting in batch for one in waiting.claims]))
                of_claims = iter(results)
                graded: list[list[Graded]] = [[next(of_claims) for _ in waiting.claims] for waiting in batch]
            except Exception as error:  # noqa: BLE001 models run code of others: all that it raises goes to the callers
                detail = f"{self.called} failed: {error}"[:300]
                graded = [[ModelFailed(detail, cause="judge_failed")] for _ in batch]
            usage = Usage(calls=1, seconds=time.monotonic() - begun)
            for waiting, grades in zip(batch, graded, strict=True):
                if waiting.judged.done():
                    continue
                try:
                    waiting.judged.set_result(Answer(tuple(tuple(decided(one)) for one in grades), usage))
                except ModelFailed as fault:
                    waiting.judged.set_exception(fault)


def _loaded(model: ClaimModel) -> ClaimModel:
    model.load()
    return model


def _size_of(claims: Sequence[Claims]) -> int:
    """Characters to read: the reference with each sentence."""
    return sum(len(one.reference) * len(one.sentences) + sum(map(len, one.sentences)) for one in claims)


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
    from models.grounding.judge import GroundingJudge

    judge = GroundingJudge(named_judge(settings.judge), say=lambda message: _LOG.info("local judge", detail=message))
    return LocalGrader(judge, called=f"the local judge {settings.judge}")
