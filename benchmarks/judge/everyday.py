"""Everyday answers, written before any judge was run on them: what is decided, and how much of it is right."""

import asyncio
import json
from collections import Counter
from pathlib import Path

from benchmarks.tables import table
from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from models.build import build_judge
from models.settings import JudgeSettings
from schemas import Generation

ANSWERS = {
    "125 answers, some of which were looked at while it was made": Path(__file__).parent / "everyday.jsonl",
    "60 answers, written before any judge saw them": Path(__file__).parents[1] / "endpoint" / "answers.jsonl",
}
OUTCOMES = ("accept", "reject", "abstain")


def run_everyday() -> None:
    """A confusion table of the checker's outcomes for each file."""
    for name, file in ANSWERS.items():
        answers = everyday_answers(file)
        counts = Counter(answers)
        lines: list[list[object]] = [
            [f"expected: {expected}", *(counts[expected, outcome] for outcome in OUTCOMES)] for expected in OUTCOMES
        ]
        print(f"\n{name}\n\n{table(['answers', *OUTCOMES], lines)}")
        decided = [expected == outcome for expected, outcome in answers if outcome != "abstain"]
        print(f"\ndecided: {len(decided)} of {len(answers)}; right: {sum(decided)} ({sum(decided) / len(decided):.1%})")


def everyday_answers(file: Path) -> list[tuple[str, str]]:
    """The expected outcome of each answer, and the checker's."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    records = [
        Generation(
            kind="generation",
            source="everyday",
            model="nobody",
            id=f"everyday-{number}",
            prompt=row["prompt"],
            response=row["response"],
            reference=row["reference"],
            task="answer" if row["prompt"] else "summary",
        )
        for number, row in enumerate(rows)
    ]
    return list(zip((row["expected"] for row in rows), asyncio.run(_outcomes(records)), strict=True))


async def _outcomes(records: list[Generation]) -> list[str]:
    settings = JudgeSettings.model_validate({"backend": "local"})
    judge = build_judge(settings)
    try:
        checker = ConsistencyChecker(ConsistencySettings(deadline_seconds=3600), Models(judge=judge))
        return [verdict.outcome for verdict in await asyncio.gather(*(checker.check(one) for one in records))]
    finally:
        await judge.close()
