"""The forms in which a judge is asked whether an answer holds; each gives a support, 0.5 or more for good."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchmarks.endpoint.rows import Row
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from models.billing import billed
from models.build import build_judge, build_model
from models.judges.forms import Support, odds_of
from models.protocol import Message, Question, YesNo
from models.settings import JudgeSettings
from schemas import Generation, Usage

OPEN = 0.5
"""The support of what a judge leaves undecided."""
_HOURS = 4 * 3600.0


@dataclass(slots=True)
class Kept:
    """Results by form and row in a file of JSON lines, from which an interrupted run goes on."""

    path: Path
    _known: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._known = dict(json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines())

    def get(self, key: str) -> list[float] | None:
        return self._known.get(key)

    def put(self, key: str, values: list[float]) -> list[float]:
        """Keep it, at once on disk."""
        self._known[key] = values
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, values]) + "\n")
        return values


class Form(Protocol):
    """A way to ask about a row."""

    @property
    def version(self) -> str:
        """Changes with the words of its prompts."""

    async def judge(self, row: Row) -> tuple[float | None, Usage]:
        """The row's support and its cost; None where the judge abstains. Raises ModelUnavailable."""

    async def close(self) -> None:
        """Release what is held open."""


class Checked:
    """The consistency checker with the judge that `settings` describe."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._judge = build_judge(settings)
        checked = ConsistencySettings(deadline_seconds=_HOURS)
        self._checker = ConsistencyChecker(checked, Models(judge=self._judge))

    @property
    def version(self) -> str:
        return self._checker.config_digest

    async def judge(self, row: Row) -> tuple[float | None, Usage]:
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
        verdict = await self._checker.check(record)
        if verdict.outcome == "abstain" or verdict.score is None:
            return None, verdict.usage
        # The share of consistent sentences decides, the score ranks.
        score = max(verdict.score, OPEN) if verdict.outcome == "accept" else min(verdict.score, OPEN - 0.001)
        return score, verdict.usage

    async def close(self) -> None:
        await self._judge.close()


class Worded:
    """A prompt of others, with `{document}` and `{claim}` in it: the whole answer as one claim, yes or no."""

    def __init__(self, settings: JudgeSettings, wording: str) -> None:
        self._model = build_model(settings)
        self._wording = wording
        self.version = hashlib.sha256(wording.encode()).hexdigest()[:8]

    async def judge(self, row: Row) -> tuple[float | None, Usage]:
        claim = f"{row.question or ''} {row.answer}".strip()
        words = self._wording.replace("{claim}", claim).replace("{document}", row.passages)
        question = Question("wording", self.version, (Message("user", words),), YesNo, max_tokens=4)
        with billed() as bill:
            odds = await odds_of(self._model, question)
        return Support(odds).degree, bill.usage

    async def close(self) -> None:
        await self._model.close()
