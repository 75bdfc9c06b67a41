"""A cross-encoder of sentence-transformers that matches texts, asked as a judge is: it grades."""

import time
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from checkers.oracle.claims import Judgement
from checkers.oracle.model_thread import ModelThread
from checkers.oracle.protocol import Answer, OracleFailed, Question, ReplyT
from schemas import Usage

if TYPE_CHECKING:
    from checkers.retrieval.matching.pair_model import PairModel


class CrossEncoderOracle:
    """Grades claims by a cross-encoder, on a thread of its own; belongs to one event loop, which it never blocks.

    The model is loaded with the first question. Where it cannot be, every question fails with the reason.
    """

    def __init__(self, path: str) -> None:
        """Raises ImportError where the model's library is not installed."""
        if find_spec("sentence_transformers") is None:
            raise ImportError("sentence-transformers, which a cross-encoder needs, is not installed")
        self._path = path
        self._thread = ModelThread(self.name, partial(_load, path))

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
        model = await self._thread.model()
        begun = time.monotonic()
        try:
            scores = await self._thread.run(partial(model.scores, question.claims))
        except Exception as error:
            raise OracleFailed(f"{self.name} failed: {error}"[:300], cause="judge_failed") from error
        grades = tuple(Judgement(score, "", None) for score in scores)
        return Answer(question.from_grades(grades), Usage(calls=1, seconds=time.monotonic() - begun), grades)

    async def close(self) -> None:
        """End the thread once its work is done."""
        self._thread.close()


def _load(path: str) -> "PairModel":
    from checkers.retrieval.matching.pair_model import load_pair_model

    return load_pair_model(path)
