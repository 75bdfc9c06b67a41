"""The embedded parser: any text has a tree, and common sentences the one that a treebank would give them."""

import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.deciding import Undecidable
from checkers.equivalence.parsers import ParserSettings
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.parsers.embedded.parser import parse_sentence
from checkers.equivalence.trees import Tree, nodes
from tests.checkers.equivalence.parsers.conftest import phrases

GRAMMAR = (
    "the a of in to that which who and or but , . ; : ( ) \" ' ’ “ ” -- … 's n't not because before as well such more"
    " than is was has been had will may said says made going went taken dog cities red quickly 12 $ % £5.3 U.S. Mr."
    " I he her themselves there what how many whose 中文 ñandú \u200b \x01 😀 a-b-c -x- & \ud800"
).split(" ")

mixtures = st.lists(st.sampled_from(GRAMMAR), min_size=1, max_size=40).map(" ".join)
texts = st.text(min_size=1, max_size=80)
marks = st.text(alphabet=string.punctuation + " aI1’", min_size=1, max_size=40)


def check(tree: Tree, sentence: str) -> None:
    """Every token a leaf, once and in order, and none of the text left out."""
    leaves = [node for node in nodes(tree.root) if not node.children]
    assert [(leaf.start, leaf.end) for leaf in leaves] == [(place, place + 1) for place in range(len(tree.tokens))]
    assert (tree.root.start, tree.root.end) == (0, len(tree.tokens))
    assert "".join(tree.tokens) == "".join(sentence.split())


@settings(max_examples=300, deadline=None)
@given(st.one_of(mixtures, texts, marks).filter(str.strip))
def test_any_text_has_a_tree_over_all_of_it(sentence: str) -> None:
    check(parse_sentence(sentence), sentence)


@settings(max_examples=50, deadline=None)
@given(mixtures)
def test_the_same_text_has_the_same_tree(sentence: str) -> None:
    assert parse_sentence(sentence) == parse_sentence(sentence)


@pytest.mark.parametrize(
    "unit",
    ["of ", "and ", "( ", "who ", "that he said ", "to go ", "big, red, ", "in the house of the man ", "a.", "'"],
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    sentence = unit * (10_000 // max(len(unit.split()), 1))
    begun = time.perf_counter()

    check(parse_sentence(sentence), sentence)

    # One that grew with the square would take minutes.
    assert time.perf_counter() - begun < 20


CASES = [
    ("The old man who fed the birds went home.", {"The old man", "who fed the birds", "went home"}),
    ("She put the key under the mat.", {"the key", "under the mat", "put the key under the mat"}),
    ("A friend of my sister has bought a house.", {"A friend of my sister", "of my sister", "bought a house"}),
    ("They will not be told before Friday.", {"will not be told before Friday", "told before Friday"}),
    ("He said that the train was late.", {"that the train was late", "the train was late", "was late"}),
    ("He said the train was late.", {"the train was late", "was late"}),
    ("The cook, a cousin of ours, smiled.", {"a cousin of ours", "The cook, a cousin of ours"}),
    ("We want to sell the boat and buy a tent.", {"sell the boat", "buy a tent", "to sell the boat and buy a tent"}),
    ("Apples, pears and ripe plums were sold.", {"Apples, pears and ripe plums", "ripe plums"}),
    ("If it rains, the match will be moved.", {"If it rains", "it rains", "be moved"}),
    ("My neighbour's dog chased more than 20 hens.", {"My neighbour's", "My neighbour's dog", "more than 20"}),
    ('"The bridge is safe," said the engineer.', {"The bridge is safe", "the engineer"}),
    ("The bridge is safe, the engineer said.", {"The bridge is safe", "the engineer"}),
    ("The letter sent by the bank was lost.", {"The letter sent by the bank", "sent by the bank"}),
    ("It rained because of the warm wind.", {"because of the warm wind", "the warm wind"}),
    ("Dr. Weber met us on Monday.", {"Dr. Weber", "on Monday"}),
    ("Nobody knew which road she took.", {"which road", "which road she took", "she took"}),
    ("The well-known singer left.", {"well-known", "The well-known singer"}),
    ("Prices fell by $4 million last year.", {"by $4 million", "$4 million", "last year"}),
    ("We sat in the shade of a tree (an oak).", {"of a tree (an oak"}),
]


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[sentence for sentence, _ in CASES])
def test_phrases_of_common_sentences(sentence: str, expected: set[str]) -> None:
    found = {phrase.rstrip(",.)\"'") for phrase in phrases(parse_sentence(sentence))}

    assert expected <= found


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("I can't, he'd say.", "I ca n't , he 'd say ."),
        ("We’ve seen O'Neil’s car.", "We ’ve seen O'Neil ’s car ."),
        ("At 5:30 p.m. Mr. Roy paid $1,250.50 (or 3%).", "At 5:30 p.m. Mr. Roy paid $ 1,250.50 ( or 3 % ) ."),
        ("A 65-year-old e-mailed me@example.org.", "A 65 - year - old e-mailed me@example.org ."),
        ("Wait... what?!", "Wait ... what ? !"),
    ],
)
def test_words_are_cut_as_a_treebank_cuts_them(sentence: str, tokens: str) -> None:
    assert " ".join(parse_sentence(sentence).tokens) == tokens


async def test_many_sentences_come_in_order() -> None:
    parser = build_parser(ParserSettings())
    sentences = [f"The cat slept for {number} hours." for number in range(50)]

    trees = await parser.parse(sentences)
    await parser.close()

    assert [tree.sentence for tree in trees] == sentences


async def test_a_blank_text_has_no_tree() -> None:
    parser = build_parser(ParserSettings())

    with pytest.raises(Undecidable):
        await parser.parse(["  \n"])
    await parser.close()
