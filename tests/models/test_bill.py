"""The bill is the bill: what verdicts and the judge's listeners tell is what the server was sent and gave."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest

from assay.file_check import CheckedLine, FileCheck
from assay.lines import Line
from assay.plugins import own_checkers
from assay.summary import Summary
from checkers.checker import Models
from checkers.model_patience import ModelPatience
from models.billing import billed
from models.build import build_model
from models.meter import EndedRequest
from models.settings import JudgeSettings
from schemas import Generation, Usage, to_json
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act, Script
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

SENTENCES = [f"Member {number} left the board at noon." for number in range(15)]
RECORDS = [
    Generation(
        kind="generation",
        source="tests",
        model="m",
        id=f"r{number}",
        response=f"Report {number}. " + " ".join(SENTENCES),
        reference=f"Report {number}. " + " ".join(SENTENCES[:12]),
    )
    for number in range(8)
]
PRICES = {"prompt_price": 2.5, "completion_price": 10.0}


def every(times: int, act: Act) -> Script:
    """An act at every so many requests, and good answers else."""
    numbers = itertools.count(1)
    return lambda request: act if next(numbers) % times == 0 else stubs.good()


def quick_ones_only(request: StubRequest) -> Act:
    """Two sentences at a time are answered, and more never."""
    return stubs.good() if len(request.numbers) <= 2 else stubs.hang()


MODES: dict[str, Script] = {
    "all is well": lambda _: stubs.good(),
    "a refusal among the calls": every(3, stubs.says("", content=None, refusal="No.")),
    "thought up to the limit": lambda _: stubs.says("<think>Well, ", finish_reason="length"),
    "nonsense": every(2, stubs.nonsense()),
    "broken connections": every(4, stubs.close()),
    "errors of the server": every(3, stubs.status(500)),
    "throttled": every(5, stubs.status(429, retry_after_ms="20")),
    "long lists never": quick_ones_only,
    "refused": lambda _: stubs.status(400, "Bad Request"),
    "schemas refused": lambda request: (
        stubs.status(400, "response_format json_schema is not supported")
        if request.body.get("response_format", {}).get("type") == "json_schema"
        else stubs.good()
    ),
}


async def run(stub: StubEndpoint, **settings: object) -> tuple[list[CheckedLine], list[EndedRequest], Summary]:
    """Check the records as `assay check` does."""
    heard: list[EndedRequest] = []
    given = {"backend": "openai", "base_url": stub.base_url, "model": "m", **PRICES, **settings}
    judge = build_model(JudgeSettings.model_validate(given), on_usage=heard.append)
    plugin = next(plugin for plugin in own_checkers() if plugin.name == "consistency")
    checker = plugin.build(plugin.settings(), Models(judge=judge))
    found: list[CheckedLine] = []
    summary = Summary()

    async def lines() -> AsyncIterator[Line]:
        for number, record in enumerate(RECORDS, start=1):
            data = to_json(record)
            yield Line(number, data, len(data), number)

    def emit(checked: CheckedLine) -> None:
        found.append(checked)
        summary.add(checked)

    patience = ModelPatience(lambda _: None, seconds=0.5)
    await FileCheck([checker], max_bytes=100_000, window=64, patience=patience).run(lines(), emit)
    await judge.close()
    return found, heard, summary


@pytest.mark.parametrize("mode", MODES)
async def test_verdicts_listeners_and_summary_tell_what_the_server_was_sent_and_gave(
    stub: StubEndpoint, mode: str
) -> None:
    stub.play(MODES[mode])
    stub.delay = 0.01

    found, heard, summary = await run(stub, timeout_seconds=1.0, max_attempts=3)

    verdicts = [verdict.usage for checked in found for verdict in checked.verdicts]
    assert [checked.faults for checked in found] == [[]] * len(RECORDS)
    told = Usage.total(verdicts, seconds=0)
    listened = Usage.total([one.usage for one in heard], seconds=0)
    for usage in (told, listened):
        assert usage.calls == len(stub.requests)
        # Of requests that were left nobody knows whether they were still refused, or their answers under way.
        assert stub.read * 0.98 <= usage.prompt_tokens <= (stub.read + usage.reckoned_tokens) * 1.02
        assert usage.completion_tokens == stub.written or (
            usage.completion_tokens < stub.written and usage.reckoned_tokens
        )
        assert usage.cost == pytest.approx((usage.prompt_tokens * 2.5 + usage.completion_tokens * 10) / 1e6)
    assert f"{len(stub.requests)} call" in "\n".join(summary.lines())


async def test_one_that_is_left_before_its_answer_is_booked_with_its_prompt_and_marked(
    oracle_of: MakeModel, stub: StubEndpoint
) -> None:
    heard: list[EndedRequest] = []
    oracle = oracle_of(hooks={"on_usage": heard.append})
    await oracle.ask(question("First. " * 50))
    stub.play(lambda _: stubs.hang())

    with billed() as bill:
        asked = asyncio.create_task(oracle.ask(question("Second. " * 50)))
        while len(stub.requests) < 2:  # noqa: ASYNC110 the stub lives in another thread
            await asyncio.sleep(0.01)
        asked.cancel()
        await asyncio.wait({asked})

    assert heard[-1].ending == "left"
    assert bill.usage.calls == heard[-1].usage.calls == 1
    assert bill.usage.prompt_tokens == pytest.approx(stub.requests[-1].size / 4, rel=0.02)
    assert bill.usage.reckoned_tokens == bill.usage.prompt_tokens
