"""The matching graph of two trees and the four alignments found in it (oracle-checker, algorithm 1).

An alignment maps phrases of one sentence, its source, to phrases of the other; it stands as soon as every word of the
sentence that is to be covered lies in a matched phrase and every pair of phrases is confirmed. Beyond the paper, equal
words that both sentences leave over at the same place are paired, too: a word by itself is no phrase.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias

from cachetools import LRUCache

from checkers.checker import Undecidable
from checkers.equivalence.trees import Tree, holds_words, parse, plain_form, same_text
from models.model_loading import ModelThread
from models.protocol import ModelFailed
from models.work import Phase, gather_or_cancel

if TYPE_CHECKING:
    from checkers.equivalence.similarity import Similarities, Vectors

Side = Literal[1, 2]
"""The first sentence or the second."""
_FOUR: tuple[tuple[Side, Side], ...] = ((1, 1), (1, 2), (2, 2), (2, 1))
"""Source of each alignment, and the sentence that it covers."""

MOST_CHARACTERS = 2_000
"""Characters of a sentence: parsing and comparing grow with the square of its words, and no sentence is longer."""
_KEPT_NODES = 20_000
"""Bound on the encoded sentences that are kept, some 30 MB: a test of a no compares each with up to six others."""


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """A matched pair of phrases."""

    first: str
    """The phrase of the first sentence, whichever the source is."""
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
    """In the source's order, wider before narrower; nested ones too, and equal words that no phrase covers."""
    uncovered: tuple[tuple[int, int], ...]
    """Characters of the words of `covers` that no phrase covers, single prepositions left out."""

    @property
    def name(self) -> str:
        """`1>2`, `1>2*`, `2>1` or `2>1*`."""
        return f"{self.source}>{3 - self.source}{'' if self.source == self.covers else '*'}"

    @property
    def covering(self) -> bool:
        """True if it needs nothing but its pairs to be confirmed."""
        return bool(self.pairs) and not self.uncovered


@dataclass(frozen=True, slots=True)
class AlignedSentences:
    """Two sentences and their alignments: the material of a proof, before anything is asked."""

    sentences: tuple[str, str]
    alignments: tuple[RhoAlignment, ...]
    """`1>2`, `1>2*`, `2>1`, `2>1*`."""


_Nodes: TypeAlias = list[tuple[int, int]]
"""Pairs of nodes, the first sentence's first."""


def align(first: Tree, second: Tree, similarities: Similarities) -> AlignedSentences:
    """Find the four alignments of two sentences."""
    trees = (first, second)
    back = [(there, here) for here, there in _pairs(second, first, similarities.T)]
    matched: Mapping[Side, _Nodes] = {1: _pairs(first, second, similarities), 2: back}

    def pair(one: int, other: int) -> PhrasePair:
        similarity, spans = float(similarities[one, other]), (first.span(one), second.span(other))
        return PhrasePair(first.text(one), second.text(other), similarity, spans)

    return AlignedSentences(
        (first.sentence, second.sentence),
        tuple(
            RhoAlignment(
                source,
                covers,
                tuple(pair(*nodes) for nodes in matched[source]),
                _uncovered(trees[covers - 1], [nodes[covers - 1] for nodes in matched[source]]),
            )
            for source, covers in _FOUR
        ),
    )


def _pairs(source: Tree, target: Tree, similarities: Similarities) -> _Nodes:
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


def _end_of_path(source: Tree, target: Tree, graph: Sequence[int], leaf: int) -> tuple[int, int]:
    """The last node of the matching path that begins with a leaf, and what it matches.

    A parent is on the path where its match is the parent of what the node below matches. The source's root is on none.
    Every node has a sibling, as unary chains are collapsed.
    """
    node, match = leaf, graph[leaf]
    while (above := source.parents[node]) > 0 and target.parents[match] == graph[above]:
        node, match = above, graph[above]
    return node, match


def _equal_words(source: Tree, target: Tree, matched: _Nodes) -> _Nodes:
    """The words of stretches that no phrase covers, and that are equal and at the same place in both sentences.

    Whole stretches are compared: else “voted for” and “voted against”, prepositions being exempt, would share “voted”.
    Two are at the same place if the same phrases stand before them: else “only” could move from one phrase to another.
    """
    here, there = (
        {
            (
                tuple(tree.starts[root] < tree.starts[stretch[0]] for root in roots),
                *(plain_form(tree.text(word)) for word in stretch),
            ): stretch
            for stretch in _left_over(tree, roots)
        }
        for tree, roots in ((source, [one for one, _ in matched]), (target, [other for _, other in matched]))
    )
    return [
        pair for place, stretch in here.items() if place in there for pair in zip(stretch, there[place], strict=True)
    ]


