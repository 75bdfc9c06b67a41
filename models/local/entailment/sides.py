"""The two texts laid out word by word, and what stays and what changes from one to the other, in blocks.

Where most of a sentence is repeated word for word, what differs in between was put there on purpose; where little is
repeated, the whole has been put another way and single words mean little. A block's `framing` tells the two apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.local.encoded_text import Encoded, Indices, Numbers
from models.local.encoder import Vectors
from models.text.closed_class import REPORTING, changes_sense
from models.text.negation import negates
from models.text.words import Word

Mask = npt.NDArray[np.bool_]

DROPPED = frozenset({"a", "an", "the", "s", "please"})
"""Words that may come and go without changing anything, and would only lie between words that belong together."""


@dataclass(frozen=True, slots=True)
class Side:
    """The words that count, in order; a number of several words is one."""

    surfaces: tuple[str, ...]
    lower: tuple[str, ...]
    keys: tuple[str, ...]
    """Equal where two words are the same word or the same figure."""
    content: Mask
    figure: Mask
    negation: Mask
    vectors: Vectors
    """(words, dimensions)."""
    breaks: Mask
    """Where a mark of punctuation stands before the word."""
    owners: Indices
    """Passage of each word."""

    def __len__(self) -> int:
        return len(self.lower)


def side(text: Encoded, rows: Indices) -> Side:
    """The words of a text that stand at `rows`, which are in order."""
    within = {q.first: q for q in text.numbers}
    swallowed = {i for q in text.numbers for i in range(q.first + 1, q.last + 1)}
    kept = [i for i in rows.tolist() if i not in swallowed and text.words[i].surface.lower() not in DROPPED]
    said = {i: " ".join(w.surface for w in text.words[i : within[i].last + 1]) for i in kept if i in within}
    spoken = [word.surface.lower() for word in text.words]
    index = np.array(kept, dtype=np.int64)
    figure = np.array([i in within for i in kept], dtype=bool)
    return Side(
        surfaces=tuple(said.get(i, text.words[i].surface) for i in kept),
        lower=tuple(text.words[i].surface.lower() for i in kept),
        keys=tuple(f"={within[i].value:.6g}" if i in within else text.words[i].stem for i in kept),
        content=figure | np.array([_says(text.words[i]) for i in kept], dtype=bool),
        figure=figure,
        negation=np.array([negates(spoken, i) for i in kept], dtype=bool),
        breaks=np.array([i > 0 and text.words[i].start - text.words[i - 1].end > 1 for i in kept], dtype=bool),
        vectors=text.vectors[index] if kept else text.vectors[:0],
        owners=text.owners[index],
    )


def _says(word: Word) -> bool:
    """True if a word carries meaning of its own; unlike in a summary, words of reporting do."""
    lower = word.surface.lower()
    return (word.content or lower in REPORTING) and not changes_sense(lower)


def equal(one: Side, other: Side) -> Mask:
    """(words of `one`, words of `other`): where both have the same."""
    numbers = {key: n for n, key in enumerate(dict.fromkeys((*one.keys, *other.keys)))}
    rows = np.array([numbers[key] for key in one.keys], dtype=np.int64)
    columns = np.array([numbers[key] for key in other.keys], dtype=np.int64)
    found: Mask = rows[:, None] == columns[None, :]
    return found


NEAREST, FARTHEST = 0.8, 0.45
"""Cosines in context from which two different words say the same, and below which nothing is shared."""

BEST = 0.9
"""The worth of the closest different word by its vector alone."""


def likeness(hypothesis: Side, premise: Side) -> Numbers:
    """The degree to which one word can stand for another, 0 to 1: (words of the hypothesis, words of the premise).

    Words of grammar and figures are like themselves alone.
    """
    cosine = np.round(hypothesis.vectors @ premise.vectors.T, 3)
    nearness = np.clip((cosine - FARTHEST) / (NEAREST - FARTHEST), 0.0, 1.0)
    both = hypothesis.content[:, None] & premise.content[None, :]
    figures = hypothesis.figure[:, None] | premise.figure[None, :]
    like = np.where(both & ~figures, BEST * nearness, 0.0).astype(np.float32)
    like[equal(hypothesis, premise)] = 1.0
    return like


GRAMMAR = 0.4
"""The worth of keeping a word of grammar in place beside a content word's 1."""

IN_PLACE = 0.1
"""The worth of putting one word in another's place, so that the two make one block."""

COUNTERPART = 0.5
"""Likeness from which a different word is worth what it is like."""

REACH = 3
"""Repeated words on either side that make a frame; more make it no firmer."""

CLOSE, WHOLE = 1.5, 5.0
"""Exponents of how closely a difference is framed, and of the literalness of all the rest: of a sentence that is half
put in other words most differences are mere wording."""


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
    result: Numbers = worth.astype(np.float32)
    return result


def repeated(hypothesis: Side, premise: Side, path: Indices) -> list[tuple[int, int]]:
    """Where both texts have the same words in the same order."""
    places = enumerate(path.tolist())
    return [(row, place) for row, place in places if place >= 0 and hypothesis.keys[row] == premise.keys[place]]


def blocks(hypothesis: Side, premise: Side, path: Indices) -> Iterator[Block]:
    """The stretches between what is repeated."""
    anchors = repeated(hypothesis, premise, path)
    ends = [(-1, -1), *anchors, (len(hypothesis), len(premise))]
    for k in range(len(ends) - 1):
        (row, place), (next_row, next_place) = ends[k], ends[k + 1]
        here, there = range(row + 1, next_row), range(place + 1, next_place)
        if here or there:
            rest = min(len(hypothesis) - len(here), len(premise) - len(there))
            literal = 1.0 - (rest - len(anchors)) / max(rest, 1)
            around = (_run(ends, k, -1) + _run(ends, k + 1, 1)) / (2 * REACH)
            wide = max(1, _contents(hypothesis, here), _contents(premise, there))
            yield Block(here, there, (around / wide**0.5) ** CLOSE * literal**WHOLE)


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
