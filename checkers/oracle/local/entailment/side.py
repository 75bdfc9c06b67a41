"""One side of a pair, laid out for comparing word by word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checkers.oracle.local.encoder import Vectors
from checkers.oracle.local.faults.polarity import is_negation
from checkers.oracle.local.material import Indices, Material
from checkers.text.closed_class import REPORTING, changes_sense
from checkers.text.numbers import Quantity
from checkers.text.words import Word

Mask = npt.NDArray[np.bool_]

DROPPED = frozenset({"a", "an", "the", "s", "please"})
"""What may come and go without changing anything, and would only lie between words that belong together."""


@dataclass(frozen=True, slots=True)
class Side:
    """The words that count, in order; a number of several words is one."""

    surfaces: tuple[str, ...]
    lower: tuple[str, ...]
    keys: tuple[str, ...]
    """Equal where two words are the same word or the same figure."""
    content: Mask
    figure: Mask
    values: tuple[Quantity | None, ...]
    """What the figures state."""
    negation: Mask
    vectors: Vectors
    """(words, dimensions)."""
    breaks: Mask
    """Where a mark of punctuation stands before the word."""
    owners: Indices
    """Passage of each word."""

    def __len__(self) -> int:
        return len(self.lower)


def side(text: Material, rows: Indices) -> Side:
    """The words of a text that stand at `rows`, which are in order."""
    within = {q.first: q for q in text.numbers}
    swallowed = {i for q in text.numbers for i in range(q.first + 1, q.last + 1)}
    kept = [i for i in rows.tolist() if i not in swallowed and text.words[i].surface.lower() not in DROPPED]
    said = {i: " ".join(w.surface for w in text.words[i : within[i].last + 1]) for i in kept if i in within}
    index = np.array(kept, dtype=np.int64)
    figure = np.array([i in within for i in kept], dtype=bool)
    return Side(
        surfaces=tuple(said.get(i, text.words[i].surface) for i in kept),
        lower=tuple(text.words[i].surface.lower() for i in kept),
        keys=tuple(f"={within[i].value:.6g}" if i in within else text.words[i].stem for i in kept),
        content=figure | np.array([_says(text.words[i]) for i in kept], dtype=bool),
        figure=figure,
        values=tuple(within.get(i) for i in kept),
        negation=np.array([is_negation(text.words, i) for i in kept], dtype=bool),
        breaks=np.array([i > 0 and text.words[i].start - text.words[i - 1].end > 1 for i in kept], dtype=bool),
        vectors=text.vectors[index] if kept else text.vectors[:0],
        owners=text.owners[index],
    )


def _says(word: Word) -> bool:
    """Whether a word carries meaning of its own; unlike in a summary, words of reporting do."""
    lower = word.surface.lower()
    return (word.content or lower in REPORTING) and not changes_sense(lower)


def equal(one: Side, other: Side) -> Mask:
    """(words of `one`, words of `other`): where both have the same."""
    numbers = {key: n for n, key in enumerate(dict.fromkeys((*one.keys, *other.keys)))}
    rows = np.array([numbers[key] for key in one.keys], dtype=np.int64)
    columns = np.array([numbers[key] for key in other.keys], dtype=np.int64)
    found: Mask = rows[:, None] == columns[None, :]
    return found