def _left_over(tree: Tree, roots: Sequence[int]) -> list[list[int]]:
    """The words that no phrase covers, those that stand together in one list."""
    covered = _covered(tree, roots)
    runs = groupby(tree.words, key=lambda word: tree.starts[word] in covered)
    return [list(words) for is_covered, words in runs if not is_covered]


def _covered(tree: Tree, roots: Sequence[int]) -> set[int]:
    """The tokens that lie in some phrase."""
    return {token for root in roots for token in range(tree.starts[root], tree.ends[root])}


def _uncovered(tree: Tree, roots: Sequence[int]) -> tuple[tuple[int, int], ...]:
    covered = _covered(tree, roots)
    left = (leaf for leaf in tree.words if tree.starts[leaf] not in covered)
    return tuple(tree.span(leaf) for leaf in left if not tree.is_preposition(leaf))


_Encoded: TypeAlias = "tuple[Tree, Vectors]"
_ENCODED: LRUCache[str, _Encoded] = LRUCache(maxsize=_KEPT_NODES, getsizeof=lambda one: len(one[0]))
"""By sentence, whichever checker parsed it."""
_LOCK = Lock()
_Encode: TypeAlias = "Callable[[Sequence[Tree]], list[Vectors]]"


class Aligner:
    """Aligns sentences, each parsed and encoded once, on its own thread; belongs to one event loop, never blocked.

    The model is loaded with the first sentences.
    """

    def __init__(self) -> None:
        self._thread = ModelThread("the model that compares phrases", _load)

    async def align(self, first: str, second: str) -> AlignedSentences:
        """The four alignments of two sentences, nothing asked yet. The same text twice takes neither parser nor model.

        Raises:
            Undecidable: a sentence has no word, or is too long.
            ModelFailed: the model cannot be used.
        """
        for length in map(len, (first, second)):
            if length > MOST_CHARACTERS:
                detail = f"a sentence has {length} characters; at most {MOST_CHARACTERS} are parsed"
                raise Undecidable("too_long", detail)
        if same_text(first, second) and holds_words(first):
            # Each of the four is one pair, of the sentences themselves.
            spans = [(len(text) - len(text.lstrip()), len(text.rstrip())) for text in (first, second)]
            whole = PhrasePair(first.strip(), second.strip(), 1.0, (spans[0], spans[1]))
            return AlignedSentences((first, second), tuple(RhoAlignment(*sides, (whole,), ()) for sides in _FOUR))
        sentences = dict.fromkeys((first, second))
        with _LOCK:
            known = {sentence: _ENCODED[sentence] for sentence in sentences if sentence in _ENCODED}
        new = [sentence for sentence in sentences if sentence not in known]
        encode = await self._thread.model()
        with Phase("computed"):
            parsed = await gather_or_cancel(map(_parsed, new))
            encoded, aligned = await self._thread.run(partial(_align, encode, (first, second), known, parsed))
        with _LOCK:
            for sentence in new:
                if len(encoded[sentence][0]) <= _ENCODED.maxsize:
                    _ENCODED[sentence] = encoded[sentence]
        return aligned

    async def close(self) -> None:
        """End the thread once its work is done."""
        self._thread.close()


async def _parsed(sentence: str) -> Tree:
    tree = await asyncio.to_thread(parse, sentence)
    if not tree:
        raise Undecidable("empty_text", f"“{sentence[:40]}” holds no word")
    return tree


def _align(
    encode: _Encode, sentences: tuple[str, str], known: Mapping[str, _Encoded], parsed: Sequence[Tree]
) -> tuple[dict[str, _Encoded], AlignedSentences]:
    from checkers.equivalence.similarity import similarities

    vectors = encode(parsed) if parsed else ()
    encoded = {**known, **{tree.sentence: (tree, rows) for tree, rows in zip(parsed, vectors, strict=True)}}
    (first, mine), (second, theirs) = (encoded[sentence] for sentence in sentences)
    return encoded, align(first, second, similarities(mine, theirs))


@cache
def _load() -> _Encode:
    # Whatever the number of checkers: any thread may ask it.
    try:
        from checkers.equivalence.similarity import encoded
        from models.local.encoder import bundled
    except ImportError as error:
        detail = f"a package is missing ({error}); comparing phrases needs `pip install 'assay[local]'`"
        raise ModelFailed(detail, cause="judge_failed") from error
    bundled()
    return encoded
