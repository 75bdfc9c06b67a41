"""Flipping the labels of failed games (paper, algorithm 1): phi is the probability to flip."""

from dataclasses import dataclass

from checkers.draws import uniform


@dataclass(frozen=True, slots=True)
class Flipped:
    """A label after the flip was drawn."""

    bit: int
    flipped: bool


def flip(bit: int, *, succeeded: bool, phi: float, seed: str) -> Flipped:
    """The opposite of `bit` with probability `phi` where the game was lost, `bit` itself otherwise.

    The values that the paper prints are probabilities to keep.
    """
    flipped = not succeeded and uniform(seed, "flip") < phi
    return Flipped(1 - bit if flipped else bit, flipped)
