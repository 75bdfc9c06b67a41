"""Sentence likelihoods, as an endpoint tells them."""

import pytest

from lab.link.models import EndpointScorer
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import SubjectSettings
from tests.lab.link.world import World, log_likelihood
from tests.support.stub_acts import Act, status


async def _scored(world: World, sentences: list[str]):
    scorer = EndpointScorer(SubjectSettings(base_url=world.base_url, model="m"))
    try:
        return await scorer.log_likelihoods(sentences)
    finally:
        await scorer.close()


async def test_an_endpoint_tells_them_and_what_it_adds_does_not_count():
    sentences = ["tool-3 and room-4", "tool-9"]
    with World(tools=1, rooms=1) as world:
        found, usage = await _scored(world, sentences)
        (request,) = world.requests
    assert found == pytest.approx(list(map(log_likelihood, sentences)))
    assert (usage.calls, usage.prompt_tokens) == (1, 7)
    assert request.body["echo"] is True


async def test_llama_cpp_which_ignores_echo_is_made_to_write_the_sentence_token_by_token():
    sentences = ["tool-3 and room-4", "tool-9 alone"]
    with World(tools=1, rooms=1) as world:
        world.echoes = False
        found, usage = await _scored(world, sentences)
        forced = [request.body for request in world.requests if "grammar" in request.body]
        paths = [request.path for request in world.requests]
    assert found == pytest.approx(list(map(log_likelihood, sentences)))
    assert sorted(one["max_tokens"] for one in forced) == [1, 2]
    assert all(one["logprobs"] == 1 for one in forced)
    assert paths.count("/tokenize") == 2
    assert (usage.calls, usage.completion_tokens) == (3, 4)


@pytest.mark.parametrize(
    ("act", "error", "told"),
    [
        (status(503, "busy"), ModelUnavailable, {"misconfigured": False}),
        (status(401, "who are you"), ModelUnavailable, {"misconfigured": True}),
        (status(400, "echo is not supported"), ModelFailed, {"cause": "judge_unusable"}),
        (Act(document={"choices": [{"index": 0, "text": "x"}]}), ModelFailed, {"cause": "judge_unusable"}),
    ],
)
async def test_an_endpoint_that_gives_none_is_away_or_of_no_use(act: Act, error: type[Exception], told: dict):
    with World(tools=1, rooms=1) as world:
        world.play(lambda request: act)
        with pytest.raises(error) as raised:
            await _scored(world, ["a sentence"])
    assert {name: getattr(raised.value, name) for name in told} == told
