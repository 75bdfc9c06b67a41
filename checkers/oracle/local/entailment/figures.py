"""Figures that follow from other figures: "more than 100" from 106, "before 2019" from 2018."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.oracle.local.entailment.side import Side
from checkers.text.numbers import ROUNDING, Quantity

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
