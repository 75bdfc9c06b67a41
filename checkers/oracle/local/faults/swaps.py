"""Two names or figures that trade places, and directions turned round."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.faults.fault import EXACT, Fault
from checkers.oracle.local.material import Material
from checkers.text.dates import MONTHS, WEEKDAYS, calendar_value
from checkers.text.numbers import is_year
from checkers.text.words import Word

Mask = npt.NDArray[np.bool_]

_TURNING = frozenset("by was were is are been being and with or according".split())
"""Words that make a sentence with its names turned round say the same: passives, lists and attributions."""


def swaps(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    """The first exchange of two names or figures, or else the first direction turned round."""
    exact = path.likeness >= EXACT
    found = itertools.chain(_exchanged(claim, reference, path, exact), _turned(claim, reference, path, exact))
    yield from itertools.islice(found, 1)


def _exchanged(claim: Material, reference: Material, path: Alignment, exact: Mask) -> Iterator[Fault]:
    """Two of a sort that trade places around the same words, without a passive that would make it right."""
    slots = [k for k in np.flatnonzero(exact) if _is_slot(claim.words[path.claim[k]])]
    for first, second in itertools.pairwise(slots):
        after, before = path.reference[first], path.reference[second]
        if _sort(claim, int(path.claim[first])) != _sort(claim, int(path.claim[second])):
            continue
        kept = [k for k in range(first + 1, second) if exact[k] and before < path.reference[k] < after]
        if not kept or reference.owners[before] != reference.owners[after]:
            continue
        said = {word.surface.lower() for word in claim.words[path.claim[first] : path.claim[second]]}
        true = {word.surface.lower() for word in reference.words[before:after]}
        if (said & _TURNING) == (true & _TURNING):
            names = (reference.words[before].surface, reference.words[after].surface)
            reason = f"the sentence swaps '{names[0]}' and '{names[1]}' against the reference"
            yield Fault("swap", reason, int(path.claim[first]))


def _turned(claim: Material, reference: Material, path: Alignment, exact: Mask) -> Iterator[Fault]:
    """'to' for 'from' after the same word, and nowhere in the reference as the claim has it."""
    for k in np.flatnonzero(exact)[1:]:
        index, place = int(path.claim[k]), int(path.reference[k])
        said, true = claim.words[index - 1].stem, reference.words[place - 1].stem if place else ""
        if {said, true} != {"from", "to"}:
            continue
        places = reference.content[reference.positions[claim.words[index].stem]]
        if any(at and reference.words[at - 1].stem == said for at in places):
            continue
        head = int(path.reference[k - 1])
        if exact[k - 1] and head < place and reference.owners[head] == reference.owners[place]:
            word = claim.words[index].surface
            reason = f"the reference says '{true} {word}' where the sentence says '{said} {word}'"
            yield Fault("swap", reason, index)


def _is_slot(word: Word) -> bool:
    return word.surface[0].isupper() or word.surface[0].isdigit()


def _sort(text: Material, index: int) -> str:
    """What a slot holds: only two of a sort can stand in for each other."""
    word = text.words[index]
    if any(calendar_value(word.surface, names) is not None for names in (WEEKDAYS, MONTHS)):
        return "time"
    if word.surface[0].isdigit():
        beside = text.words[max(0, index - 1) : index + 2]
        in_date = is_year(word) or any(calendar_value(other.surface, MONTHS) is not None for other in beside)
        return "time" if in_date else "figure"
    return "name"
