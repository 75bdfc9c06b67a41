"""What a matcher is tried on: each triplet, its control made from its neighbour, the unrelated text it came with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from checkers.retrieval.triplets import Triplet

Kind = Literal["triplet", "control", "unrelated"]
"""`triplet`: the negative of the relation. `control`: the other one's positive, in the cases (1, 2), (3, 4) and so on
whose bases differ: texts without the relation (paper, section 4.2). `unrelated`: the one that came with the triplet."""

KINDS: tuple[Kind, ...] = get_args(Kind)

Groups = Mapping[str, Sequence[Triplet]]
"""Triplets by relation, or by any other name that they shall be counted under."""


@dataclass(frozen=True, slots=True)
class Case:
    """Right is who finds `positive` closer to `base` than `negative`."""

    base: str
    positive: str
    negative: str


def cases(triplets: Sequence[Triplet], kind: Kind) -> Iterator[Case]:
    """The cases of this kind, in the triplets' order."""
    for place in range(len(triplets)):
        found = case(triplets, place, kind)
        if found is not None:
            yield found


def case(triplets: Sequence[Triplet], place: int, kind: Kind) -> Case | None:
    """The case of this kind that the triplet at `place` gives; None where it gives none."""
    triplet = triplets[place]
    negative: str | None = triplet.negative
    if kind == "unrelated":
        negative = triplet.unrelated
    elif kind == "control":
        negative = _neighbours_positive(triplets, place)
    return None if negative is None else Case(triplet.base, triplet.positive, negative)


def _neighbours_positive(triplets: Sequence[Triplet], place: int) -> str | None:
    """None for an odd one at the end, and where the neighbour has the same base: its positive would be right too."""
    neighbour = place ^ 1
    if neighbour == len(triplets) or triplets[neighbour].base == triplets[place].base:
        return None
    return triplets[neighbour].positive
