"""The local judge is talked into nothing: no attack is accepted."""

import asyncio
from collections.abc import Sequence

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from models.local.judge import BundledJudge
from models.meter import MeteredJudge
from models.protocol import Answer, Claims, Graded, Grades, ModelFailed
from schemas import Verdict
from tests.attacks.texts import ATTACKS, name_of


class LocalJudge:
    """The local judge, which waits for all attacks and grades them in one batch."""

    version = ""
    self_test = None

    def __init__(self, judge: BundledJudge) -> None:
        self.name = judge.name
        self._judge = judge
        self._all_asked = asyncio.Barrier(len(ATTACKS))
        self._asked: list[Claims] = []
        self._graded: dict[Claims, Graded] = {}

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        self._asked += claims
        await self._all_asked.wait()
        if not self._graded:
            self._graded = dict(zip(self._asked, self._judge.judge(self._asked), strict=True))
        graded = [self._graded[one] for one in claims]
        for one in graded:
            if isinstance(one, ModelFailed):
                raise one
        return Answer(tuple(tuple(one) for one in graded if not isinstance(one, ModelFailed)))

    async def close(self) -> None:
        pass


MOST = 4
"""It holds words against words: of words in other roles, and of two passages that each have half of a claim, it knows
nothing."""


def test_hardly_any_attack_is_accepted():
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS) >= 64
    judge = BundledJudge()
    judge.load()

    async def check_all() -> list[Verdict]:
        models = Models(judge=MeteredJudge(LocalJudge(judge)), record_seconds=3600)
        checker = ConsistencyChecker(ConsistencySettings(), models)
        return await asyncio.gather(*(checker.check(attack) for attack in ATTACKS))

    verdicts = asyncio.run(check_all())
    accepted = [name_of(one) for one, verdict in zip(ATTACKS, verdicts, strict=True) if verdict.outcome == "accept"]
    assert len(accepted) <= MOST, accepted
