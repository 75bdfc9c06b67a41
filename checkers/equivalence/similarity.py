"""Similarity of phrases: the vectors of their words in their sentence, pooled.

One forward pass a sentence gives a vector for each word; those of all nodes of its tree are means over their spans, and
the similarities of all nodes of two trees are one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from checkers.equivalence.alignment import Similarities
from checkers.equivalence.phrases import Phrases
from models.local.encoder import Encoder, Stretch, unit
from models.text.words import Word

Vectors = npt.NDArray[np.float32]
"""(nodes, dimensions), rows of length 1."""

_BATCH_PIECES = 2048
"""Pieces of one forward pass: with more, what is in between no longer stays near the processor."""

_DIGITS = 4
"""The same sentence in another batch differs in the last digits; rounding keeps that from changing an edge."""


class PhraseEncoder:
    """The bundled model on the processor, loaded by `load` or on first use. Any number of threads may ask.

    The vectors are those of the model's last layer, which are what it was trained to tell meanings apart by.
    """

    def __init__(self) -> None:
        self._encoder = Encoder(_BATCH_PIECES, depth=1.0)

    def load(self) -> None:
        """Read the weights now.

        Raises:
            ModelUnusable: the model is missing or damaged.
        """
        self._encoder.load()

    def encode(self, sentences: Sequence[Phrases]) -> list[Vectors]:
        """For each sentence the vectors of its nodes, in their order.

        Raises:
            ModelUnusable: as `load`.
        """
        readings = self._encoder.encode([_stretch(one) for one in sentences])
        return [pooled(one, reading.words) for one, reading in zip(sentences, readings, strict=True)]


def pooled(phrases: Phrases, words: npt.NDArray[np.float32]) -> Vectors:
    """The mean over each node's words, at length 1, from the vectors of the sentence's words (words, dimensions)."""
    tokens = np.zeros((len(phrases.tree.tokens) + 1, words.shape[1]), dtype=np.float64)
    tokens[[phrases.starts[leaf] + 1 for leaf in phrases.words]] = words
    sums = tokens.cumsum(axis=0)
    return unit((sums[list(phrases.ends)] - sums[list(phrases.starts)]).astype(np.float32))


def similarities(first: Vectors, second: Vectors) -> Similarities:
    """The cosine of every node of the first with every node of the second."""
    found: Similarities = np.round(first @ second.T, _DIGITS)
    return found


def _stretch(phrases: Phrases) -> Stretch:
    tree = phrases.tree
    tokens = [phrases.starts[leaf] for leaf in phrases.words]
    places = [(tree.tokens[token], tree.starts[token]) for token in tokens]
    words = [Word(text, text.lower(), start, start + len(text), True) for text, start in places]
    return Stretch(tree.sentence, words, words[0].start if words else 0, words[-1].end if words else 0)
