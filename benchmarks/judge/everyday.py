"""Everyday answers, written before any judge was run on them: what is decided, and how much of it is right."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable

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
        answers = asyncio.run(_answers(file.read_text(encoding="utf-8").splitlines()))
        counts = Counter(answers)
        lines: list[list[object]] = [
            [f"expected: {expected}", *(counts[expected, outcome] for outcome in OUTCOMES)] for expected in OUTCOMES
        ]
        print(f"\n{name}\n\n{table(['answers', *OUTCOMES], lines)}")
        decided = [expected == outcome for expected, outcome in answers if outcome != "abstain"]
        print(f"\ndecided: {len(decided)} of {len(answers)}; right: {sum(decided)} ({sum(decided) / len(decided):.1%})")


async def _answers(lines: Iterable[str]) -> list[tuple[str, str]]:
    """The expected outcome of each answer, and the checker's."""
    form = ConsistencyForm(JudgeSettings(backend="local"))
    found: list[tuple[str, str]] = []
    try:
        for row in map(json.loads, lines):
            given = {"passages": row["reference"], "question": row["prompt"], "answer": row["response"]}
            found.append((row["expected"], (await form.check(Row(id="everyday", good=False, **given))).outcome))
        return found
    finally:
        await form.close()
