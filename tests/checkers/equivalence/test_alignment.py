"""Alignments: which phrases match, what they cover, and what is left over."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence import alignment as aligning
from checkers.equivalence.alignment import Aligner, Alignments, align
from checkers.equivalence.similarity import Similarities, encoded
from checkers.equivalence.trees import Tree, parse
from schemas.equivalence import PhraseAlignment

FARMERS = "(ROOT (S (NP (DT the) (NNS farmers)) (VP (VBD sold) (NP (DT the) (JJ red) (NNS apples)))))"
GROWERS = "(ROOT (S (NP (DT the) (NNS growers)) (VP (VBD sold) (NP (DT the) (JJ red) (NNS apples)))))"

WORDS = st.sampled_from("the a of in red old mill crew day plan sold said will open".split())
TREES = st.recursive(
    WORDS.map(lambda word: f"({'IN' if word in {'of', 'in'} else 'NN'} {word})"),
    lambda below: st.lists(below, min_size=2, max_size=3).map(lambda parts: f"(XP {' '.join(parts)})"),
    max_leaves=14,
)

ALIKE = {frozenset(("farmers", "growers")): 0.9, frozenset(("red", "crimson")): 0.8}


def tree_of(brackets: str) -> Tree:
    """A tree written in brackets, over its words with blanks between; who has one child is that."""
    words: list[str] = []
    opened: list[list[Any]] = [[]]
    for label, word in re.findall(r"\((\w+)|([^ ()]+|\))", brackets):
        if label:
            opened.append([])
        elif word != ")":
            opened[-1].append(len(words))
            words.append(word)
        else:
            below = opened.pop()
            opened[-1].append(below[0] if len(below) == 1 else below)
    nodes: list[tuple[int, int, int]] = []

    def add(part: Any, parent: int) -> None:
        place, below = len(nodes), part if isinstance(part, list) else []
        nodes.append((leaves(part)[0], leaves(part)[-1] + 1, parent))
        for one in below:
            add(one, place)

    add(opened[0][0], -1)
    starts, ends, parents = zip(*nodes, strict=True)
    places = tuple(len(" ".join(words[:place])) + (place > 0) for place in range(len(words)))
    leaf = tuple(place for place in range(len(nodes)) if place not in parents)
    return Tree(" ".join(words), tuple(words), places, starts, ends, parents, leaf)


def leaves(part: Any) -> list[int]:
    return [leaf for one in part for leaf in leaves(one)] if isinstance(part, list) else [part]


def compared(first: Tree, second: Tree) -> Similarities:
    """Phrases by the words that they share, from 0 to 1, some words counting in part; more of the same is liker."""
    return np.array(
        [[_likeness(first.text(one), second.text(other)) for other in range(len(second))] for one in range(len(first))],
        dtype=np.float32,
    ).reshape(len(first), len(second))


def _likeness(one: str, other: str) -> float:
    ours, theirs = one.split(), other.split()
    return (_found(ours, theirs) + _found(theirs, ours)) / (len(ours) + len(theirs))


def _found(words: list[str], among: list[str]) -> float:
    return sum(max(1.0 if a == b else ALIKE.get(frozenset((a, b)), 0.0) for b in among) for a in words)


def match(first: str, second: str) -> Alignments:
    one, other = tree_of(first), tree_of(second)
    return align(one, other, compared(one, other))


def pairs_of(alignment: PhraseAlignment) -> list[tuple[str, str]]:
    return [(pair.first, pair.second) for pair in alignment.pairs]


def covering(alignment: PhraseAlignment) -> bool:
    return alignment.outcome == "not_asked"


def test_phrases_with_other_words_for_the_same_are_matched():
    found = match(FARMERS, GROWERS)
    assert [one.name for one in found] == ["1>2", "1>2*", "2>1", "2>1*"]
    assert all(map(covering, found))
    assert pairs_of(found[0]) == [("the farmers", "the growers"), ("sold the red apples", "sold the red apples")]


def sentence(*phrases: str) -> str:
    """A tree of two phrases and words between them: `the mill`, `sold bread`, `she`."""
    return f"(S {' '.join(f'(XP {part})' if part.count('(') > 1 else part for part in phrases)})"


MILL, RIVER = "(DT the) (NN mill)", "(DT a) (NN river)"


class TestEqualWords:
    """Those that both sentences leave over."""

    def test_they_are_paired_as_they_stand(self):
        first, second = sentence("(PRP She)", "(VBD sold)", MILL), sentence("(PRP she)", "(VBD sold)", MILL)
        for one in match(first, second):
            assert covering(one)
            assert pairs_of(one) == [("She", "she"), ("sold", "sold"), ("the mill", "the mill")]
            assert [(pair.first_span, pair.second_span) for pair in one.pairs] == [
                ((0, 3),) * 2,
                ((4, 8),) * 2,
                ((9, 17),) * 2,
            ]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (("(PRP she)", "(VBD sold)", MILL), ("(PRP he)", "(VBD sold)", MILL)),
            (("(RB only)", MILL, RIVER), (MILL, "(RB only)", RIVER)),
            ((MILL, "(VBD voted)", "(IN for)", RIVER), (MILL, "(VBD voted)", "(IN against)", RIVER)),
            (
                (MILL, "(IN from)", "(NNP Bern)", "(IN to)", "(NNP Chur)"),
                (MILL, "(IN to)", "(NNP Bern)", "(IN from)", "(NNP Chur)"),
            ),
            ((MILL, "(NNP Ann)", "(VBD saw)", "(NNP Eve)"), (MILL, "(NNP Eve)", "(VBD saw)", "(NNP Ann)")),
            (("(PRP she)", "(VBZ is)", MILL), ("(PRP she)", "(VBZ is)", "(RB not)", MILL)),
        ],
        ids=["another word", "another place", "another preposition", "exchanged", "another order", "one more"],
    )
    def test_they_are_not_paired_in_another_stretch(self, first: tuple[str, ...], second: tuple[str, ...]):
        for one in match(sentence(*first), sentence(*second)):
            assert not covering(one)
            assert ("the mill", "the mill") in pairs_of(one)
            assert all(len(pair.first.split()) == 2 for pair in one.pairs)


@given(TREES, TREES)
def test_swapping_the_sentences_swaps_the_directions(first: str, second: str):
    forth, back = ({one.name: one for one in match(*pair)} for pair in ((first, second), (second, first)))
    for name, swapped in (("1>2", "2>1"), ("1>2*", "2>1*"), ("2>1", "1>2"), ("2>1*", "1>2*")):
        assert forth[name].uncovered == back[swapped].uncovered
        assert {(b, a) for a, b in pairs_of(forth[name])} == {*pairs_of(back[swapped])}


@given(TREES, TREES)
def test_words_are_covered_or_named_or_single_prepositions(first: str, second: str):
    sentences = (tree_of(first).sentence, tree_of(second).sentence)
    for one in match(first, second):
        spans = [(pair.first_span, pair.second_span)[one.covers - 1] for pair in one.pairs]
        covered = {at for span in spans for at in range(*span)}
        named = {at for word in one.uncovered for at in range(word.start, word.end)}
        assert not covered & named
        sentence = sentences[one.covers - 1]
        for token in re.finditer(r"\w+", sentence):
            assert (token.start() in covered | named) or token[0] in {"of", "in"}
            assert token.start() not in named or token[0] not in {"of", "in"}


MILLS = ("The old mill by the river was sold in May.", "In May somebody sold the old mill.", "The road is closed.")


async def test_each_sentence_is_parsed_and_encoded_once(monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    parsed: list[str] = []

    def noted(trees: Sequence[Tree]) -> list[Similarities]:
        read.extend(one.sentence for one in trees)
        return encoded(trees)

    def counted(sentence: str) -> Tree:
        parsed.append(sentence)
        return parse(sentence)

    monkeypatch.setattr(aligning, "_load", lambda: noted)
    monkeypatch.setattr(aligning, "parse", counted)
    aligner = Aligner()
    for pair in ((0, 1), (0, 2), (2, 1), (0, 0)):
        await aligner.align(MILLS[pair[0]], MILLS[pair[1]])
    await aligner.close()
    assert sorted(read) == sorted(parsed) == sorted(MILLS)
