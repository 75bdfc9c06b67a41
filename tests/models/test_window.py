"""A question longer than the model's window fails with as much as would fit, and is not sent again."""

from collections.abc import Callable
from typing import Any

import pytest

from models.meter import MeteredModel
from models.protocol import Message, Question, WindowExceeded
from tests.models import refusals
from tests.models.asking import Reasons, question
from tests.models.conftest import MakeModel
from tests.models.refusals import COUNTS_THE_REPLY, TOO_LONG, WINDOW
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act, Script
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

Refusal = Callable[[int, int], tuple[int, Any]]

GOOD = '{"reason": [], "is_consistent": true}'
PROSE = "The board met on Monday, and approved the budget of 3.5 million for the coming year. "


def asking(characters: int, text: str = PROSE, number: int = 0) -> Question[Reasons]:
    """A question of so many characters."""
    whole = f"{number}: " + text * (characters // len(text) + 1)
    return question(messages=(Message("user", whole[:characters]),), complaint=lambda _: None)


def prompt_tokens(request: StubRequest, characters: float = 4.2) -> int:
    """A server's own count: four characters a token, as in English."""
    return int(sum(len(message["content"]) for message in request.body["messages"]) / characters) + 10


def limit_of(request: StubRequest) -> int:
    return int(request.body.get("max_tokens", 0))


def server(refusal: Refusal, *, counts_the_reply: bool, characters: float = 4.2) -> Script:
    """A server with a window: it refuses what is longer."""

    def script(request: StubRequest) -> Act:
        prompt, reply = prompt_tokens(request, characters), limit_of(request)
        if prompt + (reply if counts_the_reply else 0) > WINDOW:
            return stubs.error(*refusal(prompt, reply))
        usage = {"prompt_tokens": prompt, "completion_tokens": 10}
        choice = {"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}
        return Act(document={"choices": [choice], "usage": usage})

    return script


async def fitted(model: MeteredModel, characters: int, text: str = PROSE) -> int:
    """Ask for as much as fits, as a checker does that can do with less; the number of characters."""
    while True:
        try:
            await model.ask(asking(characters, text))
        except WindowExceeded as error:
            characters = min(error.characters, characters - 1)
        else:
            return characters


@pytest.mark.parametrize("refusal", TOO_LONG)
async def test_what_an_endpoint_refuses_as_too_long_is_told_and_not_sent_again(
    model_of: MakeModel, stub: StubEndpoint, refusal: Refusal
):
    stub.play(server(refusal, counts_the_reply=False))
    model = model_of(max_tokens=200)

    with pytest.raises(WindowExceeded, match="longer than the model's window") as first:
        await model.ask(asking(20_000))
    sent = len(stub.requests)
    with pytest.raises(WindowExceeded) as second:
        await model.ask(asking(20_000, number=1))

    assert first.value.cause == "too_long"
    assert first.value.usage.calls == sent == 1
    assert second.value.usage.calls == 0
    assert len(stub.requests) == sent
    assert 0 < first.value.characters < 20_000


@pytest.mark.parametrize("refusal", TOO_LONG)
async def test_as_much_as_is_told_to_fit_fits_in_the_end(model_of: MakeModel, stub: StubEndpoint, refusal: Refusal):
    stub.play(server(refusal, counts_the_reply=False))

    characters = await fitted(model_of(max_tokens=200), 20_000)

    tells = str(WINDOW) in str(refusal(5000, 200)[1])
    # Where the size is told one refusal is enough; 2,048 tokens take some 8,500 characters.
    assert len(stub.requests) == 2 if tells else len(stub.requests) < 8
    assert characters > (4_000 if tells else 2_500)


@pytest.mark.parametrize("refusal", COUNTS_THE_REPLY)
async def test_a_reply_is_given_what_the_window_leaves(model_of: MakeModel, stub: StubEndpoint, refusal: Refusal):
    stub.play(server(refusal, counts_the_reply=True))
    model = model_of(max_tokens=4096)

    first = await model.ask(asking(2_000))
    second = await model.ask(asking(2_100, number=1))

    assert (first.usage.calls, second.usage.calls) == (2, 1)
    assert 1_200 < limit_of(stub.requests[-1]) < WINDOW - 500


async def test_a_configured_window_needs_no_refusal(model_of: MakeModel, stub: StubEndpoint):
    stub.play(server(refusals.proxy, counts_the_reply=True))
    model = model_of(context_tokens=WINDOW, max_tokens=4096)

    with pytest.raises(WindowExceeded, match="window of 2048 tokens") as failure:
        await model.ask(asking(8_000))
    assert not stub.requests
    await model.ask(asking(failure.value.characters))

    # At least a quarter is left to the reply.
    assert WINDOW // 4 <= limit_of(stub.requests[0]) < WINDOW // 2


TEXTS = {
    "English": (PROSE, 4.2),
    "Chinese": ("董事会于星期一开会并批准了来年的预算。", 0.8),
    "emoji": ("🙂🎉🚀 ", 0.65),
}


@pytest.mark.parametrize(("text", "characters"), TEXTS.values(), ids=TEXTS)
async def test_no_script_exceeds_a_configured_window_without_a_word(
    model_of: MakeModel, stub: StubEndpoint, text: str, characters: float
):
    stub.play(server(refusals.proxy, counts_the_reply=True, characters=characters))
    model = model_of(context_tokens=WINDOW, max_tokens=100)

    await fitted(model, 20_000, text)

    assert len(stub.requests) == 1, "sent although it was too long"
