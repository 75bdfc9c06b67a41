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
from models.local.encoder import bundled, encode, unit

Vectors = npt.NDArray[np.float32]
"""(nodes, dimensions), rows of length 1."""

_DIGITS = 4
"""The same sentence in another batch differs in the last digits; rounding keeps that from changing an edge."""


class PhraseEncoder:
    """The bundled model on the processor, loaded by `load` or on first use. Any number of threads may ask.

    The vectors are those of the model's last layer, which are what it was trained to tell meanings apart by.
    """

    def load(self) -> None:
        """Read the weights now.

        Raises:
            ModelUnusable: the model is missing or damaged.
        """
        bundled()

    def encode(self, sentences: Sequence[Phrases]) -> list[Vectors]:
        """For each sentence the vectors of its nodes, in their order.

        Raises:
            ModelUnusable: as `load`.
        """
        readings = encode([_stretch(one) for one in sentences], depth=1.0)
        return [pooled(one, words) for one, (words, _) in zip(sentences, readings, strict=True)]


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


def _stretch(phrases: Phrases) -> tuple[str, list[tuple[int, int]]]:
    """The sentence from its first word to its last, and where each word stands in that."""
    tree = phrases.tree
    tokens = [phrases.starts[leaf] for leaf in phrases.words]
    spans = [(tree.starts[token], tree.starts[token] + len(tree.tokens[token])) for token in tokens]
    first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    return tree.sentence[first:last], [(start - first, end - first) for start, end in spans]
