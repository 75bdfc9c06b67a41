"""Retries, what they are for, and how long they may take; addresses at which no endpoint is."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.endpoint import MAX_RETRY_AFTER, retry_after
from models.meter import MeteredModel
from models.protocol import ModelError, ModelFailed, ModelUnavailable
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.ports import free_port
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@given(st.floats(0, 1e9))
def test_milliseconds_go_before_seconds(milliseconds: float):
    headers = {"retry-after-ms": repr(milliseconds), "retry-after": "3"}
    assert retry_after(headers, NOW) == pytest.approx(min(milliseconds / 1000, MAX_RETRY_AFTER))


@given(st.integers(-100_000, 100_000))
def test_dates_are_read_as_the_time_until_then(seconds: int):
    stated = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after({"retry-after": stated}, NOW) == min(max(seconds, 0), MAX_RETRY_AFTER)


@given(st.text(max_size=40))
def test_whatever_else_stands_there_is_ignored_or_bounded(text: str):
    seconds = retry_after({"retry-after": text, "retry-after-ms": text}, NOW)
    assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER


PASSING = {
    "429": stubs.too_many(),
    "503": stubs.status(503),
    "closed connection": stubs.close(),
}


@pytest.mark.parametrize("act", PASSING.values(), ids=PASSING)
async def test_what_may_pass_is_tried_again(model_of: MakeModel, stub: StubEndpoint, act: Act):
    stub.play([act, act])
    answer = await model_of().ask(question())

    assert answer.usage.calls == 3


PERSISTENT = {
    "500": (stubs.status(500, "out of order"), r"status 500: out of order \(3 attempts\)"),
    "closed connection": (stubs.close(), r"the connection broke: .* \(3 attempts\)"),
}


@pytest.mark.parametrize(("act", "detail"), PERSISTENT.values(), ids=PERSISTENT)
async def test_what_persists_for_one_question_fails_it_and_says_how(
    model_of: MakeModel, stub: StubEndpoint, act: Act, detail: str
):
    stub.play(lambda _: act)
    model = model_of()

    with pytest.raises(ModelFailed, match=detail) as failure:
        await model.ask(question())

    assert failure.value.cause == "judge_failed"
    assert failure.value.usage.calls == 3


@pytest.mark.parametrize(
    ("code", "settings"),
    [
        (401, "judge.api_key"),
        (403, "judge.api_key and judge.model"),
        (404, "judge.base_url and judge.model"),
        (302, "judge.base_url and judge.model"),
    ],
)
async def test_a_configuration_fault_holds_every_question_back(
    model: MeteredModel, stub: StubEndpoint, code: int, settings: str
):
    stub.play(lambda _: stubs.status(code, "no such model or key"))

    with pytest.raises(ModelUnavailable, match=f"status {code}: no such model or key; check {settings}$") as first:
        await model.ask(question("First."))
    with pytest.raises(ModelUnavailable, match=f"status {code}") as second:
        await model.ask(question("Second."))

    assert first.value.misconfigured
    assert second.value.misconfigured
    assert first.value.retry_after == MAX_RETRY_AFTER
    assert len(stub.requests) == 1


async def test_a_fault_after_answers_is_not_taken_for_one_of_the_configuration(model: MeteredModel, stub: StubEndpoint):
    stub.play([stubs.good(), stubs.status(401, "expired")])
    await model.ask(question("First."))
    with pytest.raises(ModelUnavailable, match="status 401: expired") as refused:
        await model.ask(question("Second."))
    assert not refused.value.misconfigured


async def until_asked(stub: StubEndpoint) -> None:
    """Wait until a request has arrived."""
    while not stub.requests:  # noqa: ASYNC110 the stub lives in another thread
        await asyncio.sleep(0.01)


async def test_a_rate_limit_holds_everyone_for_as_long_as_it_says(model: MeteredModel, stub: StubEndpoint):
    stub.play([stubs.status(429, retry_after_ms="400")])
    asked = asyncio.create_task(model.ask(question()))
    await until_asked(stub)

    await asyncio.gather(asked, model.ask(question("Later.")))

    first, *others = [request.at for request in stub.requests]
    assert len(others) == 2
    assert min(others) - first >= 0.4


async def test_a_429_among_answers_makes_its_own_question_wait_and_no_other(model: MeteredModel, stub: StubEndpoint):
    await ask_often(model, 5)
    stub.play([stubs.status(429, retry_after="60")])
    with pytest.raises(ModelUnavailable, match="status 429") as failure:
        await model.ask(question("Refused."))
    assert failure.value.retry_after >= 60
    await ask_often(model, 5, first=5)


async def test_429s_close_to_each_other_make_everybody_wait(model: MeteredModel, stub: StubEndpoint):
    await ask_often(model, 5)
    stub.play([stubs.status(429, retry_after="60")] * 2)
    for text in ("First.", "Second."):
        with pytest.raises(ModelUnavailable):
            await model.ask(question(text))
    asked = len(stub.requests)
    with pytest.raises(ModelUnavailable, match="asked for a pause"):
        await model.ask(question("Third."))
    assert len(stub.requests) == asked


async def ask_often(model: MeteredModel, times: int, *, first: int = 0) -> None:
    for number in range(first, first + times):
        await model.ask(question(f"Number {number}."))


@pytest.mark.parametrize("code", [301, 302, 307, 308])
async def test_a_redirection_is_not_followed_and_the_key_does_not_reach_the_other_host(
    model_of: MakeModel, stub: StubEndpoint, code: int
):
    with StubEndpoint() as other:
        stub.play(lambda _: stubs.status(code, "moved", location=f"{other.base_url}/chat/completions"))

        with pytest.raises(ModelUnavailable, match=r"judge\.base_url") as failure:
            await model_of(extra_headers={"x-key": "sk-another"}).ask(question())

        assert failure.value.misconfigured
        assert len(stub.requests) == 1
        assert not other.requests


ALERT = b"\x15\x03\x03\x00\x02\x02\x46"
"""The answer of a port that speaks TLS to one who does not."""
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"
"""The answer of one that does not to one who does."""


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        ("https://127.0.0.1:{}/v1", BAD_REQUEST),
        ("http://127.0.0.1:{}/v1", ALERT),
        ("http://127.0.0.1:{}/v1", None),
        ("http://no-such-host.invalid:{}/v1", None),
    ],
    ids=["TLS where none is spoken", "none where TLS is", "closed", "no host"],
)
async def test_where_nobody_can_be_asked_nothing_is_decided(model_of: MakeModel, address: str, answer: bytes | None):
    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer or b"")
        writer.close()

    async with await asyncio.start_server(answered, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1] if answer else free_port()
        with pytest.raises(ModelError, match=r"cannot connect|the connection broke") as failure:
            await model_of(base_url=address.format(port)).ask(question())

    assert failure.value.usage.completion_tokens == 0
