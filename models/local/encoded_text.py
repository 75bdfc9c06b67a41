"""A text made ready for comparison: its passages, words, numbers and word vectors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from models.local.encoder import Stretch, Vectors
from models.local.statements import rows_read
from models.text.dates import plainly
from models.text.numbers import Quantity, implied_quantities, quantities
from models.text.words import Word, normalise, words

_MARKER = re.compile(r"^(?:[-*•#>]+|\(?\d{1,2}[.)](?=\s+[^\W\d_a-z]))\s+(?=\S)")
"""Signs of a list or a heading before a sentence; a figure only where a capital follows, or else it may be a claim."""

Indices = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Draft:
    """A text's words, before it is encoded."""

    passages: tuple[str, ...]
    """Verbatim."""
    text: str
    """The normalised passages, joined by blanks; the words' spans lie in it."""
    words: tuple[Word, ...]
    owners: tuple[int, ...]
    """For each word the passage it stands in."""
    starts: tuple[int, ...]
    """Where each passage that has been read begins in the text; it ends a blank before the next."""

    def stretches(self) -> list[Stretch]:
        """The passages that have been read, each on its own."""
        ends = [*(start - 1 for start in self.starts[1:]), len(self.text)][: len(self.starts)]
        by_passage: list[list[Word]] = [[] for _ in self.starts]
        for word, owner in zip(self.words, self.owners, strict=True):
            by_passage[owner].append(word)
        return [
            Stretch(self.text, found, start, end)
            for found, start, end in zip(by_passage, self.starts, ends, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded text. As a reference it is looked up in; as a claim its words are looked for."""

    passages: tuple[str, ...]
    words: tuple[Word, ...]
    owners: Indices
    vectors: Vectors
    """(words, dimensions), each row of length 1."""
    gists: Vectors
    """(passages that have been read, dimensions): what each says as a whole, each row of length 1."""
    content: Indices
    """Positions of the content words."""
    positions: dict[str, Indices]
    """For each stem where it occurs among `content`."""
    numbers: tuple[Quantity, ...]
    readings: tuple[Quantity, ...]
    """`numbers`, and how others may write them: what a reference is taken to state."""


def draft(passages: Sequence[str], limit: int) -> Draft:
    """Words of passages, up to `limit` of them."""
    texts: list[str] = []
    found: list[Word] = []
    owners: list[int] = []
    starts: list[int] = []
    offset = 0
    for index, passage in enumerate(passages):
        if len(found) >= limit:
            break
        text = _MARKER.sub("", plainly(normalise(rows_read(passage))))
        mine = words(text)[: limit - len(found)]
        found += [replace(word, start=word.start + offset, end=word.end + offset) for word in mine]
        owners += [index] * len(mine)
        texts.append(text)
        starts.append(offset)
        offset += len(text) + 1
    return Draft(tuple(passages), " ".join(texts), tuple(found), tuple(owners), tuple(starts))


def encoded_text(draft: Draft, vectors: Vectors, gists: Vectors) -> Encoded:
    """Put words and vectors together."""
    content = np.array([i for i, word in enumerate(draft.words) if word.content], dtype=np.int64)
    if not len(content):
        content = np.arange(len(draft.words), dtype=np.int64)
    positions: dict[str, list[int]] = {}
    for place, index in enumerate(content):
        positions.setdefault(draft.words[index].stem, []).append(place)
    numbers = quantities(draft.words)
    return Encoded(
        passages=draft.passages,
        words=draft.words,
        owners=np.array(draft.owners, dtype=np.int64),
        vectors=vectors,
        gists=gists,
        content=content,
        positions={stem: np.array(places, dtype=np.int64) for stem, places in positions.items()},
        numbers=tuple(numbers),
        readings=(*numbers, *implied_quantities(draft.words, numbers)),
    )


def joined(parts: Sequence[Encoded]) -> Encoded:
    """Several texts as one, each a passage; the vectors stay as they were in their own company."""
    words: list[Word] = []
    owners: list[int] = []
    for index, part in enumerate(parts):
        offset = words[-1].end + 1 if words else 0
        words += [replace(word, start=word.start + offset, end=word.end + offset) for word in part.words]
        owners += [index] * len(part.words)
    drafted = Draft(tuple(" ".join(part.passages) for part in parts), "", tuple(words), tuple(owners), ())
    filled = [part for part in parts if len(part.words)] or list(parts[:1])
    return encoded_text(
        drafted, np.concatenate([part.vectors for part in filled]), np.concatenate([part.gists for part in filled])
    )


def split(text: Encoded) -> list[Encoded]:
    """A text's passages as texts of their own; passages without words are left out."""
    parts = []
    for index in dict.fromkeys(text.owners.tolist()):
        rows = np.flatnonzero(text.owners == index)
        mine = tuple(text.words[row] for row in rows)
        drafted = Draft((text.passages[index],), "", mine, (0,) * len(mine), ())
        parts.append(encoded_text(drafted, text.vectors[rows], text.gists[index : index + 1]))
    return parts
