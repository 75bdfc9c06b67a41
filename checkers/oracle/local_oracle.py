"""The local judge as an oracle: on a thread of its own, many questions in one batch."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.protocol import Answer, OracleFailed, Question, ReplyT
from schemas import Usage

_BATCH_SENTENCES = 256
"""Sentences that end a batch: one batch is well under a second of work, so that those behind it are not kept long."""


@dataclass(slots=True)
class _Waiting:
    claims: Claims
    judged: asyncio.Future[list[Judgement]]


class LocalOracle:
    """Asks the local judge; belongs to one event loop, which it never blocks.

    While a batch is judged, the questions that arrive make up the next one; nothing waits for a batch to fill.
    """

    def __init__(self, settings: LocalSettings) -> None:
        from checkers.oracle.local import EmbeddingJudge

        self._judge = EmbeddingJudge(settings)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-judge")
        self._waiting: deque[_Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The local judge's: its models and their version."""
        return self._judge.name

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The judge's grades, and the reply made of them.

        Raises:
            OracleFailed: the question has no claims, or cannot be judged.
        """
        if question.claims is None or question.from_grades is None:
            raise OracleFailed(
                f"the local judge cannot answer '{question.task}': it grades claims, and the question has none; "
                "configure an endpoint as judge",
                cause="judge_failed",
            )
        begun = time.monotonic()
        grades = await self._graded(question.claims)
        reply = question.from_grades(grades)
        return Answer(reply, Usage(calls=1, seconds=time.monotonic() - begun), tuple(grades))

    async def close(self) -> None:
        """Give up what waits, and end the thread once its batch is done."""
        if self._worker is not None:
            self._worker.cancel()
        for waiting in self._waiting:
            waiting.judged.cancel()
        self._waiting.clear()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _graded(self, claims: Claims) -> list[Judgement]:
        waiting = _Waiting(claims, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await waiting.judged

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            claims = [waiting.claims for waiting in batch]
            try:
                results = await loop.run_in_executor(self._thread, self._judge.judge, claims)
            except Exception as error:  # noqa: BLE001 the judge runs model code: whatever it raises is told to those who ask
                _tell_all(batch, OracleFailed(f"the local judge failed: {error}"[:300], cause="judge_failed"))
            else:
                for waiting, grades in zip(batch, results, strict=True):
                    if not waiting.judged.done():
                        waiting.judged.set_result(grades)

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        sentences = 0
        while self._waiting and (not batch or sentences + len(self._waiting[0].claims.sentences) <= _BATCH_SENTENCES):
            waiting = self._waiting.popleft()
            # Whoever asked may have left meanwhile.
            if not waiting.judged.done():
                batch.append(waiting)
                sentences += len(waiting.claims.sentences)
        return batch


def _tell_all(batch: Sequence[_Waiting], error: OracleFailed) -> None:
    for waiting in batch:
        if not waiting.judged.done():
            waiting.judged.set_exception(OracleFailed(error.detail, cause=error.cause))
