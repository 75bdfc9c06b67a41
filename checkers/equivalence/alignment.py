"""The matching graph of two trees and the four alignments found in it (oracle-checker, algorithm 1).

An alignment maps phrases of one sentence, its source, to phrases of the other; it stands as soon as every word of the
sentence that is to be covered lies in a matched phrase and every pair of phrases is confirmed. Beyond the paper, equal
words that both sentences leave over at the same place are paired, too: a word by itself is no phrase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from cachetools import LRUCache

from checkers.checker import Undecidable
from checkers.equivalence.trees import Tree, holds_words, parse, plain_form, same_text
from models.model_loading import ModelThread
from models.protocol import ModelFailed
from models.work import Phase
from schemas.equivalence import AlignedPhrases, PhraseAlignment, UncoveredWord

if TYPE_CHECKING:
    from checkers.equivalence.similarity import Similarities, Vectors

Side = Literal[1, 2]
Alignments: TypeAlias = tuple[PhraseAlignment, ...]
"""The four, `1>2`, `1>2*`, `2>1` and `2>1*`. Before anything is asked, those that cover their sentence are `not_asked`.
Pairs stand in the source's order, wider before narrower; nested ones too, and equal words that no phrase covers."""
_FOUR: tuple[tuple[Literal["1>2", "1>2*", "2>1", "2>1*"], Side, Side], ...] = (
    ("1>2", 1, 1),
    ("1>2*", 1, 2),
    ("2>1", 2, 2),
    ("2>1*", 2, 1),
)
"""Name and source of each, and the sentence that it covers."""

MOST_CHARACTERS = 2_000
"""Characters of a sentence: parsing and comparing grow with the square of its words, and no sentence is longer."""
_KEPT_NODES = 20_000
"""Bound on the encoded sentences that are kept, some 30 MB: a test of a no compares each with up to six others."""


_Nodes: TypeAlias = list[tuple[int, int]]
"""Pairs of nodes, the first sentence's first."""


def align(first: Tree, second: Tree, similarities: Similarities) -> Alignments:
    """Find the four alignments of two sentences."""
    back = [(there, here) for here, there in _pairs(second, first, similarities.T)]
    matched: Mapping[Side, _Nodes] = {1: _pairs(first, second, similarities), 2: back}

    def pair(one: int, other: int) -> AlignedPhrases:
        return AlignedPhrases(
            first=first.text(one),
            second=second.text(other),
            first_span=first.span(one),
            second_span=second.span(other),
            similarity=round(float(similarities[one, other]), 4),
        )

    pairs = {source: tuple(pair(*nodes) for nodes in found) for source, found in matched.items()}
    return _four(pairs, {source: _uncovered((first, second), found) for source, found in matched.items()})


def _four(
    pairs: Mapping[Side, tuple[AlignedPhrases, ...]], left: Mapping[Side, tuple[tuple[UncoveredWord, ...], ...]]
) -> Alignments:
    """By source: the pairs, and the words of either sentence that those do not cover."""
    return tuple(
        PhraseAlignment(
            name=name,
            source=source,
            covers=covers,
            outcome="uncovered" if left[source][covers - 1] or not pairs[source] else "not_asked",
            pairs=pairs[source],
            uncovered=left[source][covers - 1],
        )
        for name, source, covers in _FOUR
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


def _uncovered(trees: tuple[Tree, Tree], matched: _Nodes) -> tuple[tuple[UncoveredWord, ...], ...]:
    """The words of each sentence that no phrase covers, single prepositions left out."""
    found = []
    for side, tree in enumerate(trees):
        covered = _covered(tree, [nodes[side] for nodes in matched])
        away = {leaf: tree.span(leaf) for leaf in tree.words if tree.starts[leaf] not in covered}
        left = {start for leaf, (start, _) in away.items() if not tree.is_preposition(leaf)}
        # What ends where another begins is part of a name: AT&T.
        spans = {leaf: (start, end) for leaf, (start, end) in away.items() if {start, end} & left}
        found.append(tuple(UncoveredWord(text=tree.text(leaf), start=a, end=b) for leaf, (a, b) in spans.items()))
    return tuple(found)


_Encode: TypeAlias = "Callable[[Sequence[Tree]], list[Vectors]]"


class Aligner:
    """Aligns sentences, each parsed and encoded once, on its own thread; belongs to one event loop, never blocked.

    The model is loaded with the first sentences.
    """

    def __init__(self) -> None:
        self._thread = ModelThread("the model that compares phrases", _load)
        self._encoded: LRUCache[str, tuple[Tree, Vectors]] = LRUCache(_KEPT_NODES, lambda one: len(one[0]))
        """By sentence; used on the thread alone."""

    async def align(self, first: str, second: str) -> Alignments:
        """The four alignments of two sentences, nothing asked yet; raises Undecidable or ModelFailed."""
        for length in map(len, (first, second)):
            if length > MOST_CHARACTERS:
                detail = f"a sentence has {length} characters; at most {MOST_CHARACTERS} are parsed"
                raise Undecidable("too_long", detail)
        if same_text(first, second) and holds_words(first):
            # Each of the four is one pair, of the sentences themselves.
            one, other = ((len(text) - len(text.lstrip()), len(text.rstrip())) for text in (first, second))
            whole = AlignedPhrases(
                first=first.strip(), second=second.strip(), first_span=one, second_span=other, similarity=1.0
            )
            return _four({1: (whole,), 2: (whole,)}, {1: ((), ()), 2: ((), ())})
        encode = await self._thread.model()
        with Phase("computed"):
            return await self._thread.run(partial(self._aligned, encode, first, second))

    async def close(self) -> None:
        """End the thread once its work is done."""
        self._thread.end()

    def _aligned(self, encode: _Encode, first: str, second: str) -> Alignments:
        from checkers.equivalence.similarity import similarities

        known = {sentence: self._encoded[sentence] for sentence in (first, second) if sentence in self._encoded}
        trees = [parse(sentence) for sentence in dict.fromkeys((first, second)) if sentence not in known]
        for tree in trees:
            if not tree:
                raise Undecidable("empty_text", f"“{tree.sentence[:40]}” holds no word")
        for tree, rows in zip(trees, encode(trees) if trees else (), strict=True):
            known[tree.sentence] = self._encoded[tree.sentence] = tree, rows
        (one, mine), (other, theirs) = (known[sentence] for sentence in (first, second))
        return align(one, other, similarities(mine, theirs))


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
