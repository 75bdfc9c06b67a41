"""Trees and their phrases: what is read from brackets, and what is left of it without marks and chains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.phrases import phrases
from checkers.equivalence.trees import is_punctuation
from tests.checkers.equivalence.plain_trees import tree_of

LABELS = st.sampled_from(["S", "NP", "VP", "PP", "NN", "IN", "WHNP", "-LRB-", ""])
# Two apostrophes stand for a closing quotation mark.
WORDS = st.text("abcXYZ09$%&'-é東", min_size=1, max_size=6).filter(lambda word: word != "''")
LEAVES = st.builds(lambda label, word: f"({label} {word})", LABELS, WORDS)
BRACKETS = st.recursive(
    LEAVES,
    lambda below: st.builds(
        lambda label, parts: f"({label} {' '.join(parts)})", LABELS, st.lists(below, min_size=1, max_size=4)
    ),
    max_leaves=20,
)

DOG = "(ROOT (S (NP (DT The) (NN dog)) (VP (VBZ barks) (PRN (-LRB- -LRB-) (ADJP (RB loudly)) (-RRB- -RRB-))) (. .)))"


@pytest.mark.parametrize(
    ("token", "is_mark"),
    [
        ("%", False),
        ("&", False),
        ("“", True),
        ("`", True),
        ("-", True),
        ("n't", False),
        ("rain", False),
        ("+", False),
    ],
)
def test_marks_and_words_are_told_apart(token: str, is_mark: bool) -> None:
    assert is_punctuation(token) is is_mark


class TestNormalising:
    @given(BRACKETS)
    def test_every_node_is_a_word_or_has_a_sibling_below(self, text: str) -> None:
        found = phrases(tree_of(text))
        children = [found.parents.count(node) for node in range(len(found))]
        assert all(count != 1 for count in children)
        assert [node for node, count in enumerate(children) if not count] == list(found.words)
        assert found.parents[:1] in ((), (-1,))

    def test_punctuation_is_left_out_and_chains_collapse(self) -> None:
        found = phrases(tree_of(DOG, "The dog barks (loudly)."))
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
            (
                "(S (NP (NN (-LRB- -LRB-) (NN tall) (-RRB- -RRB-)) (NN men)) (VBP sit))",
                "(tall) men sit",
                "(tall) men",
            ),
            ("(S (NP (DT a) (`` \") (JJ fair) ('' \")) (VBP sit))", 'a "fair" sit', 'a "fair"'),
            ("(S (NP (DT a) (-RRB- -RRB-) (JJ fair)) (VBP sit))", "a) fair sit", "a) fair"),
        ],
    )
    def test_brackets_and_quotation_marks_come_in_pairs(self, text: str, sentence: str, phrase: str) -> None:
        found = phrases(tree_of(text, sentence))
        assert phrase in [found.text(node) for node in range(len(found))]

    def test_only_prepositions_by_themselves_are_excepted(self) -> None:
        found = phrases(tree_of("(PP (IN of) (NP (DT the) (NN town)))"))
        assert [leaf in found.prepositions for leaf in found.words] == [True, False, False]
