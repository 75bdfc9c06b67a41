"""An endpoint gets no more requests than it must: storms, windows, speeds and dialects, each at its worst."""

import asyncio
import itertools
import time
from typing import Any

import pytest

from checkers.checker import Checker
from models.protocol import ModelUnavailable
from schemas import Generation
from tests.models.asking import question, until_answered
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.checkers import asking
from tests.support.stub_acts import Act, good, status
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

SENTENCES = " ".join(f"Member {number} left the board at noon." for number in range(15))
QUICK = 10
"""Times as fast as the endpoints that are meant: all times and limits are a tenth."""


async def test_a_model_that_is_slow_to_write_gets_smaller_calls_and_keeps_them(stub: StubEndpoint):
    # 85 tokens a sentence at 20 a second: five take 21 seconds.
    stub.play(lambda request: good(delay=len(request.numbered) * 85 / (20 * QUICK)))
    checker: Checker[Any] = asking("consistency", stub.base_url, form="list", timeout_seconds=20 / QUICK)
    record = Generation(kind="generation", source="tests", model="m", response=SENTENCES, reference=SENTENCES)
    records = [record.model_copy(update={"id": f"r{n}", "reference": f"{SENTENCES} {n}."}) for n in range(6)]

    verdicts = await asyncio.gather(*map(checker.check, records))
    await checker.judge.close()

    assert [verdict.outcome == "abstain" for verdict in verdicts] == [False] * 6
    # Three calls a record at first, each of which is lost twice, then twice as many, and one about a control.
    assert len(stub.requests) <= 6 * (2 * 3 + 7)


async def test_an_empty_quota_ends_it_at_once(model_of: MakeModel, stub: StubEndpoint):
    error = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    stub.play(lambda _: stubs.error(429, {"error": error}))
    model = model_of()

    asked = [model.ask(question(f"Sentence {number}.")) for number in range(120)]
    endings = await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(one, ModelUnavailable) and one.misconfigured for one in endings)
    assert "nothing left" in str(endings[0])
    assert len(stub.requests) <= 16


async def test_a_limit_a_second_draws_hardly_more_requests_than_answers(
    model_of: MakeModel, stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("models.flow._FIRST_HOLD", 1 / QUICK)
    seconds: dict[int, itertools.count[int]] = {}

    def five_a_second(_: StubRequest) -> Act:
        passed = seconds.setdefault(int(time.monotonic() * QUICK), itertools.count())
        return good(delay=0.01) if next(passed) < 5 else stubs.too_many()

    stub.play(five_a_second)
    model = model_of(max_attempts=20)

    await asyncio.gather(*(until_answered(model, question(f"Sentence {number}.")) for number in range(120)))

    assert len(stub.requests) <= 2.5 * 120


async def test_what_is_refused_is_learned_once_for_all(model_of: MakeModel, stub: StubEndpoint):
    refused = ("temperature", "logprobs", "response_format")

    def script(request: StubRequest) -> Act:
        found = next((one for one in refused if one in request.body), None)
        return status(400, f"Unsupported parameter: '{found}'") if found else good()

    stub.play(script)
    stub.delay = 0.02
    model = model_of()

    await asyncio.gather(*(model.ask(question(f"{n}.", graded="is_consistent")) for n in range(120)))

    # One for each, and one more for the step from any JSON object to none.
    assert len(stub.requests) == 120 + 4
