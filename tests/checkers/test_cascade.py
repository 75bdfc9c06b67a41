"""A cascade: the first judge decides what its thresholds allow, an endpoint gets the rest."""

from collections.abc import Iterator
from typing import Any

import pytest

from checkers.checker import Checker
from models.meter import MeteredJudge
from models.protocol import EscalationUnavailable, ModelFailed
from schemas import Abstention, Cascade, Generation
from tests.checkers.consistency.conftest import generation
from tests.checkers.graders import ScriptedGrader
from tests.support import stub_acts as stubs
from tests.support.checkers import cascading
from tests.support.stub_endpoint import StubEndpoint

JUDGES = ("local/first", "openai/stub")
SURE = "It is sure to 0.9"
FALSE = "It is sure to 0.1"
UNSURE = "The board met: sure to 0.5"
REFERENCE = "The board met on Monday, sure: 0.5."


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


def _support(_: str, sentence: str) -> float:
    return float(sentence.rsplit(maxsplit=1)[-1].rstrip("."))


def _cascade(stub: StubEndpoint, *hindrances: Exception, **judge: Any) -> Checker[Any]:
    screen = MeteredJudge(ScriptedGrader(_support, *hindrances, name=JUDGES[0]), charged=False)
    return cascading(stub.base_url, screen, accept_from=0.8, reject_below=0.2, **judge)


def _record(response: str, **fields: Any) -> Generation:
    return generation(response, **{"reference": REFERENCE} | fields)


@pytest.mark.parametrize(("response", "outcome", "score"), [(SURE, "accept", 0.9), (FALSE, "reject", 0.1)])
async def test_what_the_thresholds_allow_costs_no_call(stub: StubEndpoint, response: str, outcome: str, score: float):
    verdict = await _cascade(stub).check(_record(response))
    assert (verdict.outcome, verdict.score, verdict.judge) == (outcome, score, JUDGES[0])
    assert verdict.cascade == Cascade(judges=JUDGES, escalated=False, first_score=score)
    assert (verdict.usage.calls, verdict.usage.cached) == (0, 0)
    assert not stub.requests


async def test_what_lies_between_is_decided_by_the_endpoint_as_without_a_cascade(stub: StubEndpoint):
    checker = _cascade(stub)
    verdict = await checker.check(_record(UNSURE))
    assert (verdict.outcome, verdict.score, verdict.judge) == ("accept", 1.0, JUDGES[1])
    assert verdict.cascade == Cascade(judges=JUDGES, escalated=True, first_score=0.5)
    assert verdict.usage.calls == len(stub.requests) > 0


async def test_a_record_that_nothing_can_be_said_of_is_not_sent_on(stub: StubEndpoint):
    verdict = await _cascade(stub).check(_record(SURE, reference=None))
    assert isinstance(verdict.evidence, Abstention)
    assert verdict.evidence.cause == "no_reference"
    assert verdict.cascade == Cascade(judges=JUDGES, escalated=False, first_score=None)


async def test_a_record_that_the_first_judge_fails_on_is_sent_on(stub: StubEndpoint):
    failed = ModelFailed("out of memory", cause="judge_failed")
    verdict = await _cascade(stub, failed).check(_record("The board met on Monday."))
    assert (verdict.outcome, verdict.judge) == ("accept", JUDGES[1])
    assert verdict.cascade == Cascade(judges=JUDGES, escalated=True, first_score=None)


async def test_an_endpoint_that_refuses_the_key_is_told_from_one_that_is_away(stub: StubEndpoint):
    stub.play(lambda _: stubs.status(401, "wrong key"))
    with pytest.raises(EscalationUnavailable) as refused:
        await _cascade(stub).check(_record(UNSURE))
    assert refused.value.misconfigured
