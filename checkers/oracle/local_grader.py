"""A model of this process as a grader: on a thread of its own, many claims in one batch."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from checkers.oracle.claims import Claims, Grades, Judgement
from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.model_loading import ModelThread
from checkers.oracle.protocol import Answer, OracleFailed
from schemas import Usage

_BATCH_SENTENCES = 256
"""Sentences that end a batch: one batch is well under a second of work, so that those behind it are not kept long."""


class ClaimModel(Protocol):
    """The loaded model."""

    def judge(self, batch: Sequence[Claims]) -> Sequence[Sequence[Judgement]]:
        """A judgement for each sentence of each entry, in order; called on one thread at a time."""


@dataclass(slots=True)
class _Waiting:
    claims: Sequence[Claims]
    judged: asyncio.Future[Grades]

    @property
    def sentences(self) -> int:
        return sum(len(one.sentences) for one in self.claims)


class LocalGrader:
    """Belongs to one event loop, which it never blocks; the model is loaded with the first claims, or by `load`.

    While a batch is judged, the claims that arrive make up the next one; nothing waits for a batch to fill.
    """

    def __init__(self, name: str, load: Callable[[], ClaimModel], *, called: str) -> None:
        """`load` reads the model, on the thread; messages call it `called`."""
        self.name = name
        self._called = called
        self._thread = ModelThread(called, load)
        self._waiting: deque[_Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None

    def load(self) -> None:
        """Begin to load the model now, on the running event loop."""
        self._thread.load()

    @property
    def fault(self) -> str | None:
        """Why nothing can be graded, or None."""
        return self._thread.fault

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The model's grades.

        Raises:
            StillLoading: the model is not there yet.
            OracleFailed: it cannot be loaded, or failed on these claims.
        """
        model = await self._thread.model()
        begun = time.monotonic()
        waiting = _Waiting(claims, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(model))
        grades = await waiting.judged
        return Answer(grades, Usage(calls=1, seconds=time.monotonic() - begun))

    async def close(self) -> None:
        """Give up what waits, and end the thread once its batch is done."""
        if self._worker is not None:
            self._worker.cancel()
        for waiting in self._waiting:
            waiting.judged.cancel()
        self._waiting.clear()
        self._thread.close()

    async def _work(self, model: ClaimModel) -> None:
        while batch := self._next_batch():
            claims = [one for waiting in batch for one in waiting.claims]
            try:
                results = await self._thread.run(partial(model.judge, claims))
            except Exception as error:  # noqa: BLE001 models run code of others: whatever it raises is told to those who ask
                for waiting in batch:
                    if not waiting.judged.done():
                        detail = f"{self._called} failed: {error}"[:300]
                        waiting.judged.set_exception(OracleFailed(detail, cause="judge_failed"))
            else:
                judged = iter(results)
                for waiting in batch:
                    grades = tuple(tuple(next(judged)) for _ in waiting.claims)
                    if not waiting.judged.done():
                        waiting.judged.set_result(grades)

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        sentences = 0
        while self._waiting and (not batch or sentences + self._waiting[0].sentences <= _BATCH_SENTENCES):
            waiting = self._waiting.popleft()
            # The caller may have left meanwhile.
            if not waiting.judged.done():
                batch.append(waiting)
                sentences += waiting.sentences
        return batch


def local_judge(settings: LocalSettings) -> LocalGrader:
    """The judge that needs no endpoint. Raises ImportError if its packages are not installed."""
    from checkers.oracle.local import EmbeddingJudge

    judge = EmbeddingJudge(settings)

    def load() -> ClaimModel:
        judge.load()
        return judge

    return LocalGrader(judge.name, load, called="the local judge")
