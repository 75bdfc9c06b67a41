"""Similarity of phrases: the vectors of their words in their sentence, pooled.

One forward pass a sentence gives a vector for each word; those of all nodes of its tree are means over their spans, and
the similarities of all nodes of two trees are one matrix product. The vectors are those of the bundled model's last
layer, which are what it was trained to tell meanings apart by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from checkers.equivalence.trees import Tree
from models.local.encoder import encode, unit

Vectors = npt.NDArray[np.float32]
"""(nodes, dimensions), rows of length 1."""

Similarities = npt.NDArray[np.float32]
"""(nodes of the first sentence, nodes of the second)."""

_DIGITS = 4
"""The same sentence in another batch differs in the last digits; rounding keeps that from changing an edge."""


def encoded(trees: Sequence[Tree]) -> list[Vectors]:
    """For each sentence the vectors of its nodes, in their order. Any number of threads may ask."""
    readings = encode([_stretch(one) for one in trees], depth=1.0)
    return [pooled(one, words) for one, (words, _) in zip(trees, readings, strict=True)]


def pooled(tree: Tree, words: npt.NDArray[np.float32]) -> Vectors:
    """The mean over each node's words, at length 1, from the vectors of the sentence's words (words, dimensions)."""
    tokens = np.zeros((len(tree.tokens) + 1, words.shape[1]), dtype=np.float64)
    tokens[[tree.starts[leaf] + 1 for leaf in tree.words]] = words
    sums = tokens.cumsum(axis=0)
    return unit((sums[list(tree.ends)] - sums[list(tree.starts)]).astype(np.float32))


def similarities(first: Vectors, second: Vectors) -> Similarities:
    """The cosine of every node of the first with every node of the second."""
    found: Similarities = np.round(first @ second.T, _DIGITS)
    return found


def _stretch(tree: Tree) -> tuple[str, list[tuple[int, int]]]:
    """The sentence from its first word to its last, and where each word stands in that."""
    tokens = [tree.starts[leaf] for leaf in tree.words]
    spans = [(tree.token_starts[token], tree.token_starts[token] + len(tree.tokens[token])) for token in tokens]
    first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    return tree.sentence[first:last], [(start - first, end - first) for start, end in spans]
