"""Comparing a query with stored texts, both ways: one question to a judge that reads, or claims for one that grades."""

from collections.abc import Sequence

from checkers.oracle.claims import Judgement
from checkers.oracle.protocol import Oracle, grader_of
from checkers.retrieval.matching.comparison import IDENTICAL, Comparison
from checkers.retrieval.matching.replies import Direction
from checkers.retrieval.questions import Questions, Store, claims_about
from schemas import DirectionFinding


class Matcher:
    """Compares a query with stored texts, both ways."""

    def __init__(self, judge: Oracle, questions: Questions) -> None:
        self._judge = judge
        self._grader = grader_of(judge)
        self._questions = questions

    async def compare(self, store: Store, query: str, texts: Sequence[str]) -> tuple[Comparison, ...]:
        """A comparison for each of `texts`, in order; texts that are equal are asked about once.

        Raises:
            OracleFailed: whoever is asked gave no usable answer.
            OracleUnavailable: its endpoint is down, or its model still being loaded.
        """
        same = _spaced(query)
        distinct = list(dict.fromkeys(text for text in texts if _spaced(text) != same))
        found = dict(zip(distinct, await self._asked(store, query, distinct), strict=True)) if distinct else {}
        return tuple(found.get(text, IDENTICAL) for text in texts)

    async def _asked(self, store: Store, query: str, texts: Sequence[str]) -> list[Comparison]:
        if self._grader is not None:
            answer = await self._grader.grade(f"retrieval.{store}", claims_about(query, texts))
            to_texts, *to_query = answer.reply
            return [
                Comparison(_graded(back), _graded(there)) for (back,), there in zip(to_query, to_texts, strict=True)
            ]
        reply = (await self._judge.ask(self._questions.about(store, query, texts))).reply
        return [Comparison(_said(one.text_to_query), _said(one.query_to_text)) for one in reply.texts]


def _said(direction: Direction) -> DirectionFinding:
    return DirectionFinding(score=float(direction.follows), reason=direction.reason)


def _graded(judgement: Judgement) -> DirectionFinding:
    return DirectionFinding(score=judgement.support, reason=judgement.reason or None, passage=judgement.passage)


def _spaced(text: str) -> str:
    return " ".join(text.split())
