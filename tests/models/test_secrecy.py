"""Keys, prompts and replies stay out of logs and error texts."""

import contextlib
import logging

import pytest
from structlog.testing import capture_logs

from models.meter import MeteredModel
from models.protocol import ModelError, ModelUnavailable
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import until

SECRET = "The merger with Initech closes on the first of May, before anyone hears of it."


async def test_logs_hold_no_key_prompt_or_reply(
    model_of: MakeModel, stub: StubEndpoint, caplog: pytest.LogCaptureFixture
):
    model = model_of(max_attempts=1, breaker={"failures": 1, "cooldown_seconds": 0.01})
    # The first question and the probe after it; another probe, and the second question; the third.
    failing, refusing = stubs.status(500, SECRET), stubs.status(401, f"{SECRET} sk-very-secret")
    stub.play([failing, stubs.status(500), stubs.good(), stubs.good(), refusing])

    async def second_answered() -> bool:
        with contextlib.suppress(ModelUnavailable):
            return (await model.ask(question(SECRET, "Second."))).usage.calls > 0
        return False

    with capture_logs() as logged, caplog.at_level(logging.INFO):
        with pytest.raises(ModelError):
            await model.ask(question(SECRET, "First."))
        await until(second_answered)
        with pytest.raises(ModelError):
            await model.ask(question(SECRET, "Third."))

    text = f"{logged} {caplog.text}"
    assert [one["event"] for one in logged].count("endpoint_breaker_opened") == 2
    assert "status 401" in text
    assert "Initech" not in text
    assert "sk-very-secret" not in text
    assert "HTTP Request" not in text


async def test_an_error_that_repeats_the_prompt_is_not_quoted(model: MeteredModel, stub: StubEndpoint):
    stub.play([stubs.status(422, f"cannot take {SECRET}")])

    with pytest.raises(ModelError, match=r"status 422: \[withheld: it repeats the prompt\]"):
        await model.ask(question(SECRET))


async def test_a_key_in_the_address_is_cut_out(model_of: MakeModel, stub: StubEndpoint):
    stub.play([stubs.status(422, "wrong key sk-very/secret for version 2024-10-21")])

    with pytest.raises(ModelError) as failure:
        await model_of(base_url=f"{stub.base_url}?key=sk-very%2Fsecret&api-version=2024-10-21").ask(question(SECRET))
    assert failure.value.detail == "the endpoint refused: status 422: wrong key [key] for version 2024-10-21"
