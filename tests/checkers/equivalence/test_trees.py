"""Trees: what is read from brackets is a tree over the sentence, and everything else is told apart."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.phrases import phrases
from checkers.equivalence.trees import (
    DEEPEST,
    Node,
    Tree,
    TreeFault,
    from_brackets,
    is_punctuation,
    located,
    nodes,
    to_brackets,
)

WORDS = st.text("abcXYZ09$%&'-é東", min_size=1, max_size=6)
LABELS = st.sampled_from(["S", "NP", "VP", "PP", "NN", "IN", "WHNP", "-LRB-", ""])
LEAVES = st.builds(lambda label, word: f"({label} {word})", LABELS, WORDS)
BRACKETS = st.recursive(
    LEAVES,
    lambda below: st.builds(
        lambda label, parts: f"({label} {' '.join(parts)})", LABELS, st.lists(below, min_size=1, max_size=4)
    ),
    max_leaves=20,
)

DOG = "(ROOT (S (NP (DT The) (NN dog)) (VP (VBZ barks) (PRN (-LRB- -LRB-) (ADJP (RB loudly)) (-RRB- -RRB-))) (. .)))"


class TestReading:
    @given(BRACKETS)
    def test_a_tree_is_written_as_it_was_read(self, text: str) -> None:
        tree = from_brackets(text)
        again = from_brackets(to_brackets(tree), tree.sentence)
        assert again == tree

    @given(BRACKETS)
    def test_every_token_is_a_leaf_once_and_in_order(self, text: str) -> None:
        tree = from_brackets(text)
        leaves = [node.start for node in nodes(tree.root) if not node.children]
        assert leaves == list(range(len(tree.tokens)))

    def test_escaped_brackets_stand_for_those_of_the_sentence(self) -> None:
        tree = from_brackets(DOG, "The dog barks (loudly).")
        assert tree.tokens == ("The", "dog", "barks", "(", "loudly", ")", ".")
        assert tree.text(2, 6) == "barks (loudly)"
        assert "(-LRB- -LRB-)" in to_brackets(tree)

    @pytest.mark.parametrize(
        ("tokens", "sentence"),
        [
            (["``", "Yes", "''", ",", "she", "said"], "“Yes”, she said"),
            (["``", "Yes", "''", "..."], '"Yes" …'),
            (["either\\/or", "--", "both"], "either/or — both"),
            (["3\u00a01/2", "-LSB-", "miles", "-RSB-"], "3 1/2 [miles]"),
            (["x.org\\/Foo_-LRB-bar-RRB-", "a-LSB-1-RSB-"], "x.org/Foo_(bar) a[1]"),
            (["-LRB-030-RRB-\u00a0555", "f(x)"], "(030) 555 f(x)"),
            (["-LRB-", "a-RRB-"], "-LRB- a-RRB-"),
        ],
    )
    def test_other_ways_to_write_a_token_are_found(self, tokens: list[str], sentence: str) -> None:
        found, starts = located(tokens, sentence)
        assert all(sentence.startswith(token, start) for token, start in zip(found, starts, strict=True))
        assert "".join(found).replace(" ", "") == sentence.replace(" ", "")

    def test_brackets_within_a_token_are_escaped_and_undone(self) -> None:
        text = "(S (VB see) (NN x.org/Foo_-LRB-bar-RRB-_y) (-LRB- -LRB-) (NN f[0]))"
        tree = from_brackets(text)
        assert tree.tokens == ("see", "x.org/Foo_(bar)_y", "(", "f[0]")
        assert to_brackets(tree) == text

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "no tree"),
            ("rain", "begins with a bracket"),
            ("(S", "never closed"),
            ("(S ())", "holds no word"),
            ("(NN rain falls)", "'falls' at character 10 has no bracket of its own"),
            ("(S (NN rain) falls)", "has no bracket of its own"),
            ("(NN rain (VB falls))", "opens behind a word at character 10"),
            ("(NN rain) (VB falls)", "follows the tree at character 11"),
            ("(S " * (DEEPEST + 1) + "rain" + ")" * (DEEPEST + 1), f"more than {DEEPEST} levels"),
        ],
    )
    def test_what_is_no_tree_is_told_with_its_place(self, text: str, said: str) -> None:
        with pytest.raises(TreeFault, match=re.escape(said)):
            from_brackets(text)

    @pytest.mark.parametrize("sentence", ["rain fell", "falls rain", "rain falls down", "rain", ""])
    def test_a_tree_over_other_words_is_refused(self, sentence: str) -> None:
        with pytest.raises(TreeFault):
            from_brackets("(S (NN rain) (VB falls))", sentence)


@pytest.mark.parametrize(
    ("token", "tag", "is_mark"),
    [
        ("%", "NN", False),
        ("&", "CC", False),
        ("“", "NN", True),
        ("`", "NN", True),
        ("-", "HYPH", True),
        ("x", "NFP", True),
        ("-", "NN", True),
        ("n't", "RB", False),
        ("rain", "NN", False),
        ("+", "SYM", False),
    ],
)
def test_marks_and_words_are_told_apart(token: str, tag: str, is_mark: bool) -> None:
    assert is_punctuation(token, tag) is is_mark


class TestATree:
    @pytest.mark.parametrize(
        "root",
        [
            Node(0, 1, "NN"),
            Node(0, 2, "S", (Node(0, 1, "NN"),)),
            Node(0, 2, "S", (Node(1, 2, "NN"), Node(0, 1, "NN"))),
            Node(0, 2, "NN"),
            Node(0, 2, "S", (Node(0, 1, "NN"), Node(1, 2, "(VB"))),
        ],
    )
    def test_nodes_that_are_no_tree_over_the_tokens_are_refused(self, root: Node) -> None:
        with pytest.raises(TreeFault):
            Tree("rain falls", ("rain", "falls"), (0, 5), root)

    @pytest.mark.parametrize("starts", [(0, 4), (5, 0), (0,), (0, 50)])
    def test_tokens_stand_where_they_are_said_to(self, starts: tuple[int, ...]) -> None:
        with pytest.raises(TreeFault):
            Tree("rain falls", ("rain", "falls"), starts, Node(0, 2, "S", (Node(0, 1, "NN"), Node(1, 2, "VB"))))


class TestNormalising:
    @given(BRACKETS)
    def test_every_node_is_a_word_or_has_a_sibling_below(self, text: str) -> None:
        found = phrases(from_brackets(text))
        children = [found.parents.count(node) for node in range(len(found))]
        assert all(count != 1 for count in children)
        assert [node for node, count in enumerate(children) if not count] == list(found.words)
        assert found.parents[:1] in ((), (-1,))

    def test_punctuation_is_left_out_and_chains_collapse(self) -> None:
        found = phrases(from_brackets(DOG, "The dog barks (loudly)."))
        assert [found.text(node) for node in range(len(found))] == [
            "The dog barks (loudly)",
            "The dog",
            "The",
            "dog",
            "barks (loudly)",
            "barks",
            "loudly",
        ]

    @pytest.mark.parametrize(
        ("text", "sentence", "phrase"),
        [
            ("(S (`` \") (NP (JJ old) (NN hat)) ('' \") (VP (VBD said) (PRP he)))", '"old hat" said he', "old hat"),
            ("(S (NP (NN (-LRB- -LRB-) (NN tall) (-RRB- -RRB-)) (NN men)) (VBP sit))", "(tall) men sit", "(tall) men"),
            ("(S (NP (DT a) (`` \") (JJ fair) ('' \")) (VBP sit))", 'a "fair" sit', 'a "fair"'),
            ("(S (NP (DT a) (-RRB- -RRB-) (JJ fair)) (VBP sit))", "a) fair sit", "a) fair"),
        ],
    )
    def test_brackets_and_quotation_marks_come_in_pairs(self, text: str, sentence: str, phrase: str) -> None:
        found = phrases(from_brackets(text, sentence))
        assert phrase in [found.text(node) for node in range(len(found))]

    def test_a_sentence_of_marks_has_no_nodes(self) -> None:
        assert not len(phrases(from_brackets("(S (. .) (: --))")))

    def test_only_prepositions_by_themselves_are_excepted(self) -> None:
        found = phrases(from_brackets("(PP (IN of) (NP (DT the) (NN town)))"))
        assert [leaf in found.prepositions for leaf in found.words] == [True, False, False]
