"""A cascade: the first judge decides what its thresholds allow; and the patience with models that are away."""

from typing import Any

import pytest

from checkers.checker import Checker
from checkers.model_patience import ModelLost, ModelPatience
from models.meter import MeteredJudge
from models.protocol import ModelFailed, ModelUnavailable
from schemas import Generation
from schemas.verdicts import Cascade
from tests.checkers.consistency.conftest import generation
from tests.checkers.graders import ScriptedGrader
from tests.support.checkers import cascading
from tests.support.stub_endpoint import StubEndpoint

JUDGES = ("local/first", "openai/stub")
SURE = "It is sure to 0.9"
FALSE = "It is sure to 0.1"
UNSURE = "The board met: sure to 0.5"
REFERENCE = "The board met on Monday, sure: 0.5."


def _support(_: str, sentence: str) -> float:
    return float(sentence.rsplit(maxsplit=1)[-1].rstrip("."))


def _cascade(stub: StubEndpoint, *hindrances: Exception, **judge: Any) -> Checker[Any]:
    screen = MeteredJudge(ScriptedGrader(_support, *hindrances, name=JUDGES[0]), charged=False)
    return cascading(stub.base_url, screen, accept_from=0.8, reject_below=0.2, **judge)


def _record(response: str, **fields: Any) -> Generation:
    return generation(response, **{"reference": REFERENCE} | fields)


@pytest.mark.parametrize(
    ("response", "outcome", "score"), [(SURE, "accept", 0.9), (FALSE, "reject", 0.1), ("...", "abstain", None)]
)
async def test_what_the_first_judge_decides_or_nobody_can_costs_no_call(
    stub: StubEndpoint, response: str, outcome: str, score: float | None
):
    verdict = await _cascade(stub).check(_record(response))
    assert (verdict.outcome, verdict.score, verdict.judge) == (outcome, score, JUDGES[0])
    assert verdict.cascade == Cascade(judges=JUDGES, escalated=False, first_score=score)
    assert (verdict.usage.calls, verdict.usage.cached) == (0, 0)
    assert not stub.requests


@pytest.mark.parametrize(("failed", "score"), [([], 0.5), ([ModelFailed("out of memory", cause="judge_failed")], None)])
async def test_what_lies_between_or_fails_is_decided_by_the_endpoint_as_without_a_cascade(
    stub: StubEndpoint, failed: list[Exception], score: float | None
):
    verdict = await _cascade(stub, *failed).check(_record(UNSURE))
    assert (verdict.outcome, verdict.score, verdict.judge) == ("accept", 1.0, JUDGES[1])
    assert verdict.cascade == Cascade(judges=JUDGES, escalated=True, first_score=score)
    assert verdict.usage.calls == len(stub.requests) > 0


async def test_a_question_is_asked_again_until_its_model_is_back_or_is_lost():
    away = [ModelUnavailable("away", retry_after=0.0)] * 2

    async def ask() -> str:
        if away:
            raise away.pop()
        return "an answer"

    assert await ModelPatience(print, 30.0).until_answered(ask) == "an answer"
    away.append(ModelUnavailable("gone", retry_after=0.0))
    with pytest.raises(ModelLost, match="gone"):
        await ModelPatience(print, 0.0).until_answered(ask)


async def test_a_question_that_its_model_fails_on_while_it_answers_others_is_given_up():
    waiting = ModelPatience(print, 30.0)

    async def others() -> str:
        return "an answer"

    async def ask() -> str:
        await waiting.until_answered(others)
        raise ModelUnavailable("the connection broke", retry_after=0.0, suspect=True)

    with pytest.raises(ModelFailed, match="answered others meanwhile: the connection broke"):
        await waiting.until_answered(ask)
