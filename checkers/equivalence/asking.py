"""Whoever answers the questions of a check: the subject, or the judge for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from checkers.checker import Undecidable
from checkers.concurrent import gather_or_cancel
from checkers.equivalence.opinions import Opinion
from checkers.equivalence.questions import Questions
from checkers.oracle.claims import Claims, in_sentences
from checkers.oracle.protocol import Answer, Oracle, OracleFailed, Question, ReplyT, grader_of
from schemas.evidence import AbstentionCause

if TYPE_CHECKING:
    from checkers.equivalence.alignment import PhrasePair

Role = Literal["subject", "judge"]

_OF_A_SUBJECT: dict[str, AbstentionCause] = {"judge_failed": "subject_failed", "judge_unusable": "subject_unusable"}


class Respondent:
    """Asks on behalf of one check; all its methods raise what an oracle raises.

    Raises:
        Undecidable: the subject gave no usable answer.
    """

    def __init__(self, oracle: Oracle, questions: Questions, role: Role) -> None:
        self.role: Role = role
        self._oracle = oracle
        self._grader = grader_of(oracle)
        self._questions = questions

    async def phrases(self, sentences: tuple[str, str], pairs: Sequence[PhrasePair]) -> list[Opinion]:
        """Whether the phrases of each pair, which stand in these sentences, could mean the same."""
        if self._grader is not None and pairs:
            around = in_sentences(*sentences)
            claims = [Claims(pair.first, (pair.second,), "phrase", around) for pair in pairs]
            grades = (await self._grader.grade("equivalence.phrase", claims)).reply
            return [Opinion(grade.supported, grade.reason) for (grade,) in grades]
        return await gather_or_cancel(self._phrase(pair) for pair in pairs)

    async def paraphrases(self, sentence: str) -> tuple[str, ...]:
        """The sentence in other words."""
        answer = await self._ask(self._questions.paraphrases(sentence))
        return tuple(answer.reply.paraphrases)

    async def equivalent(self, first: str, second: str) -> Opinion:
        """Whether two sentences mean the same."""
        answer = await self._ask(self._questions.equivalent(first, second))
        return Opinion(answer.reply.answer == "yes", answer.reply.explanation)

    async def _phrase(self, pair: PhrasePair) -> Opinion:
        answer = await self._ask(self._questions.phrase(pair.first, pair.second))
        return Opinion(answer.reply.answer == "yes", answer.reply.explanation)

    async def _ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        try:
            return await self._oracle.ask(question)
        except OracleFailed as error:
            if self.role == "judge" or error.cause not in _OF_A_SUBJECT:
                raise
            name = self._oracle.name
            raise Undecidable(_OF_A_SUBJECT[error.cause], f"{name}: {error.detail}") from error
