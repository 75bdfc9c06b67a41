"""Text matchers are audited in both orders."""

from typing import Any

import pytest

from checkers.oracle.claims import Judgement
from checkers.oracle.protocol import Answer, OracleFailed, Question
from checkers.retrieval.audit.cases import Count
from checkers.retrieval.audit.matchers import ORDERS, Matched, TextMatcher, matcher_figures
from checkers.retrieval.triplets import Triplet
from schemas import Usage

BASE = "the red car stopped"
TRIPLETS = [
    Triplet("t1", "word_deletion", BASE, "the car that is red stopped", "the car stopped", "it rains"),
    Triplet("t2", "word_deletion", "two dogs bark loudly", "loudly two dogs bark", "two dogs bark"),
]


class Words:
    """Grades by the share of the sentence's words that the reference has: a shorter text is entailed by a longer."""

    name = "words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def ask(self, question: Question[Any]) -> Answer[Any]:
        claims = question.claims
        assert claims is not None
        self.asked.append((claims.reference, claims.sentences))
        known = set(claims.reference.split())
        grades = tuple(
            Judgement(len(known & set(one.split())) / len(set(one.split())), "", None) for one in claims.sentences
        )
        return Answer(question.reply.model_construct(), Usage(calls=1), grades)

    async def close(self) -> None:
        pass


async def all_matched(oracle: Any) -> list[Matched]:
    matcher = TextMatcher(oracle)
    return [await matcher.matched(TRIPLETS, place) for place in range(len(TRIPLETS))]


async def test_a_deletion_shows_in_the_order_in_which_the_text_must_entail_the_base() -> None:
    found = {figure.metric: figure for figure in matcher_figures("words", "word_deletion", await all_matched(Words()))}
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
    oracle = Words()
    await all_matched(oracle)
    to_query = [sentences for reference, sentences in oracle.asked if reference == BASE]
    assert to_query == [("the car that is red stopped", "the car stopped", "loudly two dogs bark", "it rains")]
    assert len(oracle.asked) == (1 + 4) + (1 + 3)


async def test_a_text_that_is_the_base_needs_no_question() -> None:
    oracle = Words()
    same = Triplet("t", "word_swap", "a b", "b a", "a  b")
    (figure, *_) = matcher_figures("words", "word_swap", [await TextMatcher(oracle).matched([same], 0)])
    assert figure.counts == {"triplet": Count(cases=1, right=0, ties=1)}
    assert len(oracle.asked) == 2


async def test_an_answer_that_cannot_be_used_is_no_figure() -> None:
    class Mute(Words):
        async def ask(self, question: Question[Any]) -> Answer[Any]:
            raise OracleFailed("nothing to say", cause="judge_failed")

    with pytest.raises(OracleFailed, match="nothing to say"):
        await TextMatcher(Mute()).matched(TRIPLETS, 0)
