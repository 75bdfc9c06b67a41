"""What was spent is added up and told."""

import pytest

from checkers.billing import billed
from checkers.oracle.protocol import OracleFailed
from schemas import Usage
from tests.checkers.oracle.asking import question
from tests.checkers.oracle.conftest import MakeOracle
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


async def test_answers_cached_answers_and_failures_are_counted(oracle_of: MakeOracle, stub: StubEndpoint) -> None:
    heard: list[tuple[str, Usage]] = []
    oracle = oracle_of(prompt_price=1.0, hooks={"on_usage": lambda task, usage: heard.append((task, usage))})
    stub.play([stubs.good(), stubs.nonsense(), stubs.nonsense()])

    with billed() as bill:
        await oracle.ask(question())
        await oracle.ask(question())
        with pytest.raises(OracleFailed):
            await oracle.ask(question("Another."))

    assert [task for task, _ in heard] == ["consistency.summary"] * 3
    assert [(usage.calls, usage.cached) for _, usage in heard] == [(1, 0), (0, 1), (2, 0)]
    assert bill.usage.calls == 3
    assert bill.usage.cached == 1
    assert bill.usage.prompt_tokens == sum(usage.prompt_tokens for _, usage in heard)
    assert bill.usage.cost == pytest.approx(sum(usage.cost for _, usage in heard))
    assert bill.usage.cost > 0
