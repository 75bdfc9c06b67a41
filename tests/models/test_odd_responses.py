"""Responses as gateways, proxies and servers of other APIs give them: each ends in an answer, or in the right cause."""

import gzip
from collections.abc import Callable

import pytest

from models.meter import MeteredModel
from models.protocol import ModelFailed
from tests.models.asking import question
from tests.support.stub_acts import Act, good, page, says
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
        page(200, PAGE),
        page(200, STREAM, "text/event-stream"),
        page(200, b""),
        Act(document={"choices": [], "error": {"message": "no provider answered", "code": 502}}),
        Act(document={"choices": None, "error": "overloaded"}),
        Act(document={"error": "overloaded"}),
        Act(document={"error": {"message": "upstream is overloaded", "code": 502}}),
        *(
            Act(document=one)
            for one in ([], {}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}, "x")
        ),
    ],
)
async def test_what_is_no_completion_is_tried_again_and_then_a_failure(
    model: MeteredModel, stub: StubEndpoint, act: Act
) -> None:
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
) -> None:
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
) -> None:
    stub.play(lambda _: Act(document={"error": error, **beside}))
    with pytest.raises(ModelFailed) as failure:
        await model.ask(ANYTHING)
    assert failure.value.cause == cause
    # Not tried again as it is: what is too long is asked once more for a shorter reply.
    assert len(stub.requests) <= 1 + (cause == "too_long")


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": TEXT}],
        [{"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]}, {"type": "text", "text": TEXT}],
        [{"type": "text", "text": TEXT[:9]}, {"type": "text", "text": TEXT[9:]}],
    ],
    ids=["one", "behind thought", "two"],
)
async def test_content_may_come_in_parts(model: MeteredModel, stub: StubEndpoint, content: object) -> None:
    stub.play([says("", content=content)])
    answer = await model.ask(ANYTHING)
    assert answer.usage.calls == 1
    assert answer.reply.is_consistent


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("content", ["", None])
async def test_thought_in_a_field_of_its_own_is_no_answer(
    model: MeteredModel, stub: StubEndpoint, field: str, content: str | None
) -> None:
    stub.play(lambda _: says("", content=content, **{field: TEXT}))
    with pytest.raises(ModelFailed, match="empty") as failure:
        await model.ask(ANYTHING)
    assert failure.value.cause == "judge_unusable"


async def test_connections_that_are_closed_without_a_word_cost_no_question(
    model_of: MakeModel, stub: StubEndpoint
) -> None:
    model = model_of(concurrency=1)
    stub.play(lambda _: good(closes=True))
    for number in range(20):
        await model.ask(question(f"Sentence {number}."))
