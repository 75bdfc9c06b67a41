"""Trees: any text has one, its phrases begin and end between chunks, and marks are no part of it."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.similarity import encoded, pooled, similarities
from checkers.equivalence.trees import Tree, is_punctuation, parse

WORDS = (
    "the a of in to that which who and or but , . ; : ( ) \" ' ’ “ ” -- … 's n't not because before as well such more"
    " than is was has been had will may said makes going taken dog cities red quickly 12 $ % £5.3 U.S. Mr. I he her"
    " there what how many whose 中文 ñandú \u200b \x01 😀 a-b-c -x- & \ud800"
).split(" ")

mixtures = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)
texts = st.text(min_size=1, max_size=80)
marks = st.text(alphabet=string.punctuation + " aI1’", min_size=1, max_size=40)


def check(tree: Tree, sentence: str) -> None:
    """Every word a leaf, once and in order; each other node has two children at least."""
    assert "".join(tree.tokens) == "".join(sentence.split())
    assert all(sentence.startswith(token, start) for token, start in zip(tree.tokens, tree.token_starts, strict=True))
    words = [place for place, token in enumerate(tree.tokens) if token in "?？؟" or not is_punctuation(token)]
    assert [tree.starts[leaf] for leaf in tree.words] == words
    children = [0] * len(tree)
    for parent in tree.parents[1:]:
        children[parent] += 1
    assert 1 not in children
    assert [node for node, count in enumerate(children) if not count] == list(tree.words)


@given(st.one_of(mixtures, texts, marks).filter(str.strip))
def test_any_text_has_a_tree_over_all_of_it_and_the_same_one_again(sentence: str) -> None:
    tree = parse(sentence)
    check(tree, sentence)
    assert parse(sentence) == tree


@pytest.mark.parametrize("unit", ["of ", "( ", "that he said ", "big, red, ", "a.", "'"])
def test_a_long_text_has_a_tree(unit: str) -> None:
    """Time that grew with the square would take minutes."""
    sentence = unit * (10_000 // len(unit))
    check(parse(sentence), sentence)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The old man rested in the shade of a tree.",
            {"The old man", "rested in the shade of a tree", "in the shade", "in the shade of a tree", "of a tree"},
        ),
        ("They will not be told before Friday.", {"will not be told", "will not be told before Friday"}),
        ("The mayor said that it rained.", {"The mayor", "said that it rained", "that it", "that it rained"}),
        ("The mill which burned and the barn stood there.", {"The mill", "and the barn stood there"}),
        ("Ada, a cousin of ours, smiled.", {"a cousin", "of ours", "of ours, smiled", "a cousin of ours, smiled"}),
        ("My neighbour's dog can’t chase hens.", {"My neighbour's dog", "can’t chase hens", "n’t"}),
        # Brackets and quotation marks come in pairs.
        ('"Old hats" that sit.', {"Old hats", "that sit"}),
        ("He said that it rained (hard).", {"that it rained (hard)", "rained (hard)"}),
    ],
)
def test_phrases_begin_at_prepositions_verbs_and_behind_commas(sentence: str, expected: set[str]) -> None:
    found = parse(sentence)
    assert expected <= {found.text(node) for node in range(len(found))}


def test_signs_that_are_spoken_are_words() -> None:
    assert not any(map(is_punctuation, ["%", "&", "+", "n't", "rain"]))
    assert all(map(is_punctuation, ["“", "`", "-"]))


def node(tree: Tree, text: str) -> int:
    return next(place for place in range(len(tree)) if tree.text(place) == text)


def test_the_vector_of_a_phrase_is_the_mean_of_its_words_without_the_marks() -> None:
    tree = parse("The, mill stood still.")
    vectors = pooled(tree, np.eye(4, dtype=np.float32))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.allclose(vectors[node(tree, "mill stood still")], np.array([0, 1, 1, 1]) / np.sqrt(3), atol=1e-6)
    assert np.allclose(vectors[node(tree, "still")], [0, 0, 0, 1], atol=1e-6)
    assert np.allclose(vectors[0], 0.5, atol=1e-6)


def test_a_phrase_is_most_like_what_says_the_same() -> None:
    chef, cook = parse("The young chef opened a small bakery."), parse("The young cook opened a little bakery.")
    found = similarities(*encoded([chef, cook]))
    for mine, theirs in (
        ("The young chef", "The young cook"),
        ("opened a small bakery", "opened a little bakery"),
        ("chef", "cook"),
    ):
        assert cook.text(int(found[node(chef, mine)].argmax())) == theirs
