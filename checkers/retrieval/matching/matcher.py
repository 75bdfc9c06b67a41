"""Asking about a query and stored texts: a judge that reads answers all at once, one that grades a direction a time."""

from collections.abc import Sequence

from checkers.concurrent import gather_or_cancel
from checkers.oracle.claims import Judgement
from checkers.oracle.protocol import Oracle, OracleFailed, Question
from checkers.retrieval.matching.comparison import IDENTICAL, Comparison
from checkers.retrieval.matching.replies import Direction, Replies
from checkers.retrieval.questions import Questions, Store, reversed_for
from schemas import DirectionFinding


class Matcher:
    """Compares a query with stored texts, both ways."""

    def __init__(self, judge: Oracle, questions: Questions) -> None:
        self._judge = judge
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
        question = self._questions.about(store, query, texts)
        answer = await self._judge.ask(question)
        if answer.grades is None:
            return [Comparison(_said(one.text_to_query), _said(one.query_to_text)) for one in answer.reply.texts]
        backward = await gather_or_cancel(self._grade(reversed_for(question, query, text)) for text in texts)
        return [
            Comparison(_graded(to_query), _graded(to_text))
            for to_query, to_text in zip(backward, answer.grades, strict=True)
        ]

    async def _grade(self, question: Question[Replies]) -> Judgement:
        answer = await self._judge.ask(question)
        if answer.grades is None:
            raise OracleFailed("the judge graded one direction and not the other", cause="judge_unusable")
        return answer.grades[0]


def _said(direction: Direction) -> DirectionFinding:
    return DirectionFinding(score=float(direction.follows), reason=direction.reason)


def _graded(judgement: Judgement) -> DirectionFinding:
    return DirectionFinding(score=judgement.support, reason=judgement.reason or None, passage=judgement.passage)


def _spaced(text: str) -> str:
    return " ".join(text.split())
