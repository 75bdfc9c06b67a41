"""Responses as gateways, proxies and servers of other APIs give them: each ends in an answer, or in the right cause."""

import gzip
import json
from collections.abc import Callable

import pytest

from models.meter import MeteredModel
from models.protocol import ModelFailed
from tests.models import refusals
from tests.models.asking import question
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act, page, says
from tests.support.stub_endpoint import StubEndpoint

MakeModel = Callable[..., MeteredModel]
TEXT = '{"reason": [], "is_consistent": true}'
ANYTHING = question(complaint=lambda _: None)
PAGE = b"<!doctype html><html><body><h1>Bad gateway</h1>" + b"<p>nginx</p>" * 500 + b"</body></html>"
STREAM = b'data: {"choices": [{"delta": {"content": "{"}}]}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    "act",
    [
        page(502, PAGE),
        page(200, STREAM, "text/event-stream"),
        page(200, b""),
        Act(document={"choices": [], "error": {"message": "no provider answered", "code": 502}}),
        Act(document={"error": {"message": "upstream is overloaded", "code": 502}}),
        *(Act(document=one) for one in ([], {"choices": [{}]}, {"choices": [{"message": None}]})),
    ],
)
async def test_what_is_no_completion_is_tried_again_and_then_a_failure(
    model: MeteredModel, stub: StubEndpoint, act: Act
):
    stub.play([act])
    assert (await model.ask(ANYTHING)).usage.calls == 2

    stub.play(lambda _: act)
    with pytest.raises(ModelFailed) as failure:
        await model.ask(question("Something else."))
    assert failure.value.cause == "judge_failed"
    assert len(failure.value.detail) < 500


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_no_more_is_read_of_a_response_than_any_answer_needs(
    model: MeteredModel, stub: StubEndpoint, encoding: str
):
    body = b" " * 17_000_000
    document = gzip.compress(body) if encoding == "gzip" else body
    stub.play(lambda _: Act(kind="status", document=document, headers={"content-encoding": encoding}))
    with pytest.raises(ModelFailed, match="its answer has more than 16000000 bytes") as failure:
        await model.ask(ANYTHING)
    assert (failure.value.cause, failure.value.usage.calls) == ("judge_failed", 1)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ({"message": "maximum context length is 512 tokens", "code": 400}, "too_long"),
        ({"message": "blocked", "code": "content_filter"}, "judge_filtered"),
        ({"message": "the prompt is not allowed here", "code": "400"}, "judge_failed"),
    ],
)
@pytest.mark.parametrize("beside", [{}, {"choices": []}])
async def test_a_refusal_inside_a_success_has_its_cause(
    model: MeteredModel, stub: StubEndpoint, error: dict[str, object], cause: str, beside: dict[str, object]
):
    stub.play(lambda _: Act(document={"error": error, **beside}))
    with pytest.raises(ModelFailed) as failure:
        await model.ask(ANYTHING)
    assert failure.value.cause == cause
    # Not tried again as it is: what is too long is asked once more for a shorter reply.
    assert len(stub.requests) <= 1 + (cause == "too_long")


async def test_content_may_come_in_parts(model: MeteredModel, stub: StubEndpoint):
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]}
    stub.play([says("", content=[thought, {"type": "text", "text": TEXT}])])
    answer = await model.ask(ANYTHING)
    assert answer.usage.calls == 1
    assert answer.reply.is_consistent


TWO = json.dumps({"reason": [{"sentence": "a", "reason": "It says so."}] * 2, "is_consistent": False})


ENDINGS = {
    "refusal": (stubs.says("", content=None, refusal="I cannot help with that."), "judge_refused"),
    "refusal as a finish reason": (stubs.says("I cannot.", finish_reason="refusal"), "judge_refused"),
    "filter": (stubs.says(TWO, finish_reason="content_filter"), "judge_filtered"),
    "filter without a message": (
        Act(document={"choices": [{"index": 0, "finish_reason": "content_filter"}]}),
        "judge_filtered",
    ),
    "filter of Google's": (
        stubs.says("", content=None, finish_reason="content_filter: PROHIBITED_CONTENT"),
        "judge_filtered",
    ),
    "limit while thinking": (stubs.says(f"<think>Perhaps {TWO}", finish_reason="length"), "judge_cut_off"),
    "limit in the reply": (stubs.says(TWO[:-20], finish_reason="length"), "judge_cut_off"),
    "limit in the prose behind a reply": (stubs.says(f"{TWO}\nBut then, on", finish_reason="length"), "judge_cut_off"),
}


@pytest.mark.parametrize(("act", "cause"), ENDINGS.values(), ids=ENDINGS)
async def test_an_ending_has_its_cause_and_is_not_asked_about_again(
    model: MeteredModel, stub: StubEndpoint, act: Act, cause: str
):
    stub.play([act])

    with pytest.raises(ModelFailed) as failure:
        await model.ask(question())

    assert failure.value.cause == cause
    assert failure.value.usage.calls == len(stub.requests) == 1


@pytest.mark.parametrize(("status", "body"), refusals.FILTERED.values(), ids=refusals.FILTERED)
async def test_a_question_that_a_filter_keeps_back_has_its_cause(
    model: MeteredModel, stub: StubEndpoint, status: int, body: object
):
    stub.play([stubs.error(status, body)])

    with pytest.raises(ModelFailed, match="content filter kept the question back: status 400") as failure:
        await model.ask(question())

    assert failure.value.cause == "judge_filtered"
    assert len(stub.requests) == 1


@pytest.mark.parametrize("text", [TWO, TWO + " \n" * 50, f"```json\n{TWO}\n``", f"<think>Hm.</think>{TWO}\n\n"])
async def test_a_reply_that_is_whole_at_the_limit_is_whole(model: MeteredModel, stub: StubEndpoint, text: str):
    stub.play([stubs.says(text, finish_reason="length")])

    answer = await model.ask(question())

    assert len(answer.reply.reason) == 2


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
async def test_a_reply_that_the_endpoint_broke_off_is_asked_for_again(
    model: MeteredModel, stub: StubEndpoint, reason: str
):
    stub.play([stubs.says(TWO[:10], finish_reason=reason)])

    assert (await model.ask(question())).usage.calls == 2
