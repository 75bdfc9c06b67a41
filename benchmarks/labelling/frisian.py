"""The paper's West Frisian half: a plain-language rubric, with the recorded bits replayed as the judge's answers."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from benchmarks.labelling.datasets import FRISIAN_CRITERIA, Frisian, frisian, rubric
from benchmarks.tables import table
from checkers.labelling.challenges import Challenge, ChallengeFinding, Verifier
from checkers.labelling.protocol import Proposal, Turn, play
from checkers.labelling.rubric import Rubric

EXPLAINED = {
    "fy-163": "the answer breaks off in the middle of a word; its label is 0, but the recorded c4 (complete) is 1",
}
"""Entries whose label is not what the aggregator makes of the recorded bits, and why."""


class Recorded:
    """Answers each criterion of one entry as it was recorded; refuses questions about anything else."""

    def __init__(self, of: Rubric, entry: Frisian) -> None:
        asked = [one.condition.questions[0].ask for one in of.criteria]
        self._answers = dict(zip(asked, entry.bits, strict=True))
        self._shown: tuple[JsonValue, ...] = (entry.output, datapoint(entry))

    async def __call__(self, criterion: str, x: JsonValue) -> bool:
        if x not in self._shown:
            raise ValueError("a question about something else than the recorded entry")
        return bool(self._answers[criterion])


class ClaimsVerifier(Verifier):
    """Compares its bits of x with those that the labeller claims, as the notebooks do; x' is not judged.

    The claimed bits stand in the place of x'.
    """

    async def check(self, challenge: Challenge, x: JsonValue, similar: JsonValue) -> ChallengeFinding:
        (bits,) = await self.bits(x)
        return ChallengeFinding(fault=None if list(bits) == similar else "other_encoding", encoding=bits)


class Claims(NamedTuple):
    """A labeller that claims bits of x."""

    claimed: tuple[int, ...]

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        return Proposal(similar=list(self.claimed), bit=int(all(self.claimed)))


def datapoint(entry: Frisian) -> JsonValue:
    """An entry as the rubric takes it."""
    return {"prompt": entry.prompt, "output": entry.output}


async def agreement(data: Path) -> bool:
    """Print how encodings, labels and the aggregator agree with what was recorded; whether all else is explained."""
    of = rubric("west-frisian")
    entries = frisian(data)
    names = [one.name for one in of.criteria]
    in_order = all(name.startswith(recorded) for name, recorded in zip(names, FRISIAN_CRITERIA, strict=True))
    labels: Counter[tuple[object, int]] = Counter()
    encoded = honest = boasting = 0
    others = []
    for entry in entries:
        recorded = Recorded(of, entry)
        bits = await of.bits(datapoint(entry), recorded)
        # A criterion that cannot change the label any more is not asked for by bits alone; the total rubric asks all.
        total = await of.total_bits(datapoint(entry), recorded)
        encoded += bits == entry.bits == total
        label = of.label(bits)
        labels[label, entry.label] += 1
        if label != entry.label:
            others.append(entry.id)
        verifier = ClaimsVerifier(of, recorded)
        for claimed in (entry.bits, (1,) * len(entry.bits)):
            game = await play(datapoint(entry), Claims(claimed), verifier, seed=str(Random(entry.id).random()))
            honest += game.succeeded and claimed is entry.bits
            boasting += game.succeeded and claimed is not entry.bits
    count = len(entries)
    rows: list[list[object]] = [
        ["criteria in the recorded order", str(in_order)],
        ["encodings as recorded", f"{encoded} of {count}"],
        ["labels as recorded", f"{count - len(others)} of {count}"],
        ["notebooks' success of who claims the recorded bits", f"{honest} of {count}"],
        ["notebooks' success of who claims that all criteria hold", f"{boasting} of {count}"],
    ]
    print(table(["", ""], rows))
    for one in others:
        print(f"\n{one}: {EXPLAINED.get(one, 'NOT EXPLAINED')}")
    return in_order and encoded == honest == count and set(others) <= EXPLAINED.keys()
