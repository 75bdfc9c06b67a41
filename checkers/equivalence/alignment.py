"""The matching graph of two trees and the four alignments found in it (oracle-checker, algorithm 1).

An alignment maps phrases of one sentence, its source, to phrases of the other; it stands as soon as every word of the
sentence that is to be covered lies in a matched phrase and every pair of phrases is confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from checkers.equivalence.phrases import Phrases

Similarities = npt.NDArray[np.float32]
"""(nodes of the first sentence, nodes of the second)."""

Side = Literal[1, 2]
"""The first sentence or the second."""

TIE = 0.6
"""What two phrases' similarities to a third may differ by and still be tied, in standard deviations over all nodes of
the two sentences: a phrase and the clause around it are often as good as equally similar, whatever the model."""


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """A matched pair of phrases."""

    first: str
    """Of the first sentence, whichever the source is."""
    second: str
    similarity: float
    """Cosine of the two in their sentences."""
    spans: tuple[tuple[int, int], tuple[int, int]]
    """Their characters in the two sentences."""


@dataclass(frozen=True, slots=True)
class RhoAlignment:
    """One of the four, before anything is asked."""

    source: Side
    """The sentence whose phrases were looked up in the other."""
    covers: Side
    """The sentence whose words must be covered: the source, or the other in a starred alignment."""
    pairs: tuple[PhrasePair, ...]
    """In the source's order, wider before narrower; nested ones too."""
    uncovered: tuple[tuple[int, int], ...]
    """Characters of the words of `covers` that no phrase covers, single prepositions left out."""

    @property
    def name(self) -> str:
        """`1>2`, `1>2*`, `2>1` or `2>1*`."""
        return f"{self.source}>{3 - self.source}{'' if self.source == self.covers else '*'}"

    @property
    def covering(self) -> bool:
        """Whether it needs nothing but its pairs to be confirmed."""
        return bool(self.pairs) and not self.uncovered


@dataclass(frozen=True, slots=True)
class AlignedSentences:
    """Two sentences and their alignments."""

    sentences: tuple[str, str]
    alignments: tuple[RhoAlignment, RhoAlignment, RhoAlignment, RhoAlignment]
    """`1>2`, `1>2*`, `2>1`, `2>1*`."""


def align(first: Phrases, second: Phrases, similarities: Similarities) -> AlignedSentences:
    """Find the four alignments of two sentences."""
    forward = _pairs(first, second, similarities)
    backward = [(there, here) for here, there in _pairs(second, first, similarities.T)]
    there, back = (
        [_pair(first, second, similarities, one, other) for one, other in pairs] for pairs in (forward, backward)
    )
    return AlignedSentences(
        (first.tree.sentence, second.tree.sentence),
        (
            RhoAlignment(1, 1, tuple(there), _uncovered(first, [one for one, _ in forward])),
            RhoAlignment(1, 2, tuple(there), _uncovered(second, [other for _, other in forward])),
            RhoAlignment(2, 2, tuple(back), _uncovered(second, [other for _, other in backward])),
            RhoAlignment(2, 1, tuple(back), _uncovered(first, [one for one, _ in backward])),
        ),
    )


def _pairs(source: Phrases, target: Phrases, similarities: Similarities) -> list[tuple[int, int]]:
    """The roots of all matching paths of the source, each with what it matches best."""
    if not len(source) or not len(target):
        return []
    graph = _graph(source, similarities)
    found: dict[int, int] = {}
    for leaf in source.words:
        paths = (_path(source, target, graph, leaf, start) for start in graph[leaf])
        # The longest; of several the one whose last pair is the most similar, then the first.
        best = max(paths, key=lambda path: (path[0], similarities[path[1:]], -path[2]), default=None)
        if best is None or not best[0]:
            continue
        _, root, match = best
        if root not in found or similarities[root, match] > similarities[root, found[root]]:
            found[root] = match
    return sorted(found.items())


def _graph(source: Phrases, similarities: Similarities) -> list[list[int]]:
    """For each node of the source those of the target that it has an edge to: the most similar, and what ties with it.

    A word's edge leads to the most similar node alone. Nodes that are less alike than nodes on average have no edge.
    The target's root has edges only from what it would itself be matched with below the source's root: else a few
    words could stand for a whole sentence.
    """
    # Rounded, because sums over the transposed matrix differ in the last digits.
    average = round(float(similarities.mean(dtype=np.float64)), 6)
    slack = round(TIE * float(similarities.std(dtype=np.float64)), 6)
    least = np.maximum(similarities.max(axis=1) - slack, average)
    words = list(source.words)
    least[words] = np.maximum(similarities[words].max(axis=1), average)
    edges = similarities >= least[:, None]
    below = similarities[1:, 0]
    edges[1:, 0] &= below >= below.max(initial=-1.0) - slack
    return [np.flatnonzero(row).tolist() for row in edges]


def _path(
    source: Phrases, target: Phrases, graph: Sequence[Sequence[int]], leaf: int, match: int
) -> tuple[int, int, int]:
    """The matching path that begins with a leaf and its match: its steps, its last node and what that matches.

    A parent is on the path where its match is the parent of what the node below matches. The source's root is on none.
    Every node has a sibling, as unary chains are collapsed.
    """
    steps, node = 0, leaf
    while (above := source.parents[node]) > 0 and target.parents[match] in graph[above]:
        steps, node, match = steps + 1, above, target.parents[match]
    return steps, node, match


def _uncovered(phrases: Phrases, roots: list[int]) -> tuple[tuple[int, int], ...]:
    covered = {token for root in roots for token in range(phrases.starts[root], phrases.ends[root])}
    return tuple(
        phrases.span(leaf)
        for leaf in phrases.words
        if phrases.starts[leaf] not in covered and leaf not in phrases.prepositions
    )


def _pair(first: Phrases, second: Phrases, similarities: Similarities, one: int, other: int) -> PhrasePair:
    return PhrasePair(
        first.text(one),
        second.text(other),
        float(similarities[one, other]),
        (first.span(one), second.span(other)),
    )
