"""A response compared with earlier answers of its session; and thresholds on the score."""

from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError

from checkers.checker import Models, Thresholds
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from checkers.consistency.evidence import explain, graded_score
from models.meter import MeteredJudge
from models.protocol import NO_CLAIM, Judgement, WindowExceeded
from schemas import Abstention, ConsistencyEvidence, Generation, Turn, Verdict
from tests.checkers.case import evidence_of
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.checkers.graders import ScriptedGrader, grading
from tests.support.stub_answers import judge_answer
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

SIX, EIGHT, LATE = "Delivery costs 6 euros.", "Pickup costs 8 euros.", "It takes two days."
EARLIER = (Turn(record_id="t1", prompt="How much?", response=f"{SIX} {LATE}"), Turn(record_id="t2", response=EIGHT))
OTHER = "Delivery costs 13 euros."


def _supported(reference: str, sentence: str) -> float:
    """Anything is supported, but that the two prices are of one delivery."""
    return 0.2 if SIX in reference and sentence == OTHER else 0.9


def _checker(grader: ScriptedGrader | None = None, **settings: Any) -> ConsistencyChecker:
    judge = MeteredJudge(grader or ScriptedGrader(_supported))
    return ConsistencyChecker(ConsistencySettings.model_validate({"turns": 5} | settings), Models(judge=judge))


def _record(response: str, earlier: tuple[Turn, ...] = EARLIER, **fields: Any) -> Generation:
    return generation(response, **fields).after(earlier)


_evidence = partial(evidence_of, ConsistencyEvidence)


async def test_a_contradiction_is_a_fault_that_names_the_answer_and_its_sentence():
    verdict = await _checker().check(_record(f"{LATE} {OTHER}"))
    assert verdict.outcome == "reject"
    assert verdict.reason.startswith(f"“{OTHER}” it contradicts the answer t1: “{SIX}” (1 of 2 sentences")
    evidence = _evidence(verdict)
    assert [(one.mark, one.support) for one in evidence.sentences] == [(1, 0.9), (-1, 0.2)]
    assert evidence.sentences[0].contradicts is None
    (found,) = [one.contradicts for one in evidence.sentences if one.contradicts]
    assert (found.record_id, found.sentence) == ("t1", SIX)
    assert evidence.earlier == EARLIER
    assert f"fault:  it contradicts the answer t1: “{SIX}”" in list(explain(verdict))


async def test_what_contradicts_nothing_is_accepted_and_says_how_many_answers_were_looked_at():
    verdict = await _checker().check(_record(LATE))
    assert verdict.outcome == "accept"
    assert verdict.reason.endswith("contradicts none of 2 earlier answers of its session.")
    assert _evidence(verdict).earlier == EARLIER


async def test_an_earlier_answer_supports_nothing():
    grader = ScriptedGrader(lambda reference, sentence: 0.1 if "budget" in reference else 0.9)
    verdict = await _checker(grader).check(_record(SIX, reference="The budget is closed."))
    assert verdict.outcome == "reject"
    assert _evidence(verdict).sentences[0].contradicts is None


@pytest.mark.parametrize(("turns", "asked"), [(0, 0), (1, 1), (5, 2)])
async def test_as_many_answers_are_looked_at_as_are_set(turns: int, asked: int):
    grader = ScriptedGrader(_supported)
    verdict = await _checker(grader, turns=turns).check(_record(LATE))
    assert [turn.record_id for turn in _evidence(verdict).earlier] == ["t1", "t2"][2 - asked :]
    # The record's own reference, and all answers together.
    assert len(grader.graded) == 1 + (asked > 0)


async def test_a_record_without_a_source_is_rejected_for_a_contradiction_alone():
    for response, outcome in ((OTHER, "reject"), (LATE, "abstain")):
        verdict = await _checker().check(_record(response, reference=None))
        assert verdict.outcome == outcome
        assert verdict.evidence.type == ("consistency" if outcome == "reject" else "abstention")
    assert "no_reference" in verdict.model_dump_json()
    assert "contradicts none of 2 earlier answers" in verdict.reason


async def test_answers_that_are_too_long_together_are_looked_at_one_by_one():
    class Narrow(ScriptedGrader):
        async def grade(self, task: str, claims: Any) -> Any:
            if any("\n\n" in one.reference for one in claims):
                raise WindowExceeded("too long", characters=1, asked=2)
            return await super().grade(task, claims)

    verdict = await _checker(Narrow(_supported)).check(_record(OTHER))
    assert [one.contradicts and one.contradicts.record_id for one in _evidence(verdict).sentences] == ["t1"]


async def test_an_endpoint_is_asked_whether_both_can_be_true(checker_of: MakeChecker, stub: StubEndpoint):
    def answer(request: StubRequest) -> str:
        if request.kind != "compatible":
            return judge_answer(request)
        return "no" if SIX in request.quotes["Said before"] else "yes"

    stub.answer = answer
    verdict = await checker_of(turns=5).check(_record(OTHER, reference=OTHER, prompt="And now?"))
    asked = [request for request in stub.requests if request.kind == "compatible"]
    assert [request.quotes["Said before"] for request in asked] == [
        f"{EARLIER[0].response}\n\n{EIGHT}",
        EARLIER[0].response,
        EIGHT,
    ]
    assert {request.quotes["Now they are asked"] for request in asked} == {"And now?"}
    # The judge names no passage: the nearest sentence does.
    (fault,) = _evidence(verdict).sentences
    assert fault.contradicts is not None
    assert (fault.contradicts.record_id, fault.contradicts.sentence) == ("t1", SIX)


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
        ({"accept_from": SCORE + 0.01, "reject_below": SCORE + 0.01}, "reject"),
        ({"accept_from": SCORE + 0.01, "reject_below": SCORE}, "abstain"),
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
        # One that is wrong is enough, whatever becomes of the others.
        ("Perhaps. Wrong.", "reject"),
        ("Hello. Right.", "accept"),
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
