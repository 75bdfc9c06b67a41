"""Every method on the stream: records in, verdicts out, counted by model; everything over the wire."""

import asyncio
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas import Abstention, Verdict
from tests.checkers.case import StreamCase
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import first_verdicts, put
from tests.support.workers import worker_here

CHECKERS = Path(__file__).parents[1] / "checkers"
METHODS = sorted(file.parent.name for file in CHECKERS.glob("*/stream_case.py"))


@pytest.fixture(params=METHODS)
def case(request: pytest.FixtureRequest) -> StreamCase:
    found: StreamCase = importlib.import_module(f"tests.checkers.{request.param}.stream_case").CASE
    return found


@pytest.fixture
def stub(case: StreamCase) -> Iterator[StubEndpoint]:
    with case.endpoint() as endpoint:
        yield endpoint


async def test_records_are_held_while_the_model_is_down_then_each_has_its_verdict_and_costs_nothing_again(
    prepared: Place, case: StreamCase, stub: StubEndpoint
) -> None:
    async def verdicts(topic: str, count: int) -> dict[str, Verdict]:
        return {verdict.record_id: verdict for verdict in await first_verdicts(prepared.servers, topic, count)}

    raw, topics = prepared.settings(), prepared.checked().topics
    checker = case.checker(stub)
    again = case.records[min(case.accepted)]
    stub.down()
    await put(prepared.servers, topics.outputs, [again])
    async with worker_here([checker], raw) as worker:
        await worker.wait_for("assay_records_held", 1, agent=checker.name)
        stub.up()
        await put(prepared.servers, topics.outputs, [each for each in case.records.values() if each != again])
        accepted, rejected, abstained = await asyncio.gather(
            verdicts(topics.accepted, len(case.accepted)),
            verdicts(topics.rejected, len(case.rejected)),
            verdicts(topics.abstained, len(case.causes)),
        )
        for outcome, model, count in case.counted:
            source = next(one for one in accepted.values()).source
            labels = {"checker": checker.name, "outcome": outcome, "source": source, "model": model}
            await worker.wait_for("assay_verdicts_total", count, **labels)
        asked = len(stub.requests)
        await put(prepared.servers, topics.outputs, [again])
        *_, second = await first_verdicts(prepared.servers, topics.accepted, len(case.accepted) + 1)
    assert set(accepted) == set(case.accepted)
    assert set(rejected) == set(case.rejected)
    undecided = {name: one.evidence for name, one in abstained.items()}
    causes = {name: one.cause for name, one in undecided.items() if isinstance(one, Abstention)}
    assert causes == case.causes
    decided = accepted | rejected
    assert all(one.origin is not None for one in decided.values())
    first = accepted[min(case.accepted)]
    assert first.usage.calls >= 1
    assert (first.id, first.evidence) == (second.id, second.evidence)
    assert (len(stub.requests), second.usage.calls) == (asked, 0)
