"""Theorem 1: the expected accuracy after flips, over phi, measured beside predicted."""

import math
from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from benchmarks.labelling.datasets import Coded, all_strings, balanced, rubric
from benchmarks.labelling.players import NotebookVerifier
from benchmarks.labelling.reproduction import IN
from benchmarks.tables import table
from checkers.draws import seed_of, uniform
from checkers.labelling.challenges import Bits, Verifier
from checkers.labelling.protocol import ROUNDS, Game, Proposal, Turn, lie_bound, paper_lie_bound, play
from checkers.labelling.rubric import no_judge

PHIS = (0.0, 0.3, 0.5, 0.6, 0.9, 1.0)

_ACCURACY = 0.7
_DEVIATIONS = 3


def expected_accuracy(accuracy: float, phi: float, undetected: float) -> float:
    """The share of right labels after flips (theorem 1), on balanced binary data.

    The evaluator lies exactly where it mislabels, and a lie stays undetected with probability `undetected`:
    1 - (1 - a)(1 - phi + phi u). The theorem puts (1/4)^r for u.
    """
    return 1 - (1 - accuracy) * (1 - phi + phi * undetected)


class _Mistaken:
    """Right with a fixed probability, and honest then; it lies exactly where it is wrong (the theorem's assumption)."""

    def __init__(self, strings: Sequence[Coded], *, cheats: bool) -> None:
        """`cheats`: its lies always pass challenge 2; else they fail either."""
        self._coded = {one.x: one for one in strings}
        by_total: dict[Bits, list[Coded]] = {}
        for one in strings:
            by_total.setdefault(one.total, []).append(one)
        self._like = {total: [one.x for one in same] for total, same in by_total.items()}
        self._lies = {
            total: [
                z.x
                for others, them in by_total.items()
                for z in them
                if others != total and (z.bits == same[0].bits) == cheats
            ]
            for total, same in by_total.items()
        }
        self.is_right = True

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        one = self._coded[str(x)]
        choices = (self._like if self.is_right else self._lies)[one.total]
        return Proposal(similar=turn.draw.choice(choices), bit=one.label if self.is_right else 1 - one.label)


async def accuracy(seeds: int) -> bool:
    """Print measured and predicted accuracy; whether they agree within the sampling error."""
    strings = await all_strings(rubric(IN))
    verifier = NotebookVerifier(rubric(IN), no_judge)
    games = {cheats: await _games(strings, verifier, seeds, cheats=cheats) for cheats in (True, False)}
    kept = True
    rows: list[list[object]] = []
    for phi in PHIS:
        measured, predicted, near = _compared(games[True], phi, lie_bound(ROUNDS))
        other, other_predicted, other_near = _compared(games[False], phi, 0.0)
        kept &= near and other_near
        theorem = expected_accuracy(_ACCURACY, phi, paper_lie_bound(ROUNDS))
        note = "" if near and other_near else "APART"
        rows.append([f"{phi:.1f}", measured, predicted, other, other_predicted, theorem, note])
    print(f"Accuracy {_ACCURACY}, three rounds, {seeds} balanced test sets; lies exactly where it is wrong.\n")
    header = ["phi", "lies pass challenge 2", "predicted", "lies fail either", "predicted", "theorem 1", ""]
    print(table(header, rows))
    print(
        "\nPredicted: 1 - (1 - a)(1 - phi + phi u), where u, the share of lies that stay undetected, is (1/2)^3 for\n"
        "lies that pass one challenge and 0 for those that pass none. The theorem has (1/4)^3 for all."
    )
    return kept


async def _games(
    strings: list[Coded], verifier: Verifier, seeds: int, *, cheats: bool
) -> list[tuple[Coded, bool, Game]]:
    player = _Mistaken(strings, cheats=cheats)
    games = []
    for seed in range(seeds):
        for number, entry in enumerate(balanced(strings, Random(f"accuracy {seed}"))):
            one = seed_of("accuracy", cheats, seed, number)
            player.is_right = uniform(one, "right") < _ACCURACY
            games.append((entry, player.is_right, await play(entry.x, player, verifier, seed=one)))
    return games


def _compared(games: Sequence[tuple[Coded, bool, Game]], phi: float, undetected: float) -> tuple[float, float, bool]:
    right = sum(game.bit ^ game.is_flipped(phi) == entry.label for entry, _, game in games)
    measured = right / len(games)
    predicted = expected_accuracy(_ACCURACY, phi, undetected)
    allowed = _DEVIATIONS * math.sqrt(predicted * (1 - predicted) / len(games))
    return measured, predicted, abs(measured - predicted) <= allowed + 1e-12
