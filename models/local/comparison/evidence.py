"""Which sentences of a reference a claim is held against: those that share most with it, wherever they stand."""

import math
from collections import Counter

import numpy as np

from models.local.comparison.sides import Side, sentences_of

MOST_WORDS = 110
"""Words of the reference that a claim is held against: what the comparison was trained on."""

_AGAIN = 0.2
"""What a word counts that a sentence taken before has already."""

_GIST = 1.0
"""What the likeness of a sentence as a whole counts beside a word that only one sentence has."""


def evidence(claim: Side, reference: Side) -> Side:
    """The sentences of the reference that share most with the claim, in their order."""
    chosen = chosen_sentences(claim, reference)
    return reference if len(chosen) == len(reference.sentences) else sentences_of(reference, chosen)


def chosen_sentences(claim: Side, reference: Side) -> list[int]:
    """Their positions, ascending.

    Words count by how few sentences have them. A sentence that is longer than what fits is taken whole, alone.
    """
    sizes = np.bincount(reference.owners, minlength=len(reference.sentences))
    written = [int(index) for index in np.flatnonzero(sizes)]
    if sizes.sum() <= MOST_WORDS:
        return written
    stems = reference.topics
    spread = Counter(stem for found in stems for stem in found)
    wanted = dict.fromkeys(stem for found in claim.topics for stem in found)
    weights = {stem: math.log(1 + len(written) / (1 + spread[stem])) for stem in wanted}
    alike = reference.sentences @ claim.sentences[0]
    standing = {
        index: _AGAIN * sum(weights.get(stem, 0.0) for stem in stems[index])
        + _GIST * math.log(1 + len(written) / 2) * float(alike[index])
        for index in written
    }
    chosen: list[int] = []
    left, room = dict(weights), MOST_WORDS
    while fitting := [index for index in written if index not in chosen and (sizes[index] <= room or not chosen)]:
        best = max(fitting, key=lambda at: (sum(left.get(stem, 0.0) for stem in stems[at]) + standing[at], -at))
        chosen.append(best)
        room -= int(sizes[best])
        for stem in stems[best]:
            left.pop(stem, None)
    return sorted(chosen)
