"""A cross-encoder of sentence-transformers that matches texts, asked as a judge is: it grades."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from checkers.oracle.claims import Judgement
from checkers.oracle.protocol import Answer, OracleFailed, Question, ReplyT, StillLoading
from schemas import Usage

if TYPE_CHECKING:
    from checkers.retrieval.matching.pair_model import PairModel

_PATIENCE_SECONDS = 10.0
"""How long a question waits for the model to be loaded, well within a check's deadline; then the record is held."""

_ASK_AGAIN_SECONDS = 0.5


class CrossEncoderOracle:
    """Grades claims by a cross-encoder, on a thread of its own; belongs to one event loop, which it never blocks.

    The model is loaded with the first question. Where it cannot be, every question fails with the reason.
    """

    def __init__(self, path: str) -> None:
        """Raises ImportError where the model's library is not installed."""
        if find_spec("sentence_transformers") is None:
            raise ImportError("sentence-transformers, which a cross-encoder needs, is not installed")
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cross-encoder")
        self._loading: asyncio.Future[PairModel] | None = None

    @property
    def name(self) -> str:
        """The model's, as verdicts name their judge."""
        return f"cross-encoder/{self._path}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """A grade for each of the question's claims; the reply itself is empty.

        Raises:
            StillLoading: the model is not there yet.
            OracleFailed: it cannot be loaded, or failed on these texts.
        """
        if question.claims is None or question.from_grades is None:
            raise OracleFailed(f"{self.name} grades claims, and '{question.task}' has none", cause="judge_failed")
        model = await self._loaded()
        begun = time.monotonic()
        try:
            scores = await self._run(model.scores, question.claims)
        except Exception as error:
            raise OracleFailed(f"{self.name} failed: {error}"[:300], cause="judge_failed") from error
        grades = tuple(Judgement(score, "", None) for score in scores)
        return Answer(question.from_grades(grades), Usage(calls=1, seconds=time.monotonic() - begun), grades)

    async def close(self) -> None:
        """End the thread once its work is done."""
        if self._loading is not None:
            self._loading.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _loaded(self) -> "PairModel":
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._run(_load, self._path))
        await asyncio.wait({self._loading}, timeout=_PATIENCE_SECONDS)
        if not self._loading.done():
            raise StillLoading(f"{self.name} is being loaded", retry_after=_ASK_AGAIN_SECONDS)
        fault = self._loading.exception()
        if fault is not None:
            raise OracleFailed(f"{fault}"[:300], cause="judge_failed") from fault
        return self._loading.result()

    def _run(self, *call: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._thread, *call)


def _load(path: str) -> "PairModel":
    from checkers.retrieval.matching.pair_model import load_pair_model

    return load_pair_model(path)
