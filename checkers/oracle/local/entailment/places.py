"""Words that have traded places: the company a word keeps says what is said of it.

A place is what governs: the content word before with the words of grammar in between ("lives in _"), or the one behind
("_ was born"). A rewording gives its words new places; an exchange puts one into the place that another one has in the
other text, word for word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from checkers.oracle.local.entailment.side import Side
from checkers.text.dates import MONTHS

_COORDINATORS = frozenset({"and", "or", "nor"})
"""Between these the order of words says nothing."""

_AUXILIARIES = frozenset("is are was were be been being am has have had will would can could may might must".split())

_LONGEST = 3
"""Words of grammar between two content words that still stand beside each other."""

Place = tuple[str, ...]


class Exchange(NamedTuple):
    """Positions in the hypothesis of a word and of the word whose place it has taken."""

    taker: int
    owner: int
    mutual: bool
    """The owner has the taker's place in turn."""


class Unit(NamedTuple):
    """Words that stand together in both texts, or make a date."""

    key: str
    first: int
    last: int


def exchanges(hypothesis: Side, premise: Side) -> Iterator[Exchange]:
    """Each word or name that both texts have and that stands where the premise has another one that both have."""
    together = _pairs(hypothesis) & _pairs(premise)
    said_units, true_units = list(_units(hypothesis, together)), list(_units(premise, together))
    at = {unit.key: unit.first for unit in reversed(said_units)}
    shared = at.keys() & {unit.key for unit in true_units}
    said, true = _places(hypothesis, said_units), _places(premise, true_units)
    beside = _beside(hypothesis, said_units), _beside(premise, true_units)
    taken: dict[tuple[str, str], None] = {}
    for place, takers in said.items():
        owners = true.get(place)
        if owners and not takers & owners:
            taken.update(dict.fromkeys((t, o) for t in takers & shared for o in owners & shared))
    for taker, owner in sorted(taken):
        pair, mutual = frozenset((taker, owner)), (owner, taker) in taken
        ways = beside[0].get(pair), beside[1].get(pair)
        if ways[0] and ways[1]:
            # Side by side in both: "from Ghent to Liège" turned round; not "the council of Jura" as "the Jura council",
            # nor what is merely listed in another order.
            joined = ways[0] & ways[1]
            mutual = any(between and not _COORDINATORS & set(between) for between in joined)
            if not mutual:
                continue
        yield Exchange(at[taker], at[owner], mutual)


def _pairs(text: Side) -> set[Place]:
    return {
        text.keys[i : i + 2]
        for i in range(len(text) - 1)
        if text.content[i] and text.content[i + 1] and not text.breaks[i + 1]
    }


def _units(text: Side, together: set[Place]) -> Iterator[Unit]:
    i = 0
    while i < len(text):
        if not text.content[i]:
            i += 1
            continue
        last = i
        if _dates(text, i):
            while last + 1 < len(text) and _dates(text, last + 1):
                last += 1
            key = "/".join(sorted(text.keys[i : last + 1]))
        else:
            while _goes_on(text, last, together):
                last += 1
            key = " ".join(text.keys[i : last + 1])
        yield Unit(key, i, last)
        i = last + 1


def _goes_on(text: Side, last: int, together: set[Place]) -> bool:
    return last + 1 < len(text) and not text.breaks[last + 1] and text.keys[last : last + 2] in together


def _dates(text: Side, i: int) -> bool:
    return bool(text.figure[i]) or text.lower[i] in MONTHS


def _places(text: Side, units: list[Unit]) -> dict[Place, set[str]]:
    """For each place what fills it: by the word that governs it, and by that and the one beyond."""
    places: dict[Place, set[str]] = {}
    keys = ["", *(unit.key for unit in units), ""]
    for k, (left, right) in enumerate(itertools.pairwise(units), start=1):
        between = text.lower[left.last + 1 : right.first]
        broken = text.breaks[left.last + 1 : right.first + 1].any()
        if broken or len(between) > _LONGEST or _COORDINATORS & set(between):
            continue
        after = ("after", left.key, *between)
        for place in (after, ("beyond", keys[k - 1], *after)):
            places.setdefault(place, set()).add(right.key)
        if _AUXILIARIES.issuperset(between):
            before = ("before", right.key, *between)
            for place in (before, ("beyond", keys[k + 2], *before)):
                places.setdefault(place, set()).add(left.key)
    return places


def _beside(text: Side, units: list[Unit]) -> dict[frozenset[str], set[Place]]:
    """Which stand side by side, and the words of grammar between them."""
    found: dict[frozenset[str], set[Place]] = {}
    for left, right in itertools.pairwise(units):
        found.setdefault(frozenset((left.key, right.key)), set()).add(text.lower[left.last + 1 : right.first])
    return found


def company_kept(hypothesis: Side, premise: Side, i: int, j: int) -> float:
    """Share of the words directly beside a word that also stand near it in the premise, 0 to 1."""
    beside = [hypothesis.keys[k] for k in (i - 1, i + 1) if 0 <= k < len(hypothesis)]
    near = set(premise.keys[max(0, j - 2) : j + 3])
    return sum(key in near for key in beside) / max(1, len(beside))
