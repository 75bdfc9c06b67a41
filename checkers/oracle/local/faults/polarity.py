"""What one side affirms and the other denies: negations, opposites, yes and no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.faults.fault import EXACT, FIRM, Fault, homes
from checkers.oracle.local.material import Material
from checkers.text.negation import NEGATIVE_PREFIXES, NEGATIVE_WORDS
from checkers.text.negation import is_negation as is_negation_among
from checkers.text.opposites import OPPOSITE_STEMS
from checkers.text.words import Word, stem

NEGATIVE = frozenset(stem(word) for word in NEGATIVE_WORDS)
"""Stems of words that carry a negation of their own."""
_REACH = 12
"""Words around the claim's place in the reference where a negation may stand."""
_SCOPE = 3
"""Content words behind a negation that it denies."""
_COMPANY = 6
"""Words between an opposite and the claim's neighbouring words within which it is said of the same."""
_BEFORE = 3
"""Words before an opposite in which a negation turns it round."""


def answers(claim: Material, reference: Material) -> Iterator[Fault]:
    """Yes for no."""
    if not claim.words or not reference.words:
        return
    said, true = (text.words[0].surface.lower() for text in (claim, reference))
    if {said, true} == {"yes", "no"}:
        yield Fault("negation", f"the reference says '{true}' where the sentence says '{said}'", 0)


def negations(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    """The first thing denied that the reference affirms, or affirmed that it denies."""
    if not (path.likeness >= FIRM).any():
        return
    said = [i for i in range(len(claim.words)) if is_negation(claim.words, i)]
    if said:
        yield from _denied(claim, reference, path, said)
    elif not any(_is_negative(word) for word in claim.words):
        yield from _affirmed(claim, reference, path)


def _denied(claim: Material, reference: Material, path: Alignment, said: list[int]) -> Iterator[Fault]:
    turned = [i for i in range(len(reference.words)) if turns(reference.words, i)]
    near = homes(reference, path)
    if any(int(reference.owners[i]) in near and np.abs(path.reference - i).min() <= _REACH for i in turned):
        return
    for index in said:
        scope = [claim.words[at].stem for at in path.claim if at > index][:_SCOPE]
        if any(prefix + denied in reference.positions for denied in scope for prefix in NEGATIVE_PREFIXES):
            continue
        yield Fault("negation", f"the sentence says '{claim.words[index].surface}', the reference does not", index)
        return


def _affirmed(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    if any(word.content and word.surface.lower().startswith(("un", "im", "in", "non", "dis")) for word in claim.words):
        return
    for k in range(1, len(path.claim)):
        before, place = int(path.reference[k - 1]), int(path.reference[k])
        if min(path.likeness[k - 1], path.likeness[k]) < FIRM or reference.owners[before] != reference.owners[place]:
            continue
        for index in (place - 1, place - 2):
            if before < index and is_negation(reference.words, index):
                said = reference.words[index].surface
                yield Fault("negation", f"the reference says '{said}' where the sentence does not", int(path.claim[k]))
                return


def opposites(claim: Material, reference: Material, path: Alignment) -> Iterator[Fault]:
    """Each word for which the reference has its opposite, said of the same."""
    for k, (index, place, like) in enumerate(zip(path.claim, path.reference, path.likeness, strict=True)):
        word = claim.words[index]
        if like >= EXACT:
            continue
        for at in range(max(0, place - 1), min(len(reference.words), place + 2)):
            other = reference.words[at]
            if (word.stem, other.stem) in OPPOSITE_STEMS and _same_company(reference, path, k, at):
                if _is_turned(claim.words, int(index)) != _is_turned(reference.words, at):
                    continue
                reason = f"the reference says '{other.surface}' where the sentence says '{word.surface}'"
                yield Fault("opposite", reason, int(index))
                break


def _same_company(reference: Material, path: Alignment, k: int, at: int) -> bool:
    """Whether a word beside the claim's one stands near its opposite in the reference."""
    return any(
        path.likeness[j] >= FIRM
        and reference.owners[path.reference[j]] == reference.owners[at]
        and abs(int(path.reference[j]) - at) <= _COMPANY
        for j in (k - 1, k + 1)
        if 0 <= j < len(path.claim)
    )


def _is_turned(words: Sequence[Word], index: int) -> bool:
    return any(turns(words, at) for at in range(max(0, index - _BEFORE), index))


def turns(words: Sequence[Word], index: int) -> bool:
    """Whether a word denies something, by itself or as a verb does."""
    return is_negation(words, index) or _is_negative(words[index])


def is_negation(words: Sequence[Word], index: int) -> bool:
    """Whether a word turns a statement round."""
    return is_negation_among([word.surface.lower() for word in words[index : index + 2]], 0)


def _is_negative(word: Word) -> bool:
    return word.stem in NEGATIVE
