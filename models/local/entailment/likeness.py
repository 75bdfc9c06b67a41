"""The degree to which one word can stand for another, 0 to 1: by their vectors, and by what figures imply."""

from collections.abc import Iterator

import numpy as np

from models.local.encoded_text import Numbers
from models.local.entailment.sides import Side, equal
from models.text.numbers import ROUNDING, Quantity
from models.text.opposites import opposed

_FLOORS = frozenset("more over above least exceeding exceeded beyond".split())
_CEILINGS = frozenset("less fewer under below most up".split())
_EARLIER, _LATER = frozenset({"before", "until", "by"}), frozenset({"after", "since"})

_REACH = 2
"""Words before a figure in which its bound is said: "more than", "at least"."""

_FARTHEST = 1.5
"""By how much a figure may pass its bound: farther off it is likelier the figure of something else."""


def bounds(hypothesis: Side, premise: Side) -> Iterator[tuple[int, int]]:
    """Figures of the hypothesis with a figure of the premise each that bears them out without being the same."""
    for row, said in enumerate(hypothesis.values):
        if said is None:
            continue
        before = set(hypothesis.lower[max(0, row - _REACH) : row])
        for column, true in enumerate(premise.values):
            dated = _year(hypothesis, row)
            if true is not None and dated == _year(premise, column) and _follows(said, true, before, dated=dated):
                yield row, column


def _follows(said: Quantity, true: Quantity, before: set[str], *, dated: bool) -> bool:
    if dated:
        return bool((before & _EARLIER and true.value < said.value) or (before & _LATER and true.value > said.value))
    if before & _FLOORS and said.value < true.value <= said.value * _FARTHEST:
        return True
    if before & _CEILINGS and said.value / _FARTHEST <= true.value < said.value:
        return True
    return said.rounded and abs(said.value - true.value) <= ROUNDING * abs(true.value)


def _year(text: Side, index: int) -> bool:
    word = text.surfaces[index]
    return len(word) == 4 and word.isdigit() and word[0] in "12"


NEAREST, FARTHEST = 0.8, 0.45
"""Cosines in context from which two different words say the same, and below which nothing is shared."""

BEST = 0.9
"""The worth of the closest different word by its vector alone."""

ASKED = 3
"""Closest words of the premise of which none may be the opposite, a word."""


def likeness(hypothesis: Side, premise: Side) -> Numbers:
    """(words of the hypothesis, words of the premise); words of grammar are like themselves alone."""
    cosine = np.round(hypothesis.vectors @ premise.vectors.T, 3)
    nearness = np.clip((cosine - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
    both = hypothesis.content[:, None] & premise.content[None, :]
    figures = hypothesis.figure[:, None] | premise.figure[None, :]
    like = np.where(both & ~figures, BEST * nearness, 0.0).astype(np.float32)
    for row in np.flatnonzero(hypothesis.content & ~hypothesis.figure).tolist():
        for column in np.argsort(-like[row], kind="stable")[:ASKED].tolist():
            if opposed(premise.lower[column], hypothesis.lower[row]):
                like[row, column] = 0.0
    for row, column in bounds(hypothesis, premise):
        like[row, column] = BEST
    like[equal(hypothesis, premise)] = 1.0
    return like
