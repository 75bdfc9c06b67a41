"""Cases of the shapes that the paper works through (tables 12 to 15), with the embedded parser and bundled model."""

import pytest

from schemas import EquivalenceEvidence, PhraseAlignment, Verdict
from tests.checkers.equivalence.conftest import MakeChecker
from tests.support.equivalence import StubSubject, decision, five_of, verdict_on

CO_REFERENCE = (
    "But she won the long race along the coast on Sunday.",
    "Dana Reyes won the long race along the coast on Sunday.",
)
WHOM_IT_TROUBLES = (
    "The vaccine against hay fever, an illness that troubles millions around the world, was approved yesterday.",
    "The vaccine against hay fever, an illness that troubles millions of farmers, was approved on Friday.",
)
NESTED = (
    "The old orchard behind the mill was sold to a family from the city for a small sum.",
    "A family from the city bought the old orchard behind the mill for a small sum.",
)
ONE_WORD_SUBJECT = (
    "Another was in a stable condition at the clinic in the village.",
    "One more person was in a stable condition at the clinic in the village.",
)
ONE_WORD_ADVERB = (
    "Meanwhile, the rival bidder sent a letter of interest to the board of the airline.",
    "At the same time, the rival bidder sent a letter of interest to the board of the airline.",
)
CLOSE_BUT_NOT_THE_SAME = (
    "The warden told visitors on Sunday not to climb the tower alone and to avoid the roof at night.",
    "The warden advised visitors on Sunday not to climb alone to the tower and to be careful.",
)


def evidence_of(verdict: Verdict) -> EquivalenceEvidence:
    assert isinstance(verdict.evidence, EquivalenceEvidence), verdict.reason
    return verdict.evidence


def left_over(verdict: Verdict, covers: int) -> set[str]:
    """The words of a sentence that no alignment which is to cover it covers."""
    words = [
        {word.text for word in one.uncovered} for one in evidence_of(verdict).proof.alignments if one.covers == covers
    ]
    return set.intersection(*words)


class TestLeftovers:
    """Table 12."""

    async def test_a_pronoun_and_the_name_it_stands_for_are_left_over(self, checker_of: MakeChecker) -> None:
        verdict = await verdict_on(checker_of(), decision(*CO_REFERENCE))
        assert verdict.outcome == "reject"
        assert left_over(verdict, 1) == {"But", "she"}
        assert left_over(verdict, 2) == {"Dana", "Reyes"}
        assert "“But she”" in verdict.reason
        assert "“Dana Reyes”" in verdict.reason

    async def test_uncovered_words_are_named_where_they_stand(self, checker_of: MakeChecker) -> None:
        verdict = await verdict_on(checker_of(), decision(*CO_REFERENCE))
        for one in evidence_of(verdict).proof.alignments:
            sentence = CO_REFERENCE[one.covers - 1]
            assert one.uncovered
            assert all(sentence[word.start : word.end] == word.text for word in one.uncovered)

    async def test_one_detail_that_differs_stops_a_proof(self, checker_of: MakeChecker, subject: StubSubject) -> None:
        subject.phrases = lambda first, second: "around the world" not in first
        verdict = await verdict_on(checker_of(), decision(*WHOM_IT_TROUBLES))
        assert verdict.outcome == "reject"
        for one in evidence_of(verdict).proof.alignments:
            denied = [pair.first for pair in one.pairs if pair.confirmed is False]
            left = [word.text for word in one.uncovered]
            assert any("around the world" in text for text in denied) or {"world", "farmers"} & {*left}


class TestAProof:
    """Table 13."""

    async def test_phrases_within_phrases_are_part_of_it(self, checker_of: MakeChecker, subject: StubSubject) -> None:
        subject.phrases = lambda first, second: True
        verdict = await verdict_on(checker_of(require="and"), decision(*NESTED))
        assert verdict.outcome == "accept"
        found = [one for one in evidence_of(verdict).proof.alignments if one.outcome == "found"]
        assert all(not one.uncovered for one in found)
        nested = set().union(*(nested_in(one) for one in found))
        assert nested
        assert nested <= set(subject.asked_phrases) | {(second, first) for first, second in subject.asked_phrases}

    async def test_a_denied_inner_phrase_stops_it_too(self, checker_of: MakeChecker, subject: StubSubject) -> None:
        subject.phrases = lambda first, second: True
        proof = await verdict_on(checker_of(require="and"), decision(*NESTED))
        inner = set().union(*(nested_in(one) for one in evidence_of(proof).proof.alignments))
        subject.phrases = lambda first, second: (first, second) not in inner
        again = await verdict_on(checker_of(require="and"), decision(*NESTED))
        assert again.outcome == "reject"
        outcomes = {one.outcome for one in evidence_of(again).proof.alignments if nested_in(one)}
        assert "denied" in outcomes
        assert "found" not in outcomes


def nested_in(alignment: PhraseAlignment) -> set[tuple[str, str]]:
    """The pairs of other words that lie within another pair."""
    return {
        (inner.first, inner.second)
        for outer in alignment.pairs
        for inner in alignment.pairs
        if outer is not inner and inner.first in outer.first and inner.second in outer.second
        if inner.first != inner.second
    }


class TestALimitToKeep:
    """Table 14."""

    async def test_a_subject_of_one_word_stays_uncovered(self, checker_of: MakeChecker, subject: StubSubject) -> None:
        verdict = await verdict_on(checker_of(), decision(*ONE_WORD_SUBJECT))
        assert verdict.outcome == "reject"
        assert left_over(verdict, 1) == {"Another"}
        assert left_over(verdict, 2) == {"One", "more", "person"}
        assert not subject.asked_phrases

    async def test_so_does_an_adverb_of_one_word(self, checker_of: MakeChecker) -> None:
        verdict = await verdict_on(checker_of(), decision(*ONE_WORD_ADVERB))
        assert verdict.outcome == "reject"
        assert left_over(verdict, 1) == {"Meanwhile"}

    async def test_a_no_to_ones_own_paraphrase_is_not_trusted(
        self, checker_of: MakeChecker, subject: StubSubject
    ) -> None:
        """The proof may fail where the test of the no does not."""
        subject.sentences = lambda first, second: True
        verdict = await verdict_on(checker_of(), decision(*ONE_WORD_SUBJECT, answer=False))
        assert verdict.outcome == "reject"
        assert not evidence_of(verdict).proof.found


class TestTriangles:
    """Table 15."""

    @pytest.mark.parametrize("indifferentiable", [True, False])
    async def test_a_paraphrase_that_is_the_same_as_both_rejects_a_no(
        self, checker_of: MakeChecker, subject: StubSubject, indifferentiable: bool
    ) -> None:
        like_both = "The warden on Sunday told visitors not to climb alone to the tower and to be careful."
        subject.paraphrases = lambda sentence: (
            [like_both, *five_of(sentence)[1:]]
            if indifferentiable and sentence == CLOSE_BUT_NOT_THE_SAME[0]
            else five_of(sentence)
        )
        subject.sentences = lambda first, second: True
        verdict = await verdict_on(checker_of(), decision(*CLOSE_BUT_NOT_THE_SAME, answer=False))
        test = evidence_of(verdict).test
        assert test is not None
        assert test.triangle is not None
        assert verdict.outcome == "reject"
        assert (test.triangle.first, test.triangle.second) == CLOSE_BUT_NOT_THE_SAME
        assert test.category.endswith("I") is indifferentiable
        assert (test.triangle.paraphrase == like_both) is indifferentiable
