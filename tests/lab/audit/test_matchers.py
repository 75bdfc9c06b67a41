"""Text matchers are audited in both orders."""

from typing import Any

import pytest

from checkers.retrieval.matching import TextMatcher
from lab.audit.cases import Count
from lab.audit.matchers import ORDERS, TripletMatch, match_triplet, matcher_figures
from lab.triplets import Triplet
from models.meter import MeteredGrader
from models.protocol import OracleFailed
from tests.support.graders import ScriptedGrader, grading

BASE = "the red car stopped"
TRIPLETS = [
    Triplet("t1", "word_deletion", BASE, "the car that is red stopped", "the car stopped", "it rains"),
    Triplet("t2", "word_deletion", "two dogs bark loudly", "loudly two dogs bark", "two dogs bark"),
]


def share_of_words(reference: str, sentence: str) -> float:
    """A shorter text is entailed by a longer."""
    words = set(sentence.split())
    return len(words & set(reference.split())) / len(words)


async def all_matched(oracle: Any) -> list[TripletMatch]:
    return [await match_triplet(TextMatcher(oracle), TRIPLETS, place) for place in range(len(TRIPLETS))]


async def test_a_deletion_shows_in_the_order_in_which_the_text_must_entail_the_base() -> None:
    found = {
        figure.metric: figure
        for figure in matcher_figures("words", "word_deletion", await all_matched(grading(share_of_words)))
    }
    assert list(found) == list(ORDERS)
    assert found["text_to_base"].counts["triplet"] == Count(cases=2, right=2)
    # All that a shortened text says stands in the base: this order cannot tell them apart, or prefers the negative.
    assert found["base_to_text"].counts["triplet"] == Count(cases=2, right=0, ties=1)
    assert found["both"].counts["triplet"] == Count(cases=2, right=1)
    assert found["text_to_base"].counts["control"] == Count(cases=2, right=2)
    assert found["text_to_base"].counts["unrelated"] == Count(cases=1, right=1)
    distances = found["text_to_base"].distances
    assert distances is not None
    assert (distances.positive, distances.negative) == pytest.approx((0.0, 0.25))


async def test_every_text_of_a_triplet_is_asked_about_once_a_direction() -> None:
    grader = ScriptedGrader(share_of_words)
    await all_matched(MeteredGrader(grader))
    to_query = [claims.sentences for claims in grader.graded if claims.reference == BASE]
    assert to_query == [("the car that is red stopped", "the car stopped", "loudly two dogs bark", "it rains")]
    assert len(grader.graded) == (1 + 4) + (1 + 3)


async def test_a_text_that_is_the_base_needs_no_question() -> None:
    grader = ScriptedGrader(share_of_words)
    same = Triplet("t", "word_swap", "a b", "b a", "a  b")
    (figure, *_) = matcher_figures(
        "words", "word_swap", [await match_triplet(TextMatcher(MeteredGrader(grader)), [same], 0)]
    )
    assert figure.counts == {"triplet": Count(cases=1, right=0, ties=1)}
    assert len(grader.graded) == 2


async def test_an_answer_that_cannot_be_used_is_no_figure() -> None:
    mute = ScriptedGrader(share_of_words, OracleFailed("nothing to say", cause="judge_failed"))
    with pytest.raises(OracleFailed, match="nothing to say"):
        await match_triplet(TextMatcher(MeteredGrader(mute)), TRIPLETS, 0)
