"""Single contradictions a reader would point at: a number, a name, a day, a negation, an opposite."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.lexicon import MONTHS, NEGATIONS, NEGATIVE_VERBS, POLAR_PAIRS, WEEKDAYS
from checkers.oracle.local.material import Material
from checkers.oracle.local.quantities import Quantity, is_stated
from checkers.oracle.local.text import Word, stem

_POLAR = frozenset((stem(a), stem(b)) for a, b in POLAR_PAIRS)
_SAME_NAME = 0.8
"""Likeness cosine from which another spelling counts as the same name (America, American)."""
_FAIR_PART = 0.3
"""Share of a claim from which a passage counts among those it comes from."""
_FIRM = 0.6
"""Likeness from which a word is surely placed."""
_TURNING = frozenset("by was were is are been being and with or".split())
"""Words that make a sentence with its names turned round say the same: passives and lists."""
_NEGATION_REACH = 12
"""Words around the claim's place in the reference where a negation may stand."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a claim."""

    kind: str
    reason: str
    word: int
    """Position of the claim's word it hangs on."""


def faults(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    """What contradicts the reference, gravest first. `known` is the question, whose words need no support."""
    yield from _numbers(claim, reference, path, known)
    yield from _calendar(claim, reference, path, known)
    yield from _names(claim, reference, path, known)
    yield from _swaps(claim, reference, path)
    yield from _answers(claim, reference)
    yield from _negations(claim, reference, path)
    yield from _opposites(claim, reference, path)


def _numbers(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    # The question's figures need no support, unless the reference names others: it may be a trap.
    asked = known.numbers if known and not any(quantity.digits for quantity in reference.numbers) else ()
    stated = reference.readings + asked
    for quantity in claim.numbers:
        if is_stated(quantity, stated):
            continue
        said = _said(claim, quantity)
        home = main_passage(reference, path)
        rivals = [q for q in reference.numbers if reference.owners[q.first] == home and not is_stated(q, claim.numbers)]
        if len(rivals) == 1 and rivals[0].digits == quantity.digits:
            reason = f"the reference says '{_said(reference, rivals[0])}' where the sentence says '{said}'"
        else:
            reason = f"the number {said} is not in the reference"
        # A small count in words ("two brothers") may sum up what the reference lists, unless it counts there itself.
        counted = any(not rival.digits for rival in rivals)
        yield Fault("number" if quantity.digits or counted else "count", reason, quantity.first)


def _said(text: Material, quantity: Quantity) -> str:
    return " ".join(word.surface for word in text.words[quantity.first : quantity.last + 1])


def _calendar(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    # All words, not content words alone: "May" is the name of a month where it is written as a name.
    for index, word in enumerate(claim.words):
        if index == 0 and word.surface.lower() in {"may", "march"}:
            continue
        for names in (WEEKDAYS, MONTHS):
            value = _calendar_value(word, names)
            if value is None:
                continue
            there = [w for w in reference.words if _calendar_value(w, names) is not None]
            if any(_calendar_value(w, names) == value for w in there):
                yield from _misplaced(claim, reference, path, index, names)
                continue
            if known and any(_calendar_value(w, names) == value for w in known.words):
                continue
            home = main_passage(reference, path)
            rivals = [
                w
                for w, owner in zip(reference.words, reference.owners, strict=True)
                if owner == home and _calendar_value(w, names) is not None
            ]
            if rivals:
                reason = f"the reference says '{rivals[0].surface}' where the sentence says '{word.surface}'"
            else:
                reason = f"'{word.surface}' is not in the reference"
            yield Fault("date", reason, index)


def _misplaced(
    claim: Material, reference: Material, path: Alignment, index: int, names: dict[str, int]
) -> Iterator[Fault]:
    """A day the reference names for something else: the words beside it come from a passage with another day."""
    found = np.flatnonzero(path.claim == index)
    if not len(found):
        return
    at = int(found[0])
    beside = [k for k in (at - 1, at + 1) if 0 <= k < len(path.claim) and path.likeness[k] >= _FIRM]
    homes = {int(reference.owners[path.reference[k]]) for k in beside}
    word = claim.words[index]
    if len(homes) != 1 or int(reference.owners[path.reference[at]]) in homes:
        return
    days = [w for w, owner in zip(reference.words, reference.owners, strict=True) if int(owner) in homes]
    days = [w for w in days if _calendar_value(w, names) is not None]
    if days and all(_calendar_value(w, names) != _calendar_value(word, names) for w in days):
        yield Fault("date", f"the reference says '{days[0].surface}' where the sentence says '{word.surface}'", index)


def _calendar_value(word: Word, names: dict[str, int]) -> int | None:
    """Days and months only where written as names: 'may' and 'march' are words as well."""
    return names.get(word.surface.lower().rstrip(".")) if word.surface[:1].isupper() else None


def _names(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    content = [claim.words[i] for i in claim.content]
    if sum(word.surface[:1].isupper() for word in content) > 0.7 * len(content) and len(content) > 4:
        return  # A headline: capitals tell nothing.
    for index, like in zip(path.claim, path.likeness, strict=True):
        word = claim.words[index]
        if index == 0 or not word.surface[:1].isupper() or word.stem in reference.positions:
            continue
        if known and word.stem in known.positions:
            continue
        if WEEKDAYS.keys() | MONTHS.keys() >= {word.surface.lower()} or like >= _SAME_NAME:
            continue
        if word.surface.isupper() and word.stem.rstrip("s") in _initials(reference):
            continue
        if any(_same_root(word.stem, other) for other in reference.positions):
            continue
        yield Fault("name", f"the name '{word.surface}' is not in the reference", int(index))


def _swaps(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    """Two names or figures that trade places around the same words, without a passive that would make it right."""
    exact = path.likeness >= 0.9
    slots = [k for k in np.flatnonzero(exact) if _is_slot(claim.words[path.claim[k]])]
    for first, second in itertools.pairwise(slots):
        after, before = path.reference[first], path.reference[second]
        kept = [k for k in range(first + 1, second) if exact[k] and before < path.reference[k] < after]
        if not kept or reference.owners[before] != reference.owners[after]:
            continue
        said = {word.surface.lower() for word in claim.words[path.claim[first] : path.claim[second]]}
        true = {word.surface.lower() for word in reference.words[before:after]}
        if (said & _TURNING) == (true & _TURNING):
            names = (reference.words[before].surface, reference.words[after].surface)
            reason = f"the sentence swaps '{names[0]}' and '{names[1]}' against the reference"
            yield Fault("swap", reason, int(path.claim[first]))
            return
    for index, place in zip(path.claim[exact], path.reference[exact], strict=True):
        if index and place:
            said_way, true_way = claim.words[index - 1].stem, reference.words[place - 1].stem
            if {said_way, true_way} == {"from", "to"}:
                word = claim.words[index].surface
                reason = f"the reference says '{true_way} {word}' where the sentence says '{said_way} {word}'"
                yield Fault("swap", reason, int(index))
                return


def _is_slot(word: Word) -> bool:
    return word.surface[0].isupper() or word.surface[0].isdigit()


def _initials(reference: Material) -> set[str]:
    """Short forms of the capitalised runs of a reference: "Federal Bureau of Investigation" gives "fbi" and "fboi"."""
    found: set[str] = set()
    letters = [word.surface[0].lower() if word.surface[0].isupper() else " " for word in reference.words]
    run = ""
    for letter, word in zip([*letters, " "], [*reference.words, None], strict=True):
        if letter != " ":
            run += letter
        elif word is None or word.stem not in {"of", "the", "and", "for", "&"}:
            found |= {run[a:b] for a in range(len(run)) for b in range(a + 2, min(len(run), a + 8) + 1)}
            run = ""
    return found


def _same_root(first: str, second: str) -> bool:
    """Derived names: Russia and Russian, Chile and Chilean, Obama and Obamas."""
    shared = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= 4 and max(len(first), len(second)) - shared <= 4 and min(len(first), len(second)) - shared <= 1


def _answers(claim: Material, reference: Material) -> Iterator[Fault]:
    if not claim.words or not reference.words:
        return
    said, true = (text.words[0].surface.lower() for text in (claim, reference))
    if {said, true} == {"yes", "no"}:
        yield Fault("negation", f"the reference says '{true}' where the sentence says '{said}'", 0)


def is_negation(word: Word) -> bool:
    """Whether a word turns a statement round."""
    lowered = word.surface.lower()
    return lowered in NEGATIONS or lowered.endswith("n't")


def _negations(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    said = [i for i, word in enumerate(claim.words) if is_negation(word)]
    firm = path.reference[path.likeness >= _FIRM]
    if not len(firm):
        return
    if said:
        homes = _homes(reference, path)
        for index, word in enumerate(reference.words):
            near = reference.owners[index] in homes and np.abs(path.reference - index).min() <= _NEGATION_REACH
            if near and (is_negation(word) or word.surface.lower() in NEGATIVE_VERBS):
                return
        yield Fault("negation", f"the sentence says '{claim.words[said[0]].surface}', the reference does not", said[0])
        return
    if any(word.surface.lower() in NEGATIVE_VERBS for word in claim.words):
        return
    if any(word.surface.lower().startswith(("un", "im", "in", "non", "dis")) and word.content for word in claim.words):
        return
    for index, word in enumerate(reference.words):
        if is_negation(word) and (index + 1 in firm or index + 2 in firm) and (firm < index).any():
            at = int(path.claim[int(np.abs(path.reference - index).argmin())])
            yield Fault("negation", f"the reference says '{word.surface}' where the sentence does not", at)
            return


def _opposites(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    for index, place, like in zip(path.claim, path.reference, path.likeness, strict=True):
        word = claim.words[index]
        if like >= 0.9:
            continue
        for other in reference.words[max(0, place - 1) : place + 2]:
            if (word.stem, other.stem) in _POLAR:
                reason = f"the reference says '{other.surface}' where the sentence says '{word.surface}'"
                yield Fault("opposite", reason, int(index))
                break


def _homes(reference: Material, path: Alignment) -> set[int]:
    """The passages a fair part of the claim comes from."""
    weights = np.bincount(reference.owners[path.reference], weights=path.likeness)
    return set(np.flatnonzero(weights >= _FAIR_PART * weights.sum()).tolist())


def main_passage(reference: Material, path: Alignment) -> int:
    """The passage most of the claim comes from."""
    weights = np.bincount(reference.owners[path.reference], weights=path.likeness)
    return int(weights.argmax())
