"""The test of a no under simulated subjects: faults that it sees, and faults that it does not.

Simulated subjects are put to the equivalence checker itself; only the model behind it is made up. Each run is a
record of its own, with draws of its own.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

from benchmarks.tables import table
from checkers.checker import Models
from checkers.equivalence.checker import EquivalenceChecker
from checkers.equivalence.settings import EquivalenceSettings
from models.protocol import Answer, Question, ReplyT
from schemas import EquivalenceEvidence, Paraphrase, Usage

SUBJECT = "simulated"

APART = ("The miller sold his last three sacks of flour.", "The old ferry sank in the storm last night.")
ALIKE = ("The old ferry sank in the storm last night.", "Last night the old ferry went down in the storm.")

FLOUR = (
    "The miller sold the last three of his sacks of flour.",
    "The last three sacks of flour were sold by the miller.",
    "His last three sacks of flour were sold by the miller.",
    "The miller found a buyer for his last three sacks of flour.",
    "Three sacks of flour, his last, were sold by the miller.",
)
FERRY = (
    "The old ferry sank last night in the storm.",
    "In the storm last night, the old ferry sank.",
    "During last night's storm the old ferry sank.",
    "The storm last night sank the old ferry.",
    "Last night's storm sent the old ferry to the bottom.",
)
FERRY_AGAIN = (
    "The old ferry went down last night in the storm.",
    "In last night's storm the old ferry went down.",
    "The old ferry was lost in the storm last night.",
    "During the storm last night the old ferry went down.",
    "Last night the storm took the old ferry down.",
)

Says = Callable[[str, str], bool]
"""True if two texts mean the same."""


class Simulated:
    """A subject that answers by a rule; its paraphrases are given."""

    name = f"{SUBJECT}/1"

    def __init__(self, made: Mapping[str, Sequence[str]], says: Says) -> None:
        self._made = made
        self._says = says

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """Answers without a network."""
        if question.task == "equivalence.paraphrases":
            (sentence,) = (one for one in self._made if f"\n{one}\n" in question.messages[-1].content)
            reply: dict[str, object] = {"paraphrases": list(self._made[sentence])}
        else:
            same = self._says(*_texts(question.messages[-1].content))
            reply = {"explanation": "By a rule.", "answer": "yes" if same else "no"}
        return Answer(question.reply.model_validate(reply), Usage(calls=1))

    async def close(self) -> None:
        """Nothing is open."""


def _texts(content: str) -> tuple[str, str]:
    """The texts in the two fences of a question."""
    lines = content.split("\n")
    opened = [number for number, line in enumerate(lines) if line.startswith("<") and not line.startswith("</")]
    return lines[opened[0] + 1], lines[opened[1] + 1]


def _about(text: str) -> str:
    """The subject of a text of these, for a model that knows."""
    return "flour" if "flour" in text or "sacks" in text or "miller" in text else "ferry"


def _knows(first: str, second: str) -> bool:
    return _about(first) == _about(second)


def subjects(coin: Random) -> dict[str, tuple[tuple[str, str], Says]]:
    """By what they do: the sentences that they are wrongly or rightly said no about, and their rule."""
    return {
        "tosses a coin at every question": (ALIKE, lambda first, second: coin.random() < 0.5),
        "is consistent, and right": (APART, _knows),
        "knows better than its no": (ALIKE, _knows),
        "always says no": (ALIKE, lambda first, second: False),
    }


async def simulate(sentences: tuple[str, str], says: Says, *, runs: int) -> Counter[str]:
    """Outcomes, and categories of the tests."""
    made = {APART[0]: FLOUR, APART[1]: FERRY} if sentences == APART else {ALIKE[0]: FERRY, ALIKE[1]: FERRY_AGAIN}
    subject = Simulated(made, says)
    checker = EquivalenceChecker(EquivalenceSettings(), Models(judge=subject, subjects={SUBJECT: subject}))
    found: Counter[str] = Counter()
    for number in range(runs):
        record = Paraphrase(
            kind="paraphrase",
            id=f"run-{number}",
            source="simulation",
            model=SUBJECT,
            sentence1=sentences[0],
            sentence2=sentences[1],
            answer=False,
        )
        verdict = await checker.check(record)
        found[verdict.outcome] += 1
        if isinstance(verdict.evidence, EquivalenceEvidence) and verdict.evidence.test is not None:
            found[verdict.evidence.test.category] += 1
    await checker.close()
    return found


def print_simulated(runs: int) -> bool:
    """Print how often each subject passes; False if a rate is not what it must be."""
    rows: list[list[object]] = []
    right = True
    begun = time.monotonic()
    for name, (sentences, says) in subjects(Random(5)).items():
        found = asyncio.run(simulate(sentences, says, runs=runs))
        expected = {"tosses a coin at every question": 0.5, "knows better than its no": 0.0}.get(name, 1.0)
        error = math.sqrt(expected * (1 - expected) / runs)
        passed = found["accept"] / runs
        right = right and abs(passed - expected) <= 4 * error and found["abstain"] == 0
        categories = ", ".join(f"{one} {found[one]}" for one in ("AI", "I", "A", "none") if found[one])
        rows.append([name, found["accept"], f"{passed:.5f}", f"{expected:.5f}", f"{error:.5f}", categories])
    header = ["a subject that", f"passes of {runs}", "share", "expected", "standard error", "categories"]
    print(table(header, rows))
    print(
        "\nThe test sees contradictions, and nothing else. A subject that always says no has none and passes always: "
        "so a half is the chance of one that tosses coins, and no bound on the error of a verdict."
    )
    print(f"\n{time.monotonic() - begun:.0f} s")
    return right
