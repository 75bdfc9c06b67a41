"""What an endpoint refuses by name is left out from then on; what is configured beside it is sent."""

import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from models.meter import MeteredModel
from models.protocol import ModelFailed
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Script
from tests.support.stub_endpoint import StubEndpoint

REFUSALS: dict[str, tuple[str, Any]] = {
    "temperature, by a reasoning model of OpenAI": (
        "temperature",
        {"error": {"message": "Unsupported value: only the default (1) is supported", "param": "temperature"}},
    ),
    "temperature, by a validator": (
        "temperature",
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs"}]},
    ),
    "the number of log-probabilities, by vLLM": (
        "top_logprobs",
        {"object": "error", "message": "Requested top_logprobs of 5, which is greater than max allowed: 0"},
    ),
}


def without(parameter: str, body: object, status: int = 400) -> Script:
    """An endpoint that refuses what has the parameter."""
    return lambda request: stubs.error(status, body) if parameter in request.body else stubs.good()


@pytest.mark.parametrize(("parameter", "body"), REFUSALS.values(), ids=REFUSALS)
async def test_what_is_refused_by_name_is_left_out_from_then_on(
    model_of: MakeModel, stub: StubEndpoint, parameter: str, body: object
):
    stub.play(without(parameter, body))
    model = model_of()

    first = await model.ask(question("First.", graded="is_consistent"))
    second = await model.ask(question("Second.", graded="is_consistent"))

    assert (first.usage.calls, second.usage.calls) == (2, 1)
    assert [parameter in request.body for request in stub.requests] == [True, False, False]
    # Nothing else is given up.
    kept = {"temperature", "max_tokens", "logprobs", "top_logprobs"} - {parameter}
    if "logprobs" in parameter:
        kept -= {"logprobs", "top_logprobs"}
    assert kept <= stub.requests[-1].body.keys()


async def test_what_is_learned_from_a_question_that_fails_all_the_same_is_not_kept(
    model: MeteredModel, stub: StubEndpoint
):
    said = "the text says that the temperature in the room fell"
    stub.play([stubs.status(400, said), stubs.status(400, said), stubs.good()])
    with pytest.raises(ModelFailed):
        await model.ask(question("First."))

    await model.ask(question("Second."))

    assert ["temperature" in request.body for request in stub.requests] == [True, False, True]


async def test_a_key_that_may_not_ask_for_log_probabilities_is_a_good_key(model: MeteredModel, stub: StubEndpoint):
    body = {"error": {"message": "You are not allowed to request logprobs from this model", "code": None}}
    stub.play(without("logprobs", body, status=403))

    answer = await model.ask(question(graded="is_consistent"))

    assert answer.usage.calls == 2
    assert answer.probabilities is None


async def test_omit_sends_nothing(model_of: MakeModel, stub: StubEndpoint):
    await model_of(temperature="omit", max_tokens="omit").ask(question(max_tokens=50))

    sent = stub.requests[0].body.keys()
    assert not sent & {"temperature", "max_tokens", "max_completion_tokens", "logprobs"}


async def test_further_fields_headers_and_a_query_are_sent(model_of: MakeModel, stub: StubEndpoint):
    model = model_of(
        base_url=f"http://127.0.0.1:{stub.port}/openai/deployments/judge/?api-version=2024-10-21&x=a%2Bb",
        extra_body={"reasoning_effort": "low", "top_p": 0.5, "chat_template_kwargs": {"enable_thinking": False}},
        extra_headers={"X-Team": "quality", "api-key": "azure-key-1"},
    )

    await model.ask(question())

    request = stub.requests[0]
    assert request.path == "/openai/deployments/judge/chat/completions?api-version=2024-10-21&x=a%2Bb"
    assert request.headers["x-team"] == "quality"
    assert request.headers["api-key"] == "azure-key-1"
    assert request.headers["authorization"] == "Bearer sk-very-secret"
    assert request.headers["content-type"] == "application/json"
    assert request.body["reasoning_effort"] == "low"
    assert request.body["top_p"] == 0.5
    assert request.body["chat_template_kwargs"] == {"enable_thinking": False}


async def test_values_of_headers_stand_in_no_message_log_or_recording(
    model_of: MakeModel, stub: StubEndpoint, tmp_path: Any
):
    file = tmp_path / "recording.jsonl"
    said = "no such deployment for azure-key-12345 or dXNlcjpwYXNz"
    stub.play([stubs.status(400, said), stubs.status(401, said)])
    headers = {"api-key": "azure-key-12345", "Authorization": "Basic dXNlcjpwYXNz"}
    model = model_of(api_key=None, recording=file, extra_headers=headers)

    with capture_logs() as logged:
        with pytest.raises(ModelFailed, match=r"no such deployment for \[key\] or \[key\]"):
            await model.ask(question("First."))
        with pytest.raises(Exception, match=r"status 401: no such deployment for \[key\]"):
            await model.ask(question("Second."))

    text = f"{logged} {file.read_text()}"
    assert json.dumps(said)[1:-1].replace("azure-key-12345", "[key]").replace("dXNlcjpwYXNz", "[key]") in text
    assert "azure-key-12345" not in text
    assert "dXNlcjpwYXNz" not in text
