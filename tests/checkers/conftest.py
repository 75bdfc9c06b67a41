"""A stub endpoint, which a test's folder may replace, and models behind it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from models.judges.prompted import PromptedJudge
from models.protocol import Model
from tests.checkers.case import prompted
from tests.support.stub_endpoint import StubEndpoint

MakeModel = Callable[..., Model]
MakeJudge = Callable[..., PromptedJudge]


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def judge_of(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeJudge]:
    """Builds a judge that asks the stub as a model of some name, with two tries."""
    monkeypatch.setattr("models.flow._ATTEMPTS", 2)
    built: list[PromptedJudge] = []

    def build(name: str = "stub", **settings: Any) -> PromptedJudge:
        built.append(prompted(stub, name, **{"timeout_seconds": 30, **settings}))
        return built[-1]

    yield build
    for judge in built:
        await judge.close()


@pytest.fixture
def model_of(judge_of: MakeJudge) -> MakeModel:
    """Builds what asks the stub as a model of some name, with two tries."""
    return lambda name="stub", **settings: judge_of(name, **settings).model
