"""Questions that are answered by one word: what is read of the reply, and how probable the word was."""

import pytest

from models.protocol import Answer, ModelFailed, YesNo
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support.stub_acts import Act, says
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

ASKED = question(reply=YesNo, complaint=lambda reply: None, max_tokens=4)


@pytest.fixture(autouse=True)
def _says_yes(stub: StubEndpoint) -> None:
    stub.answer = lambda request: "yes"


@pytest.mark.parametrize(
    ("said", "yes"),
    [
        ("yes", True),
        ("No.", False),
        (" **Yes**, it is", True),
        ("No, the passages say yes to it.", False),
        ("<think>Is it no?</think>\n\nyes", True),
        ("The answer is no.", False),
    ],
)
async def test_the_word_is_read_whatever_stands_around_it(
    model_of: MakeModel, stub: StubEndpoint, said: str, yes: bool
) -> None:
    stub.play([says(said)])
    assert (await model_of().ask(ASKED)).reply == YesNo(yes=yes)
    (request,) = stub.requests
    assert request.body["max_tokens"] == 4
    assert "response_format" not in request.body


@pytest.mark.parametrize("said", ["I cannot tell.", "Perhaps yes, perhaps no.", ""])
async def test_neither_word_or_both_get_one_repair(model_of: MakeModel, stub: StubEndpoint, said: str) -> None:
    stub.play([says(said)])
    assert (await model_of().ask(ASKED)).reply.yes
    assert len(stub.requests) == 2
    stub.play(lambda request: says(said))
    with pytest.raises(ModelFailed) as failure:
        await model_of().ask(ASKED)
    assert failure.value.cause == "judge_unusable"
    assert len(stub.requests) == 4


async def test_a_model_that_talks_first_is_asked_once_more_without_the_limit_and_then_always(
    model_of: MakeModel, stub: StubEndpoint
) -> None:
    def talks(request: StubRequest) -> Act:
        limited = request.body["max_tokens"] < 100
        return says("<think>Let me", finish_reason="length") if limited else says("<think>Hm.</think>no")

    stub.play(talks)
    model = model_of()
    assert not (await model.ask(ASKED)).reply.yes
    assert len(stub.requests) == 2
    assert not (
        await model.ask(question("Another.", reply=YesNo, complaint=lambda reply: None, max_tokens=4))
    ).reply.yes
    assert len(stub.requests) == 3


async def test_the_words_probability_comes_with_it(model_of: MakeModel, stub: StubEndpoint) -> None:
    stub.probability = lambda request, place: 0.8
    answer: Answer[YesNo] = await model_of().ask(ASKED)
    assert answer.probabilities == pytest.approx((0.8,))


async def test_tokens_from_the_endpoints_cache_are_read_and_priced(model_of: MakeModel, stub: StubEndpoint) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 1,
        "total_tokens": 1001,
        "prompt_tokens_details": {"cached_tokens": 800},
    }
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
    stub.play(lambda request: Act(document={"choices": [choice], "usage": usage}))
    model = model_of(prices={"prompt": 2.0, "cached": 0.5, "completion": 10.0})
    spent = (await model.ask(ASKED)).usage
    assert spent.cached_tokens == 800
    assert spent.cost == pytest.approx((200 * 2.0 + 800 * 0.5 + 1 * 10.0) / 1e6)
