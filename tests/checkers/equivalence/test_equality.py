"""Texts that are the same but for spacing and letter case: nobody is asked about them, whatever they are."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.trees import same_text
from schemas import EquivalenceEvidence
from tests.checkers.equivalence.conftest import MakeChecker
from tests.checkers.equivalence.setting import StubSubject, decision

SENTENCES = (
    "“Stop!” cried the U.S. guard (all of it): 3.5% of $1,200.50, and nobody did...",
    "Naïve façades over Zürich don't mail office@example.org or call +41 61 555 00 00 at once -- at 10:30 a.m.",
)
TOKENS = st.sampled_from([*"a,b;c!(d)é".strip(), "she", "Not", "1,000", "don't", "U.S.", "10:30", "ÉTÉ", "-", "“", "%"])


def test_it_is_not_the_same_text_where_a_word_or_mark_differs() -> None:
    for first, second in (
        ("He is now here.", "He is nowhere."),
        ("Chapters 1, 200 and on.", "Chapters 1,200 and on."),
        ("She left.", "She left?"),
        ("10² m", "102 m"),
        ("a b", "ab"),
    ):
        assert not same_text(first, second)


def test_letters_may_be_composed_or_not_and_apostrophes_of_either_kind() -> None:
    assert same_text("cafe\u0301", "CAF\u00c9")
    assert same_text("Don’t!", "don't !")


@given(st.lists(TOKENS, min_size=1, max_size=12), st.data())
def test_spacing_and_case_do_not_count(tokens: Sequence[str], data: st.DataObject) -> None:
    first = " ".join(tokens)
    blanks = data.draw(
        st.lists(st.sampled_from([" ", "\n", "\t ", "\u00a0"]), min_size=len(tokens), max_size=len(tokens))
    )
    change = data.draw(st.sampled_from([str.upper, str.lower, str.swapcase]))
    assert same_text(first, change("".join(blank + token for blank, token in zip(blanks, tokens, strict=True))))


@pytest.mark.parametrize("sentence", SENTENCES)
async def test_it_is_proved_without_a_call(checker_of: MakeChecker, subject: StubSubject, sentence: str) -> None:
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
) -> None:
    """Wherever it is put in, and by either rule: else "Not all members may vote" were proved without a question."""
    subject.phrases = lambda first, second: False
    checker = checker_of(require="or")
    sentence = "All members may vote in May."
    words = sentence.split()
    longer = [" ".join([*words[:at], more, *words[at:]]) for at in range(len(words)) for more in ("not", "half", "~")]
    for other in (*longer, sentence.replace(".", "?")):
        for pair in ((sentence, other), (other, sentence)):
            assert (await checker.check(decision(*pair))).outcome == "reject", pair


async def test_equal_words_that_no_phrase_covers_are_covered_as_they_stand(
    checker_of: MakeChecker, subject: StubSubject
) -> None:
    """What a subject of one word says is seldom a phrase."""
    subject.phrases = lambda first, second: True
    sentences = ("She washed a car near the mill.", "she cleaned a car near the mill.")
    verdict = await checker_of(require="and").check(decision(*sentences))
    assert verdict.outcome == "accept"
    assert isinstance(verdict.evidence, EquivalenceEvidence)
    for one in verdict.evidence.proof.alignments:
        assert ("She", "she", None) in [(pair.first, pair.second, pair.confirmed) for pair in one.pairs]
    assert ("She", "she") not in subject.asked_phrases
