"""Thresholds on the score take the place of the share of consistent sentences."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from checkers.consistency.evidence import graded_score
from checkers.thresholds import Thresholds
from models.claims import NO_CLAIM, Judgement
from schemas import Abstention, ConsistencyEvidence, Verdict
from tests.checkers.consistency.conftest import generation
from tests.checkers.graders import grading

SUPPORTS = {"One.": 0.9, "Two.": 0.45, "Three.": 0.6}
RESPONSE = " ".join(SUPPORTS)
SCORE = graded_score(list(SUPPORTS.values()))


async def verdict(response: str = RESPONSE, **thresholds: Any) -> Verdict:
    settings = ConsistencySettings(thresholds=Thresholds(**thresholds))
    judge = grading(lambda _, sentence: SUPPORTS[sentence])
    return await ConsistencyChecker(settings, Models(judge=judge)).check(generation(response))


@pytest.mark.parametrize(
    ("thresholds", "outcome"),
    [
        ({"accept_from": SCORE, "reject_below": SCORE}, "accept"),
        ({"accept_from": SCORE}, "accept"),
        ({"accept_from": SCORE + 0.01, "reject_below": SCORE + 0.01}, "reject"),
        ({"reject_below": SCORE + 0.01}, "reject"),
        ({"accept_from": SCORE + 0.01, "reject_below": SCORE}, "abstain"),
        ({"accept_from": SCORE + 0.01}, "abstain"),
        ({"reject_below": SCORE}, "abstain"),
        # One of three sentences is not consistent.
        ({}, "reject"),
    ],
)
async def test_the_verdicts_score_decides_once_thresholds_are_set(thresholds: dict[str, float], outcome: str):
    found = await verdict(**thresholds)
    assert found.outcome == outcome
    if outcome == "abstain":
        assert isinstance(found.evidence, Abstention)
        assert (found.evidence.cause, found.evidence.score) == ("between_thresholds", SCORE)
        assert f"{SCORE:g}" in found.reason
    else:
        assert isinstance(found.evidence, ConsistencyEvidence)
        assert found.score == SCORE
        assert found.evidence.accept_from == thresholds.get("accept_from")
        assert found.evidence.reject_below == thresholds.get("reject_below")


async def test_thresholds_bear_on_the_ids_of_verdicts():
    assert (await verdict(accept_from=0.4)).id != (await verdict(accept_from=0.3)).id


def test_thresholds_in_the_wrong_order_are_refused():
    with pytest.raises(ValidationError, match=r"reject_below is 0\.6; it should not exceed accept_from \(0\.5\)"):
        Thresholds(accept_from=0.5, reject_below=0.6)


async def test_thresholds_of_another_judge_are_refused():
    with pytest.raises(ValueError, match="'other', but the judge is 'grading'"):
        await verdict(accept_from=0.5, judge="other")
    assert (await verdict(accept_from=0.0, judge="grading")).outcome == "accept"


RIGHT, WRONG = Judgement(0.9, "so", None), Judgement(0.1, "not so", None)
PERHAPS, HARDLY = Judgement(0.6, "perhaps", None, unsure=True), Judgement(0.4, "hardly", None, unsure=True)
OPEN = {"Right.": RIGHT, "Wrong.": WRONG, "Perhaps.": PERHAPS, "Hardly.": HARDLY, "Hello.": NO_CLAIM}


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ("Right. Perhaps.", "abstain"),
        ("Right. Hardly.", "abstain"),
        # One that is wrong is enough, whatever becomes of the others.
        ("Perhaps. Wrong.", "reject"),
        ("Hello. Right.", "accept"),
        ("Hello. Hello. Wrong.", "reject"),
    ],
)
async def test_a_judge_that_is_not_sure_leaves_open_what_hangs_on_it(response: str, outcome: str):
    judge = grading(lambda _, sentence: OPEN[sentence])
    found = await ConsistencyChecker(ConsistencySettings(), Models(judge=judge)).check(generation(response))
    assert found.outcome == outcome, found.reason
    if isinstance(found.evidence, Abstention):
        assert found.evidence.cause == "between_thresholds"
    else:
        assert isinstance(found.evidence, ConsistencyEvidence)
        assert "Hello." not in [sentence.text for sentence in found.evidence.sentences]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_graded_score_lies_between_the_worst_sentence_and_the_mean(supports: list[float]):
    score = graded_score(supports)
    assert min(supports) - 1e-6 <= score <= sum(supports) / len(supports) + 1e-6
