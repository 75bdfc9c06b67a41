"""The share of lies that stay undetected after r rounds, against (1/2)^r and the paper's (1/4)^r."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from pydantic import JsonValue

from benchmarks.labelling.datasets import Coded, all_strings, balanced, rubric
from benchmarks.labelling.players import Lie, NotebookVerifier, search
from benchmarks.labelling.reproduction import IN, OUT
from benchmarks.tables import table
from checkers.draws import seed_of
from checkers.labelling.challenges import Verifier
from checkers.labelling.protocol import Proposal, Turn, lie_bound, paper_lie_bound, play
from checkers.labelling.rubric import no_judge

ROUNDS = range(1, 7)

_GAMES = 4000
_DEVIATIONS = 3
_MOST_DRAWS = 100_000

Way = Literal["strings", "protocol"]
"""The comparison: as in the authors' notebooks, or as in the protocol."""

Make = Callable[[str, int, Turn], Awaitable[JsonValue]]
"""From x, its label and the round to x'."""


@dataclass(slots=True)
class Kind:
    """A kind of evaluator."""

    name: str
    way: Way
    make: Make
    strings: Sequence[Coded]
    is_always_lying: bool = True
    """True if every x' of its fails a challenge, so that the bound speaks of it."""
    label: int = 0

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        return Proposal(similar=await self.make(str(x), self.label, turn), bit=self.label)


async def bounds() -> bool:
    """Print the shares; whether no kind that always lies exceeds (1/2)^r by more than sampling does."""
    of = rubric(IN)
    verifiers: dict[Way, Verifier] = {"strings": NotebookVerifier(of, no_judge), "protocol": Verifier(of, no_judge)}
    rows: list[list[object]] = []
    kept = True
    for kind in await _kinds(verifiers):
        found, lucky = await _undetected(kind, verifiers[kind.way])
        over = [
            share > lie_bound(r) + _DEVIATIONS * math.sqrt(lie_bound(r) * (1 - lie_bound(r)) / _GAMES)
            for r, share in zip(ROUNDS, found, strict=True)
        ]
        broken = kind.is_always_lying and any(over)
        kept &= not broken
        rows.append([kind.name, kind.way, *found, lucky, "OVER (1/2)^r" if broken else ""])
    rows.append(["bound (1/2)^r", "", *(lie_bound(r) for r in ROUNDS), None, ""])
    rows.append(["paper (1/4)^r", "", *(paper_lie_bound(r) for r in ROUNDS), None, ""])
    print(f"Share of {_GAMES} lies that stay undetected after r rounds, in-phenomenon rubric.\n")
    print(table(["evaluator", "way", *(f"r = {r}" for r in ROUNDS), "x' like x", ""], rows))
    print(
        "\nx' like x: the share of rounds in which x' would pass either challenge: no lie then, but luck. The bound\n"
        "is on those that never are: the rows with 0, among them the paper's lies with such luck taken out."
    )
    return kept


async def _kinds(verifiers: dict[Way, Verifier]) -> list[Kind]:
    strings = await all_strings(rubric(IN))
    whole = verifiers["strings"]
    kinds = []
    lies: tuple[tuple[str, str, Lie | None], ...] = (
        ("sigma unknown", IN, "sigma"),
        ("f unknown", IN, "f"),
        ("generator replaced", IN, "replaced"),
        ("another rubric", OUT, None),
    )
    for name, by, lie in lies:
        made = search(Verifier(rubric(by), no_judge), lie).similar
        kinds.append(Kind(name, "strings", made, strings, is_always_lying=False))
        kinds.append(Kind(f"{name}, no luck", "strings", _without_luck(made, whole), strings))
    kinds.append(Kind("echo of x", "protocol", _among({one.x: [one.x] for one in strings}), strings))
    by_bits: dict[object, list[Coded]] = {}
    for one in strings:
        by_bits.setdefault(one.bits, []).append(one)
    second = _among({one.x: [z.x for z in by_bits[one.bits] if z.total != one.total] for one in strings})
    kinds.append(Kind("always passes challenge 2", "strings", second, strings))
    first = await _passing_first_only(strings, verifiers["protocol"])
    eligible = [one for one in strings if one.x in first]
    kinds.append(Kind("always passes challenge 1", "protocol", _among(first), eligible))
    return kinds


def _among(choices: dict[str, list[str]]) -> Make:
    async def make(x: str, _: int, turn: Turn) -> JsonValue:
        return turn.draw.choice(choices[x])

    return make


def _without_luck(made: Make, verifier: Verifier) -> Make:
    async def make(x: str, label: int, turn: Turn) -> JsonValue:
        for _ in range(_MOST_DRAWS):
            similar = await made(x, label, turn)
            if not await verifier.are_similar(x, similar):
                return similar
        raise RuntimeError(f"every x' for {x} is like it")

    return make


async def _passing_first_only(strings: Sequence[Coded], verifier: Verifier) -> dict[str, list[str]]:
    """For those x for which there is one: strings with a part that is like x, and criteria that are not x's."""
    by_part: dict[object, list[Coded]] = {}
    for one in strings:
        for part in rubric(IN).relevant(one.x)[1:]:
            (total,) = await verifier.total(part)
            by_part.setdefault(total, []).append(one)
    found: dict[str, list[str]] = {}
    for one in strings:
        for candidate in by_part.get(one.total, [])[:200]:
            if candidate.bits == one.bits:
                continue
            if (await verifier.check("permutation", one.x, candidate.x)).passed:
                found.setdefault(one.x, []).append(candidate.x)
    return found


async def _undetected(kind: Kind, verifier: Verifier) -> tuple[list[float], float]:
    """The share of games that are still not lost after each number of rounds, and how often x' was like x."""
    has_both = len({one.label for one in kind.strings}) == 2
    entries = balanced(list(kind.strings), Random(7), _GAMES) if has_both else list(kind.strings)
    survived = [0] * len(ROUNDS)
    lucky = played = 0
    for number in range(_GAMES):
        entry = entries[number % len(entries)]
        kind.label = entry.label
        game = await play(entry.x, kind, verifier, seed=seed_of(kind.name, number), rounds=ROUNDS[-1])
        passed = sum(one.finding.passed for one in game.rounds)
        for r in ROUNDS:
            survived[r - 1] += passed >= r
        played += len(game.rounds)
        for one in game.rounds:
            lucky += await verifier.are_similar(entry.x, one.proposal.similar)
    return [count / _GAMES for count in survived], lucky / played
