"""A text as the network reads it: its words, their vectors, and the sentences that a claim is held against."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.local.encoded_text import Encoded
from models.text.negation import is_negator

Floats = npt.NDArray[np.float32] | npt.NDArray[np.float16]
"""Training keeps millions of words at half precision."""


_READINGS = 3
"""Other forms of a figure: 14:15 is also 2:15."""


@dataclass(frozen=True, slots=True)
class Side:
    """The network's input about a text's words and sentences."""

    vectors: Floats
    """(words, dimensions), each row of length 1."""
    stems: tuple[str, ...]
    flags: Floats
    """(words, 4): has a meaning of its own, is written like a name, is part of a figure, negates."""
    values: npt.NDArray[np.float64]
    """(words, 3): the value of the figure that the word is part of, and others that it may stand for; NaN for none."""
    owners: npt.NDArray[np.int64]
    """(words,): the sentence each stands in."""
    sentences: Floats
    """(sentences, dimensions), each row of length 1."""
    topics: tuple[tuple[str, ...], ...]
    """For each sentence the stems of the words in it that have a meaning of their own, each once."""


Pair = tuple[Side, Side]
"""A claim and the evidence that it is held against; each has at least one word."""


def side_of(text: Encoded) -> Side:
    """A whole text."""
    count = len(text.words)
    flags = np.zeros((count, 4), dtype=np.float32)
    opens = np.diff(text.owners, prepend=-1) != 0
    cased = any(word.surface[0].islower() for word in text.words)
    for at, word in enumerate(text.words):
        named = cased and not opens[at] and word.surface[0].isupper()
        flags[at] = (word.content, named, word.surface[0].isdigit(), is_negator(word.surface.lower()))
    values = np.full((count, _READINGS), np.nan)
    for quantity in text.numbers:
        flags[quantity.first : quantity.last + 1, 2] = 1.0
    for quantity in text.readings:
        free = np.flatnonzero(np.isnan(values[quantity.first]))
        if len(free):
            values[quantity.first : quantity.last + 1, free[0]] = quantity.value
    topics: list[dict[str, None]] = [{} for _ in text.gists]
    for word, owner in zip(text.words, text.owners, strict=True):
        if word.content:
            topics[owner][word.stem] = None
    stems = tuple(word.stem for word in text.words)
    return Side(text.vectors, stems, flags, values, text.owners, text.gists, tuple(map(tuple, topics)))


def sentences_of(side: Side, kept: Sequence[int]) -> Side:
    """Some of the sentences of a text, in the given order."""
    rows = np.concatenate([np.flatnonzero(side.owners == index) for index in kept] or [np.zeros(0, dtype=np.int64)])
    owners = np.repeat(np.arange(len(kept)), [int((side.owners == index).sum()) for index in kept])
    return Side(
        side.vectors[rows],
        tuple(side.stems[row] for row in rows),
        side.flags[rows],
        side.values[rows],
        owners.astype(np.int64),
        side.sentences[list(kept)],
        tuple(side.topics[index] for index in kept),
    )


def joined(sides: Sequence[Side]) -> Side:
    """Texts one after the other, as one."""
    firsts = np.cumsum([0, *(len(side.sentences) for side in sides[:-1])])
    return Side(
        np.concatenate([side.vectors for side in sides]),
        tuple(stem for side in sides for stem in side.stems),
        np.concatenate([side.flags for side in sides]),
        np.concatenate([side.values for side in sides]),
        np.concatenate([side.owners + first for side, first in zip(sides, firsts, strict=True)]),
        np.concatenate([side.sentences for side in sides]),
        tuple(topic for side in sides for topic in side.topics),
    )


MOST_WORDS = 110
"""Words of the reference that a claim is held against: what the comparison was trained on."""

_AGAIN = 0.2
"""The weight of a word that a sentence taken before has already."""

_GIST = 1.0
"""The weight of a sentence's likeness as a whole beside a word that only one sentence has."""


def evidence(claim: Side, reference: Side) -> tuple[Side, int]:
    """The sentences of a reference that share most with the claim, in their order, and the position of the nearest.

    Words count by how few sentences have them. A sentence that is longer than what fits is taken whole, alone.
    """
    sizes = np.bincount(reference.owners, minlength=len(reference.sentences))
    written = np.flatnonzero(sizes).tolist()
    stems = reference.topics
    spread = Counter(stem for found in stems for stem in found)
    wanted = dict.fromkeys(stem for found in claim.topics for stem in found)
    weights = {stem: math.log(1 + len(written) / (1 + spread[stem])) for stem in wanted}
    alike = reference.sentences @ claim.sentences[0]
    standing = [
        _AGAIN * sum(weights.get(stem, 0.0) for stem in stems[index])
        + _GIST * math.log(1 + len(written) / 2) * float(alike[index])
        for index in range(len(sizes))
    ]
    nearest = max(written, key=lambda at: (sum(weights.get(stem, 0.0) for stem in stems[at]) + standing[at], -at))
    if sizes.sum() <= MOST_WORDS:
        return reference, nearest
    chosen = [nearest]
    left, room = {stem: weight for stem, weight in weights.items() if stem not in stems[nearest]}, MOST_WORDS
    room -= int(sizes[nearest])
    while fitting := [index for index in written if index not in chosen and sizes[index] <= room]:
        best = max(fitting, key=lambda at: (sum(left.get(stem, 0.0) for stem in stems[at]) + standing[at], -at))
        chosen.append(best)
        room -= int(sizes[best])
        for stem in stems[best]:
            left.pop(stem, None)
    return sentences_of(reference, sorted(chosen)), nearest
