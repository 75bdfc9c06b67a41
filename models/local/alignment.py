"""Encoded texts, and the words of a reference that are likest to the words of a claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.local.encoder import DIMENSIONS, Vectors, encode
from models.local.text import Word, plain, words_of
from models.wording import split_sentences

_MOST_WORDS = 50_000
"""Words of a text that are read: about a hundred pages, so that one record bounds its memory and time."""
_CANDIDATES, _AS_GOOD = 8, 0.1
"""Places in the reference considered for a word, and the likeness below the best up to which one counts as good."""
_NEAREST, _FARTHEST = 0.85, 0.45
"""Cosines of two different words in context from which they say the same, and below which nothing is shared."""
_SYNONYM = 0.8
"""The worth of the best different word next to the same word: also opposites and sisters come close in vectors."""
_SLACK = 5
"""Words that may come in between before two neighbours count as apart."""


@dataclass(frozen=True, slots=True)
class Text:
    """An encoded text."""

    sentences: tuple[str, ...]
    """Verbatim."""
    words: tuple[Word, ...]
    owners: npt.NDArray[np.int64]
    """For each word its sentence."""
    vectors: Vectors
    """(words, dimensions), rows of length 1; zeros for words in scripts that the model does not know."""
    gists: Vectors
    """(sentences, dimensions), rows of length 1."""
    content: npt.NDArray[np.int64]
    """Positions of the content words; of all, where there are none."""
    places: Mapping[str, list[int]]
    """By key, where a word occurs among `content`."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """One entry per content word of the claim."""

    likeness: Vectors
    """Of the likest word of the reference: 0 (nothing like it) to 1 (the same word in the same company)."""
    apart: npt.NDArray[np.bool_]
    """One fewer than words: True where no good places keep two neighbours together as the claim does."""
    home: int
    """The sentence of the reference that most of the claim comes from."""


def encoded(texts: Sequence[str]) -> dict[str, Text]:
    """Each text cut into its sentences, encoded in one go."""
    drafts: dict[str, tuple[list[str], list[list[Word]]]] = {}
    read: list[tuple[str, list[tuple[int, int]]]] = []
    for text in texts:
        # The splitter refuses lone surrogates, which JSON lets through.
        sentences = [one.text for one in split_sentences(text.encode("utf-8", "replace").decode())]
        words: list[list[Word]] = []
        for sentence in map(plain, sentences):
            words.append(words_of(sentence, _MOST_WORDS - sum(map(len, words))))
            read.append((sentence, [(word.start, word.end) for word in words[-1]]))
        drafts[text] = sentences, words
    readings = iter(encode(read))
    return {
        text: _text(sentences, words, [next(readings) for _ in sentences])
        for text, (sentences, words) in drafts.items()
    }


def _text(sentences: Sequence[str], found: list[list[Word]], readings: list[tuple[Vectors, Vectors]]) -> Text:
    words = tuple(word for of_sentence in found for word in of_sentence)
    content = [at for at, word in enumerate(words) if word.content] or list(range(len(words)))
    places: dict[str, list[int]] = {}
    for place, at in enumerate(content):
        places.setdefault(words[at].key, []).append(place)
    vectors = np.concatenate([np.zeros((0, DIMENSIONS), np.float32), *(of_words for of_words, _ in readings)])
    vectors[[not word.key.isascii() for word in words]] = 0.0
    owners = np.repeat(np.arange(len(sentences)), [*map(len, found)])
    gists = np.array([gist for _, gist in readings]).reshape(-1, DIMENSIONS)
    return Text(tuple(sentences), words, owners, vectors, gists, np.array(content, dtype=np.int64), places)


def align(claim: Text, reference: Text) -> Alignment | None:
    """The likest places, and how far neighbours are apart there; None where either text has no words."""
    if not len(claim.content) or not len(reference.content):
        return None
    likeness = likeness_of(claim, reference)
    # Stable order: among equals the earliest places are kept, whatever the numerics of a partial sort.
    columns = np.argsort(-likeness, axis=1, kind="stable")[:, :_CANDIDATES]
    scores = np.take_along_axis(likeness, columns, axis=1)
    places, good = reference.content[columns], scores >= scores[:, :1] - _AS_GOOD
    steps = places[1:, None, :] - places[:-1, :, None]
    together = (steps >= 1) & (steps <= np.diff(claim.content)[:, None, None] + _SLACK)
    apart = np.logical_not((together & good[1:, None, :] & good[:-1, :, None]).any(axis=(1, 2)))
    home = int(np.bincount(reference.owners[places[:, 0]], weights=scores[:, 0]).argmax())
    return Alignment(scores[:, 0], apart, home)


def likeness_of(claim: Text, reference: Text) -> Vectors:
    """(claim's content words, reference's content words): how far one stands for the other, 0 to 1."""
    # The same text in another batch differs in the last digits; rounding keeps that from choosing another place.
    cosine = np.round(claim.vectors[claim.content] @ reference.vectors[reference.content].T, 3)
    like = _SYNONYM * np.clip((cosine - _FARTHEST) / (_NEAREST - _FARTHEST), 0.0, 1.0)
    for row, at in enumerate(claim.content):
        word = claim.words[at]
        if word.is_fact:
            # Figures and days are like themselves alone.
            like[row] = 0.0
        same = reference.places.get(word.key, [])
        like[row, same] = 0.9 + 0.1 * np.clip(cosine[row, same], 0.0, 1.0)
    return np.asarray(like, dtype=np.float32)
