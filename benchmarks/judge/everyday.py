"""Everyday answers, written before any judge was run on them: what is decided, and how much of it is right."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.endpoint.forms import ConsistencyForm
from benchmarks.endpoint.rows import DEVELOPED, UNSEEN, Row
from benchmarks.tables import table
from models.settings import JudgeSettings

ANSWERS = {
    "125 answers, some of which were looked at while it was made": DEVELOPED,
    "60 answers, written before any judge saw them": UNSEEN,
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
    return list(zip((row["expected"] for row in rows), asyncio.run(_outcomes(rows)), strict=True))


async def _outcomes(rows: Iterable[dict[str, Any]]) -> list[str]:
    form = ConsistencyForm(JudgeSettings(backend="local"))
    try:
        found: list[str] = []
        for row in rows:
            given = {"passages": row["reference"], "question": row["prompt"], "answer": row["response"]}
            found.append((await form.check(Row(id="everyday", good=False, **given))).outcome)
        return found
    finally:
        await form.close()
