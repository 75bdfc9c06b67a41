"""The time that a run waits for its models, and the questions that it gives up."""

import pytest

from checkers.model_patience import ModelLost, ModelPatience
from models.protocol import ModelFailed, ModelUnavailable


def patience(seconds: float) -> ModelPatience:
    return ModelPatience(lambda _: None, seconds)


async def test_a_question_is_asked_again_until_its_model_is_back():
    away = [ModelUnavailable("away", retry_after=0.0)] * 2

    async def ask() -> str:
        if away:
            raise away.pop()
        return "an answer"

    assert await patience(30.0).until_answered(ask) == "an answer"


async def test_a_model_that_is_away_for_too_long_is_lost():
    async def ask() -> str:
        raise ModelUnavailable("gone", retry_after=0.0)

    with pytest.raises(ModelLost, match="gone"):
        await patience(0.0).until_answered(ask)


async def test_a_question_that_its_model_fails_on_while_it_answers_others_is_given_up():
    waiting = patience(30.0)

    async def others() -> str:
        return "an answer"

    async def ask() -> str:
        await waiting.until_answered(others)
        raise ModelUnavailable("the connection broke", retry_after=0.0, suspect=True)

    with pytest.raises(ModelFailed, match="answered others meanwhile: the connection broke"):
        await waiting.until_answered(ask)


async def test_a_failure_on_one_question_shows_that_the_model_is_there():
    said: list[str] = []
    waiting = ModelPatience(said.append, 30.0)
    errors: list[Exception] = []

    async def ask() -> str:
        raise errors.pop()

    for detail in ("away", "gone"):
        errors += [ModelFailed("no usable reply", cause="judge_unusable"), ModelUnavailable(detail, retry_after=0.0)]
        with pytest.raises(ModelFailed):
            await waiting.until_answered(ask)
    assert len(said) == 2, "it was away twice, and not once for all the time"
