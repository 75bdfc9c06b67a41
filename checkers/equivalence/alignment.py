"""The matching graph of two trees and the four alignments found in it (oracle-checker, algorithm 1).

An alignment maps phrases of one sentence, its source, to phrases of the other; it stands as soon as every word of the
sentence that is to be covered lies in a matched phrase and every pair of phrases is confirmed. Beyond the paper, equal
words that both sentences leave over at the same place are paired, too: a word by itself is no phrase.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from checkers.equivalence.aligned import AlignedSentences, PhrasePair, RhoAlignment
from checkers.equivalence.equality import plain_form
from checkers.equivalence.phrases import Phrases

Similarities = npt.NDArray[np.float32]
"""(nodes of the first sentence, nodes of the second)."""


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
    """The roots of all matching paths of the source, each with what it matches best, and equal words left over."""
    if not len(source) or not len(target):
        return []
    # Each node has an edge to the most similar one of the target and to no other: the paper's matching graph.
    graph: list[int] = similarities.argmax(axis=1).tolist()
    found: dict[int, int] = {}
    for leaf in source.words:
        root, match = _end_of_path(source, target, graph, leaf)
        if root != leaf and (root not in found or similarities[root, match] > similarities[root, found[root]]):
            found[root] = match
    matched = list(found.items())
    return sorted([*matched, *_equal_words(source, target, matched)])


def _end_of_path(source: Phrases, target: Phrases, graph: Sequence[int], leaf: int) -> tuple[int, int]:
    """The last node of the matching path that begins with a leaf, and what it matches.

    A parent is on the path where its match is the parent of what the node below matches. The source's root is on none.
    Every node has a sibling, as unary chains are collapsed.
    """
    node, match = leaf, graph[leaf]
    while (above := source.parents[node]) > 0 and target.parents[match] == graph[above]:
        node, match = above, graph[above]
    return node, match


def _equal_words(source: Phrases, target: Phrases, matched: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The words of stretches that no phrase covers, and that are equal and at the same place in both sentences.

    Whole stretches are compared: else “voted for” and “voted against”, prepositions being exempt, would share “voted”.
    Two are at the same place if the same phrases stand before them: else “only” could move from one phrase to another.
    """
    here, there = (
        {
            (_before(phrases, roots, stretch), *(plain_form(phrases.text(word)) for word in stretch)): stretch
            for stretch in _left_over(phrases, roots)
        }
        for phrases, roots in ((source, [one for one, _ in matched]), (target, [other for _, other in matched]))
    )
    return [
        pair for place, stretch in here.items() if place in there for pair in zip(stretch, there[place], strict=True)
    ]


def _left_over(phrases: Phrases, roots: Sequence[int]) -> list[list[int]]:
    """The words that no phrase covers, those that stand together in one list."""
    covered = _covered(phrases, roots)
    runs = groupby(phrases.words, key=lambda word: phrases.starts[word] in covered)
    return [list(words) for is_covered, words in runs if not is_covered]


def _before(phrases: Phrases, roots: Sequence[int], stretch: Sequence[int]) -> tuple[bool, ...]:
    """For each phrase whether it stands before a stretch of words."""
    return tuple(phrases.starts[root] < phrases.starts[stretch[0]] for root in roots)


def _covered(phrases: Phrases, roots: Sequence[int]) -> set[int]:
    """The tokens that lie in some phrase."""
    return {token for root in roots for token in range(phrases.starts[root], phrases.ends[root])}


def _uncovered(phrases: Phrases, roots: Sequence[int]) -> tuple[tuple[int, int], ...]:
    covered = _covered(phrases, roots)
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
