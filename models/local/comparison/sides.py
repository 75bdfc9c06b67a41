"""What the comparison reads of a text: its words' vectors and what they are, and what each sentence is about."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.local.encoded_text import Encoded
from models.text.negation import is_negator

Floats = npt.NDArray[np.float32] | npt.NDArray[np.float16]
"""Training keeps millions of words at half precision."""


_READINGS = 3
"""Of a figure: 14:15 is also 2:15."""


@dataclass(frozen=True, slots=True)
class Side:
    """What the network knows of a text's words and sentences."""

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
    cased = any(word.surface[0].islower() for word in text.words)
    flags = np.zeros((count, 4), dtype=np.float32)
    opens = np.diff(text.owners, prepend=-1) != 0
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
    stems = tuple(word.stem for word in text.words)
    topics: list[dict[str, None]] = [{} for _ in text.gists]
    for word, owner in zip(text.words, text.owners, strict=True):
        if word.content:
            topics[owner][word.stem] = None
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
