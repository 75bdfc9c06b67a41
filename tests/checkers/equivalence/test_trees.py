"""Trees: any text has one, its phrases begin and end between chunks; and texts that are the same but for spacing."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.trees import Tree, is_punctuation, parse, same_text
from schemas import EquivalenceEvidence
from tests.checkers.equivalence.conftest import MakeChecker
from tests.checkers.equivalence.setting import StubSubject, decision

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
def test_any_text_has_a_tree_over_all_of_it_and_the_same_one_again(sentence: str):
    tree = parse(sentence)
    check(tree, sentence)
    assert parse(sentence) == tree


@pytest.mark.parametrize("unit", ["of ", "( ", "that he said ", "big, red, ", "a.", "'"])
def test_a_long_text_has_a_tree(unit: str):
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
        ("Ada, a cousin of ours, smiled.", {"a cousin", "of ours", "of ours, smiled", "a cousin of ours, smiled"}),
        ("My neighbour's dog can’t chase hens.", {"My neighbour's dog", "can’t chase hens", "n’t"}),
        ('"Old hats" that sit.', {"Old hats", "that sit"}),
    ],
)
def test_phrases_begin_at_prepositions_verbs_and_behind_commas(sentence: str, expected: set[str]):
    found = parse(sentence)
    assert expected <= {found.text(node) for node in range(len(found))}


SENTENCES = (
    "“Stop!” cried the U.S. guard (all of it): 3.5% of $1,200.50, and nobody did...",
    "Naïve façades over Zürich don't mail office@example.org or call +41 61 555 00 00 at once -- at 10:30 a.m.",
)


def test_it_is_not_the_same_text_where_a_word_or_mark_differs():
    for first, second in (
        ("He is now here.", "He is nowhere."),
        ("Chapters 1, 200 and on.", "Chapters 1,200 and on."),
        ("She left.", "She left?"),
        ("10² m", "102 m"),
        ("a b", "ab"),
    ):
        assert not same_text(first, second)
    assert same_text("cafe\u0301, don’t!", "CAF\u00c9, don't !")


@pytest.mark.parametrize("sentence", SENTENCES)
async def test_it_is_proved_without_a_call(checker_of: MakeChecker, subject: StubSubject, sentence: str):
    """Though the subject denies whatever it is asked, and before any model that compares phrases is loaded."""
    subject.phrases = lambda first, second: False
    checker = checker_of(require="and")
    for second in (sentence, f"  {sentence.upper()}\n", sentence.replace(" ", "\n  ").swapcase()):
        verdict = await checker.check(decision(sentence, second))
        assert (verdict.outcome, verdict.usage.calls) == ("accept", 0), second
        assert isinstance(verdict.evidence, EquivalenceEvidence)
        for one in verdict.evidence.proof.alignments:
            assert one.outcome == "found"
            for pair in one.pairs:
                assert sentence[slice(*pair.first_span)] == pair.first
                assert second[slice(*pair.second_span)] == pair.second
    assert not subject.asked_phrases


async def test_a_word_or_sign_that_only_one_sentence_has_is_proved_by_nobody_who_denies(
    checker_of: MakeChecker, subject: StubSubject
):
    """Wherever it is put in, and by either rule: else "Not all members may vote" were proved without a question."""
    subject.phrases = lambda first, second: False
    checker = checker_of(require="or")
    sentence = "All members may vote in May."
    words = sentence.split()
    longer = [" ".join([*words[:at], more, *words[at:]]) for at in range(len(words)) for more in ("not", "half", "~")]
    for other in (*longer, sentence.replace(".", "?")):
        for pair in ((sentence, other), (other, sentence)):
            assert (await checker.check(decision(*pair))).outcome == "reject", pair
