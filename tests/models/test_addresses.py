"""Addresses at which no endpoint is: whoever stands there gets no question and no key, and the user is told where."""

import asyncio

import pytest

from models.protocol import ModelError, ModelUnavailable
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.ports import free_port
from tests.support.stub_endpoint import StubEndpoint


@pytest.mark.parametrize("code", [301, 302, 307, 308])
async def test_a_redirection_is_not_followed_and_the_key_does_not_reach_the_other_host(
    model_of: MakeModel, stub: StubEndpoint, code: int
) -> None:
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
async def test_where_nobody_can_be_asked_nothing_is_decided(
    model_of: MakeModel, address: str, answer: bytes | None
) -> None:
    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer or b"")
        writer.close()

    async with await asyncio.start_server(answered, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1] if answer else free_port()
        with pytest.raises(ModelError, match=r"cannot connect|the connection broke") as failure:
            await model_of(base_url=address.format(port)).ask(question())

    assert failure.value.usage.completion_tokens == 0
