"""The bill is the bill: what verdicts and the judge's listeners tell is what the server was sent and gave."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest

from assay.file_check import CheckedLine, check_lines
from assay.reports import Summary
from checkers.checker import Models
from checkers.model_patience import ModelPatience
from checkers.plugin import own_checkers
from models.build import build_judge
from models.meter import EndedRequest
from models.protocol import ModelFailed
from models.settings import JudgeSettings
from models.work import Work
from schemas import Generation, Usage, to_json
from streams.record_lines import Line
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act, Script
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest
from tests.support.waiting import until

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
PRICES = {"prices": {"prompt": 2.5, "completion": 10.0}}


def every(times: int, act: Act) -> Script:
    """An act at every so many requests, and good answers else."""
    numbers = itertools.count(1)
    return lambda request: act if next(numbers) % times == 0 else stubs.good()


def quick_ones_only(request: StubRequest) -> Act:
    """Two sentences at a time are answered, and more never."""
    return stubs.good() if len(request.numbered) <= 2 else stubs.hang()


def too_long(request: StubRequest) -> Act:
    prompt, window = request.size // 4, 1_000
    said = f"This model's maximum context length is {window} tokens, and {prompt} were sent."
    return stubs.good() if prompt <= window else stubs.status(400, said)


def without_schemas(request: StubRequest) -> Act:
    wants = request.body.get("response_format", {}).get("type") == "json_schema"
    return stubs.status(400, "response_format json_schema is not supported") if wants else stubs.good()


JSON = {"content-type": "application/json"}
HALF = b'{"choices": [{"message": {"content": "{'

MODES: dict[str, tuple[Script, str]] = {
    "all is well": (lambda _: stubs.good(), ""),
    "nonsense": (every(2, stubs.nonsense()), "judge_unusable or none"),
    "throttled": (every(5, stubs.status(429, retry_after_ms="20")), ""),
    "long lists never": (quick_ones_only, ""),
    "schemas refused": (without_schemas, ""),
    "cut off at 30 tokens": (
        lambda request: Act(
            change=lambda text: text[:120], finish_reason="length" if len(request.numbered) > 3 else "stop"
        ),
        "",
    ),
    "a small window": (too_long, ""),
    "bodies that do not end": (
        every(6, Act(document=HALF, headers={**JSON, "content-length": "999"})),
        "judge_slow or judge_failed or none",
    ),
}
"""Each with the cause that records abstain with; empty where all are decided."""


async def run(stub: StubEndpoint, **settings: object) -> tuple[list[CheckedLine], list[EndedRequest], Summary]:
    """Check the records as `assay check` does."""
    heard: list[EndedRequest] = []
    given = {
        "backend": "openai",
        "base_url": stub.base_url,
        "model": "m",
        **PRICES,
        "form": "list",
        "threshold": 0.0,
        **settings,
    }
    judge = build_judge(JudgeSettings.model_validate(given), on_usage=heard.append)
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
    await check_lines([checker], lines(), emit, patience, max_bytes=100_000, window=64)
    await judge.close()
    return found, heard, summary


@pytest.mark.parametrize("mode", MODES)
async def test_verdicts_listeners_and_summary_tell_what_the_server_was_sent_and_gave(stub: StubEndpoint, mode: str):
    script, cause = MODES[mode]
    stub.play(script)
    stub.delay = 0.01

    found, heard, summary = await run(stub, timeout_seconds=1.0)

    verdicts = [verdict.usage for checked in found for verdict in checked.verdicts]
    assert [checked.faults for checked in found] == [[]] * len(RECORDS)
    causes = {getattr(verdict.evidence, "cause", "none") for checked in found for verdict in checked.verdicts}
    assert causes <= set((cause or "none").split(" or ")), causes
    told = Usage.total(verdicts, seconds=0)
    # What was sent and left at once may still be under way to the server.
    await until(lambda: len(stub.requests) >= told.calls, lambda: f"{told.calls} of {len(stub.requests)} calls")
    listened = Usage.total([one.usage for one in heard], seconds=0)
    for usage in (told, listened):
        assert usage.calls == len(stub.requests)
        # Of requests that were left nobody knows whether they were still refused, or their answers under way.
        assert stub.read * 0.98 <= usage.prompt_tokens <= (stub.read + usage.estimated_tokens) * 1.02
        assert usage.completion_tokens == stub.written or (
            usage.completion_tokens < stub.written and usage.estimated_tokens
        )
        assert usage.cost == pytest.approx((usage.prompt_tokens * 2.5 + usage.completion_tokens * 10) / 1e6)
    assert f"{len(stub.requests)} call" in "\n".join(summary.lines())


async def test_one_that_is_left_before_its_answer_is_booked_with_its_prompt_and_marked(
    model_of: MakeModel, stub: StubEndpoint
):
    heard: list[EndedRequest] = []
    model = model_of(hooks={"on_usage": heard.append})
    await model.ask(question("First. " * 50))
    stub.play(lambda _: stubs.hang())

    with Work() as bill:
        asked = asyncio.create_task(model.ask(question("Second. " * 50)))
        while len(stub.requests) < 2:  # noqa: ASYNC110 the stub lives in another thread
            await asyncio.sleep(0.01)
        asked.cancel()
        await asyncio.wait({asked})

    assert heard[-1].ending == "left"
    assert bill.usage.calls == heard[-1].usage.calls == 1
    assert bill.usage.prompt_tokens == pytest.approx(stub.requests[-1].size / 4, rel=0.02)
    assert bill.usage.estimated_tokens == bill.usage.prompt_tokens


async def test_the_time_on_a_bill_is_that_of_the_call_and_not_of_the_queue_before_it(
    model_of: MakeModel, stub: StubEndpoint
):
    stub.delay = 0.4
    heard: list[EndedRequest] = []
    model = model_of(concurrency=1, hooks={"on_usage": heard.append})
    await model.ask(question("First."))

    async def asked(number: int) -> float:
        with Work() as bill:
            await model.ask(question(f"Sentence {number}."))
        return bill.usage.seconds

    seconds = await asyncio.gather(*map(asked, range(4)))

    assert all(0.4 <= one < 0.8 for one in seconds), seconds
    assert max(one.waited for one in heard) >= 0.8


async def test_answers_cached_answers_and_failures_are_counted(model_of: MakeModel, stub: StubEndpoint):
    heard: list[EndedRequest] = []
    model = model_of(prices={"prompt": 1.0}, hooks={"on_usage": heard.append})
    stub.play([stubs.good(), stubs.nonsense(), stubs.nonsense()])

    with Work() as bill:
        await model.ask(question())
        await model.ask(question())
        with pytest.raises(ModelFailed):
            await model.ask(question("Another."))

    assert {(each.model, each.task) for each in heard} == {("openai/m", "consistency.summary")}
    assert [(each.ending, each.usage.calls, each.usage.cached) for each in heard] == [
        ("answered", 1, 0),
        ("answered", 0, 1),
        ("failed", 2, 0),
    ]
    assert bill.usage.calls == 3
    assert bill.usage.cached == 1
    assert bill.usage.prompt_tokens == sum(each.usage.prompt_tokens for each in heard)
    assert bill.usage.cost == pytest.approx(sum(each.usage.cost for each in heard))
    assert bill.usage.cost > 0
