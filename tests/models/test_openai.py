"""Asking an endpoint: what is sent, what is taken as a reply, and the one repair turn."""

import json

import pytest

from models.meter import MeteredModel
from models.protocol import ModelFailed
from tests.models.asking import Reasons, question
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

GOOD = {
    "reason": [{"sentence": "a", "reason": "r"}, {"sentence": "b", "reason": "r"}],
    "is_consistent": False,
}
TEXT = json.dumps(GOOD)


OTHER = TEXT.replace("false", "true")

AROUND = {
    "prose with brackets": f"The sentences [1] and {{2}} differ [see above]:\n{TEXT}\nThat is all [*].",
    "twice the same": f"```json\n{TEXT}\n```\nor, on a line,\n{json.dumps(GOOD, indent=1)}",
    "a pattern of the form": f'I reply with {{"reason": [...], "is_consistent": ...}}.\n{TEXT}',
    "thought in Mistral's tags": f"[THINK]Maybe {OTHER}[/THINK]{TEXT}",
    "a flag in quotes": TEXT.replace("false", '"False"'),
    "a further key inside": TEXT.replace('"sentence": "a"', '"number": 1, "sentence": "a"'),
}


@pytest.mark.parametrize("text", AROUND.values(), ids=AROUND)
async def test_what_can_only_mean_one_thing_is_read(model: MeteredModel, stub: StubEndpoint, text: str):
    stub.play([stubs.says(text)])

    answer = await model.ask(question())

    assert answer.reply == Reasons.model_validate(GOOD)
    assert answer.usage.calls == 1


QUOTED = '{"reason": [], "is_consistent": true}'

UNUSABLE = {
    "two objects that differ": stubs.says(f"{TEXT}\nor rather\n{OTHER}"),
    "thought without an answer": stubs.says(f"<think>I would say {TEXT}</think>"),
    "an object inside another": stubs.says(f'{{"reply": {TEXT}}}'),
    "a quotation of the question": stubs.says(f"The text wants me to say {QUOTED}, which I will not."),
    "a number for a flag": stubs.says(TEXT.replace("false", "7")),
    "very deep objects": stubs.says('{"reason":' * 50_000),
}


@pytest.mark.parametrize("act", UNUSABLE.values(), ids=UNUSABLE)
async def test_an_unusable_reply_is_asked_for_once_more_and_another_one_is_a_failure_that_says_so(
    model: MeteredModel, stub: StubEndpoint, act: Act
):
    stub.play([act])

    answer = await model.ask(question("The board met on Monday.", f"It wrote {QUOTED}."))

    assert len(answer.reply.reason) == 2
    assert answer.usage.calls == 2
    roles = [message["role"] for message in stub.requests[1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]

    stub.play(lambda _: act)
    with pytest.raises(ModelFailed, match="no usable reply, after one repair turn: ") as failure:
        await model.ask(question("It wrote this.", f"It wrote {QUOTED}."))
    assert (failure.value.cause, failure.value.usage.calls) == ("judge_unusable", 2)
    assert failure.value.usage.completion_tokens > 0


async def test_an_endpoint_without_schemas_is_asked_for_an_object_from_then_on(model: MeteredModel, stub: StubEndpoint):
    def script(request: StubRequest) -> Act:
        wanted = request.body["response_format"]["type"]
        return stubs.status(400, f"'response_format' {wanted}: no") if wanted == "json_schema" else stubs.good()

    stub.play(script)

    await model.ask(question("First."))
    await model.ask(question("Second."))

    forms = [request.body["response_format"]["type"] for request in stub.requests]
    assert forms == ["json_schema", "json_object", "json_object"]
    assert '"is_consistent"' in stub.requests[1].body["messages"][0]["content"]


async def test_the_repair_turn_repeats_no_thought(model: MeteredModel, stub: StubEndpoint):
    stub.play([stubs.says("<think>Secret musing.</think>It is all consistent.")])
    await model.ask(question())
    assert stub.requests[1].body["messages"][-2]["content"] == "It is all consistent."


async def test_text_that_is_not_unicode_fails_and_sends_nothing(model: MeteredModel, stub: StubEndpoint):
    with pytest.raises(ModelFailed, match="not Unicode"):
        await model.ask(question("A lone \ud800 surrogate."))
    assert not stub.requests


async def test_a_completion_without_usage_is_reckoned_and_marked_so(model: MeteredModel, stub: StubEndpoint):
    stub.play([Act(document={"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]})])

    answer = await model.ask(question())

    assert answer.usage.calls == 1
    assert answer.usage.prompt_tokens > 30
    assert answer.usage.completion_tokens == len(TEXT) // 4
    assert answer.usage.estimated_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
