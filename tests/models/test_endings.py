"""What ends a question without an answer has a cause of its own: refusal, content filter, token limit."""

import json

import pytest

from models.meter import MeteredModel
from models.protocol import ModelFailed
from tests.models import refusals
from tests.models.asking import Reasons, question
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint

ENTRY = {"sentence": "a", "reason": "It says so."}
TEXT = json.dumps({"reason": [ENTRY, ENTRY], "is_consistent": False})


class Entries(Reasons):
    is_consistent: bool = False


ENDINGS = {
    "refusal": (stubs.says("", content=None, refusal="I cannot help with that."), "judge_refused"),
    "refusal beside a reply": (stubs.says(TEXT, refusal="I cannot help with that."), "judge_refused"),
    "refusal as a finish reason": (stubs.says("I cannot.", finish_reason="refusal"), "judge_refused"),
    "filter": (stubs.says(TEXT, finish_reason="content_filter"), "judge_filtered"),
    "filter without a text": (stubs.says("", content=None, finish_reason="content_filter"), "judge_filtered"),
    "filter without a message": (
        Act(document={"choices": [{"index": 0, "finish_reason": "content_filter"}]}),
        "judge_filtered",
    ),
    "filter of Google's": (
        stubs.says("", content=None, finish_reason="content_filter: PROHIBITED_CONTENT"),
        "judge_filtered",
    ),
    "limit before the first word": (stubs.says("", finish_reason="length"), "judge_cut_off"),
    "limit, thinking apart": (
        stubs.says("", content=None, reasoning_content="Well, " * 20, finish_reason="length"),
        "judge_cut_off",
    ),
    "limit while thinking": (stubs.says(f"<think>Perhaps {TEXT}", finish_reason="length"), "judge_cut_off"),
    "limit in the reply": (stubs.says(TEXT[:-20], finish_reason="length"), "judge_cut_off"),
    "limit in Mistral's words": (stubs.says(TEXT[:-20], finish_reason="model_length"), "judge_cut_off"),
    "limit in the prose behind a reply": (stubs.says(f"{TEXT}\nBut then, on", finish_reason="length"), "judge_cut_off"),
}


@pytest.mark.parametrize(("act", "cause"), ENDINGS.values(), ids=ENDINGS)
async def test_an_ending_has_its_cause_and_is_not_asked_about_again(
    model: MeteredModel, stub: StubEndpoint, act: Act, cause: str
) -> None:
    stub.play([act])

    with pytest.raises(ModelFailed) as failure:
        await model.ask(question())

    assert failure.value.cause == cause
    assert failure.value.usage.calls == len(stub.requests) == 1


@pytest.mark.parametrize(("status", "body"), refusals.FILTERED.values(), ids=refusals.FILTERED)
async def test_a_question_that_a_filter_keeps_back_has_its_cause(
    model: MeteredModel, stub: StubEndpoint, status: int, body: object
) -> None:
    stub.play([stubs.error(status, body)])

    with pytest.raises(ModelFailed, match="content filter kept the question back: status 400") as failure:
        await model.ask(question())

    assert failure.value.cause == "judge_filtered"
    assert len(stub.requests) == 1


async def test_whole_entries_of_a_reply_that_was_cut_off_are_kept(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.play([stubs.says(f"<think>Hm.</think>\nHere:\n```json\n{TEXT[:-35]}", finish_reason="length")])

    answer = await model.ask(question(reply=Entries, salvage="reason"))

    assert [entry.model_dump() for entry in answer.reply.reason] == [ENTRY]
    assert answer.usage.calls == 1


@pytest.mark.parametrize("text", [TEXT, TEXT + " \n" * 50, f"```json\n{TEXT}\n``", f"<think>Hm.</think>{TEXT}\n\n"])
async def test_a_reply_that_is_whole_at_the_limit_is_whole(model: MeteredModel, stub: StubEndpoint, text: str) -> None:
    stub.play([stubs.says(text, finish_reason="length")])

    answer = await model.ask(question())

    assert len(answer.reply.reason) == 2


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
async def test_a_reply_that_the_endpoint_broke_off_is_asked_for_again(
    model: MeteredModel, stub: StubEndpoint, reason: str
) -> None:
    stub.play([stubs.says(TEXT[:10], finish_reason=reason)])

    assert (await model.ask(question())).usage.calls == 2


async def test_the_repair_turn_repeats_no_thought(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.play([stubs.says("<think>Secret musing.</think>It is all consistent.")])

    await model.ask(question())

    assert stub.requests[1].body["messages"][-2]["content"] == "It is all consistent."
