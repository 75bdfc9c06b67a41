"""A consistency checker whose judge is a real HTTP endpoint on loopback."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from checkers.oracle.build import build_oracle
from checkers.oracle.settings import JudgeSettings
from schemas import Generation
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., ConsistencyChecker]


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def checker_of(stub: StubEndpoint) -> AsyncIterator[MakeChecker]:
    """Builds a checker from consistency settings, with the stub as its judge."""
    judges = []

    def build(**settings: Any) -> ConsistencyChecker:
        judge = build_oracle(
            JudgeSettings(backend="openai", base_url=stub.base_url, model="stub", timeout_seconds=1.5, max_attempts=2)
        )
        judges.append(judge)
        return ConsistencyChecker(ConsistencySettings(**settings), judge)

    yield build
    for judge in judges:
        await judge.close()


def generation(response: str, **fields: Any) -> Generation:
    """A generation that is held against the sentences about a board, unless told otherwise."""
    fields = {"reference": "The board met on Monday. It approved the budget. Nobody objected.", **fields}
    return Generation.model_validate(
        {"kind": "generation", "id": "g-1", "source": "minutes", "model": "m", "response": response, **fields}
    )
