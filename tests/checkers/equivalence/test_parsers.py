"""The embedded parser: any text has a tree, and its phrases begin and end between chunks."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.parsers import parse_sentence
from checkers.equivalence.phrases import phrases
from checkers.equivalence.trees import Tree, nodes

WORDS = (
    "the a of in to that which who and or but , . ; : ( ) \" ' ’ “ ” -- … 's n't not because before as well such more"
    " than is was has been had will may said makes going taken dog cities red quickly 12 $ % £5.3 U.S. Mr. I he her"
    " there what how many whose 中文 ñandú \u200b \x01 😀 a-b-c -x- & \ud800"
).split(" ")

mixtures = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)
texts = st.text(min_size=1, max_size=80)
marks = st.text(alphabet=string.punctuation + " aI1’", min_size=1, max_size=40)


def check(tree: Tree, sentence: str) -> None:
    """Every token a leaf, once and in order, and none of the text left out."""
    leaves = [node for node in nodes(tree.root) if not node.children]
    assert [(leaf.start, leaf.end) for leaf in leaves] == [(place, place + 1) for place in range(len(tree.tokens))]
    assert (tree.root.start, tree.root.end) == (0, len(tree.tokens))
    assert "".join(tree.tokens) == "".join(sentence.split())
    assert all(sentence.startswith(token, start) for token, start in zip(tree.tokens, tree.starts, strict=True))


@given(st.one_of(mixtures, texts, marks).filter(str.strip))
def test_any_text_has_a_tree_over_all_of_it_and_the_same_one_again(sentence: str) -> None:
    tree = parse_sentence(sentence)
    check(tree, sentence)
    assert parse_sentence(sentence) == tree


@pytest.mark.parametrize("unit", ["of ", "( ", "that he said ", "big, red, ", "a.", "'"])
def test_a_long_text_has_a_tree(unit: str) -> None:
    """The longest that may be configured; time that grew with the square would take minutes."""
    sentence = unit * (10_000 // len(unit))
    check(parse_sentence(sentence), sentence)


def test_tokens_stand_as_they_are_written() -> None:
    assert parse_sentence("She can’t pay £5.30, he’d say.").tokens == (
        *("She", "ca", "n’t", "pay", "£5.30", ",", "he", "’d", "say", "."),
    )


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
        ("My neighbour's dog chased the hens.", {"My neighbour's dog", "chased the hens"}),
    ],
)
def test_phrases_begin_at_prepositions_verbs_and_behind_commas(sentence: str, expected: set[str]) -> None:
    found = phrases(parse_sentence(sentence))
    assert expected <= {found.text(node) for node in range(len(found))}
