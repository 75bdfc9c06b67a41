"""The endpoint's own tokenizer, which some servers have beside their API."""

import pytest

from lab.link.tokens import EndpointTokenizer
from models.protocol import OracleUnavailable
from models.settings import SubjectSettings
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


@pytest.mark.parametrize("code", [404, 405, 501])
async def test_a_server_without_one_says_so(code: int):
    assert await _asked(code) is None


@pytest.mark.parametrize("code", [408, 429, 500, 503, 504])
async def test_a_server_in_trouble_is_not_taken_for_one_without(code: int):
    with pytest.raises(OracleUnavailable, match=f"/tokenize: status {code}"):
        await _asked(code)


async def _asked(code: int) -> list[int] | None:
    with StubEndpoint() as stub:
        stub.play(lambda request: stubs.status(code))
        tokenizer = EndpointTokenizer(SubjectSettings(base_url=stub.base_url, model="m"))
        try:
            return await tokenizer.first_tokens(["saw"])
        finally:
            await tokenizer.close()
