"""The forms in which a judge is asked whether an answer holds; each gives a support, 0.5 or more for good."""

import hashlib

from benchmarks.endpoint.rows import Row
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from models.build import build_judge, build_model
from models.judges.prompted import Support
from models.protocol import Message, Question, YesNo, odds_of
from models.settings import JudgeSettings
from models.work import Work
from schemas import Generation, Usage, Verdict

UNDECIDED = 0.5
"""The support of an answer about which a judge abstains."""
_HOURS = 4 * 3600.0


class ConsistencyForm:
    """The consistency checker with the judge that `settings` describe."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._judge = build_judge(settings)
        self._checker = ConsistencyChecker(ConsistencySettings(), Models(judge=self._judge, record_seconds=_HOURS))

    @property
    def version(self) -> str:
        """Changes with the words of its prompts."""
        return self._checker.config_digest

    async def check(self, row: Row) -> Verdict:
        """The verdict on a row. Raises ModelUnavailable."""
        record = Generation(
            kind="generation",
            source="benchmark",
            model="nobody",
            id=row.id,
            prompt=row.question,
            response=row.answer,
            reference=row.passages,
            task="paraphrase" if row.pair else "answer" if row.question else "summary",
        )
        return await self._checker.check(record)

    async def judge(self, row: Row) -> tuple[float | None, Usage]:
        """The row's support and its cost; None where the judge abstains. Raises ModelUnavailable."""
        verdict = await self.check(row)
        if verdict.outcome == "abstain" or verdict.score is None:
            return None, verdict.usage
        # The share of consistent sentences decides, the score ranks.
        accepted = verdict.outcome == "accept"
        return max(verdict.score, UNDECIDED) if accepted else min(verdict.score, UNDECIDED - 0.001), verdict.usage

    async def close(self) -> None:
        await self._judge.close()


class WordingForm:
    """A prompt of others, with `{document}` and `{claim}` in it: the whole answer as one claim, yes or no."""

    def __init__(self, settings: JudgeSettings, wording: str) -> None:
        self._model = build_model(settings)
        self._wording = wording
        self.version = hashlib.sha256(wording.encode()).hexdigest()[:8]

    async def judge(self, row: Row) -> tuple[float | None, Usage]:
        """As of the other form."""
        claim = f"{row.question or ''} {row.answer}".strip()
        words = self._wording.replace("{claim}", claim).replace("{document}", row.passages)
        question = Question("wording", self.version, (Message("user", words),), YesNo, max_tokens=4)
        with Work() as bill:
            odds = odds_of(await self._model.ask(question))
        return Support(odds).judgement.support, bill.usage

    async def close(self) -> None:
        await self._model.close()


Form = ConsistencyForm | WordingForm
