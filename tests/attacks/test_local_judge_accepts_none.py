"""The local judge is talked into nothing: no attack is accepted."""

import asyncio

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.replies import Reasons, SentenceReason
from checkers.consistency.settings import ConsistencySettings
from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local import EmbeddingJudge
from checkers.oracle.protocol import Answer, Question, ReplyT
from schemas import Verdict
from tests.support.attacks import ATTACKS, name_of


class LocalOracle:
    """The local judge as an oracle that waits for all attacks and grades them in one batch."""

    def __init__(self, judge: EmbeddingJudge) -> None:
        self.name = judge.name
        self._judge = judge
        self._all_asked = asyncio.Barrier(len(ATTACKS))
        self._asked: list[Claims] = []
        self._graded: dict[Claims, list[Judgement]] = {}

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        self._asked.append(question.claims)
        await self._all_asked.wait()
        if not self._graded:
            self._graded = dict(zip(self._asked, self._judge.judge(self._asked), strict=True))
        grades = self._graded[question.claims]
        said = zip(question.claims.sentences, grades, strict=True)
        entries = [SentenceReason(sentence=sentence, reason=grade.reason) for sentence, grade in said]
        consistent = all(grade.support >= 0.5 for grade in grades)
        return Answer(Reasons(reason=entries, is_consistent=consistent), grades=tuple(grades))

    async def close(self) -> None:
        pass


def test_no_attack_is_accepted():
    judge = EmbeddingJudge()
    judge.load()

    async def check_all() -> list[Verdict]:
        checker = ConsistencyChecker(ConsistencySettings(deadline_seconds=3600), Models(judge=LocalOracle(judge)))
        return await asyncio.gather(*(checker.check(attack) for attack in ATTACKS))

    for attack, verdict in zip(ATTACKS, asyncio.run(check_all()), strict=True):
        judged = [f"{finding.support:.3f} {finding.text}" for finding in verdict.evidence.sentences]
        wrong = f"{name_of(attack)}: wrong is: {attack.metadata['wrong']}"
        assert verdict.outcome == "reject", "\n".join([wrong, *judged])
