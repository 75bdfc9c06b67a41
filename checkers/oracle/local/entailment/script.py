"""What stays and what changes from one text to the other: the cheapest edit script, in blocks.

Where most of a sentence is repeated word for word, what differs in between was put there on purpose; where little is
repeated, the whole has been put another way and single words mean little. A block's `framing` tells the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from checkers.oracle.local.entailment.likeness import Numbers
from checkers.oracle.local.entailment.side import Side, equal
from checkers.oracle.local.material import Indices

GRAMMAR = 0.4
"""What keeping a word of grammar in place is worth beside a content word's 1."""

COMPANY = 0.15
"""What it is worth more that the word beside is kept as well: runs stay together."""

IN_PLACE = 0.1
"""What putting one word in another's place is worth, so that the two make one block."""

COUNTERPART = 0.5
"""Likeness from which a different word is worth what it is like."""

REACH = 3
"""Repeated words on either side that make a frame; more make it no firmer."""

CLOSE, WHOLE = 1.5, 5.0
"""Exponents of how closely a difference is framed, and of the literalness of all the rest: of a sentence that is half
put in other words most differences are mere wording."""


LOOSE = 2.0
"""How many times as long the premise may be where it repeats the hypothesis, and count as doing so closely."""

SHORT = 10
"""Words of a text up to which a changed word says no more about the wording of the whole: in a question of six words
two may be changed on purpose."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the hypothesis and the stretch of the premise in its place; either may be empty."""

    hypothesis: range
    premise: range
    framing: float
    """0 (nothing of the rest is repeated) to 1 (all of it is, and closely around)."""


def partners(hypothesis: Side, premise: Side, like: Numbers) -> Indices:
    """For each word of the hypothesis its place in the premise on the best path that never turns back; -1 for none."""
    worth = _worth(hypothesis, premise, like)
    rows, columns = worth.shape
    best = np.zeros((rows + 1, columns + 1), dtype=np.float32)
    for row in range(rows):
        best[row + 1, 1:] = np.maximum(best[row, 1:], best[row, :-1] + worth[row])
        np.maximum.accumulate(best[row + 1], out=best[row + 1])
    found = np.full(rows, -1, dtype=np.int64)
    row, column = rows, columns
    while row and column:
        if best[row, column] == best[row, column - 1]:
            column -= 1
        elif best[row, column] == best[row - 1, column]:
            row -= 1
        else:
            row, column = row - 1, column - 1
            found[row] = column
    return found


def _worth(hypothesis: Side, premise: Side, like: Numbers) -> Numbers:
    kept = equal(hypothesis, premise)
    worth = np.where(hypothesis.content[:, None] == premise.content[None, :], IN_PLACE * (1 + like), IN_PLACE / 2)
    worth = np.where(like > COUNTERPART, like, worth)
    worth = np.where(kept & ~hypothesis.content[:, None], GRAMMAR, worth)
    company = np.zeros_like(worth)
    company[1:, 1:] += kept[:-1, :-1]
    company[:-1, :-1] += kept[1:, 1:]
    result: Numbers = (worth + COMPANY * company * kept).astype(np.float32)
    return result


def repeated(hypothesis: Side, premise: Side, path: Indices) -> list[tuple[int, int]]:
    """Where both texts have the same words in the same order."""
    places = enumerate(path.tolist())
    return [(row, place) for row, place in places if place >= 0 and hypothesis.keys[row] == premise.keys[place]]


def blocks(hypothesis: Side, premise: Side, path: Indices) -> Iterator[Block]:
    """The stretches between what is repeated."""
    anchors = repeated(hypothesis, premise, path)
    together = _together(anchors)
    ends = [(-1, -1), *anchors, (len(hypothesis), len(premise))]
    for k in range(len(ends) - 1):
        (row, place), (next_row, next_place) = ends[k], ends[k + 1]
        here, there = range(row + 1, next_row), range(place + 1, next_place)
        if here or there:
            rest = min(len(hypothesis) - len(here), len(premise) - len(there))
            literal = 1.0 - (rest - len(anchors)) / max(rest, SHORT)
            around = (_run(ends, k, -1) + _run(ends, k + 1, 1)) / (2 * REACH)
            wide = max(1, _contents(hypothesis, here), _contents(premise, there))
            yield Block(here, there, (around / wide**0.5) ** CLOSE * (literal * together) ** WHOLE)


def _together(anchors: list[tuple[int, int]]) -> float:
    """How closely the repeated words stand in the premise, 0 to 1, but for one at either end."""
    if len(anchors) <= REACH:
        return 1.0
    span = min(anchors[-1][1] - anchors[1][1], anchors[-2][1] - anchors[0][1]) + 1
    return min(1.0, LOOSE * (len(anchors) - 1) / span)


def _contents(text: Side, span: range) -> int:
    return int(text.content[span.start : span.stop].sum())


def _run(ends: list[tuple[int, int]], k: int, step: int) -> int:
    """Words repeated without a gap from one anchor on, up to the reach; an end that both texts share counts in full."""
    for count in range(REACH):
        if k in (0, len(ends) - 1):
            return REACH
        beyond = (ends[k][0] + step, ends[k][1] + step)
        if ends[k + step] != beyond:
            return count + 1
        k += step
    return REACH
