"""Models behind the stub endpoint that a test's folder brings."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from models.build import build_model
from models.judges.prompted import PromptedJudge
from models.protocol import Model
from models.settings import JudgeSettings
from tests.checkers.case import prompted
from tests.support.stub_endpoint import StubEndpoint

MakeModel = Callable[..., Model]
MakeJudge = Callable[..., PromptedJudge]


@pytest.fixture
async def model_of(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeModel]:
    """Builds what asks the stub as a model of some name, with two tries."""
    monkeypatch.setattr("models.flow._ATTEMPTS", 2)
    built: list[Model] = []

    def build(name: str = "stub", **settings: Any) -> Model:
        endpoint = {"backend": "openai", "base_url": stub.base_url, "model": name}
        built.append(build_model(JudgeSettings.model_validate({**endpoint, "timeout_seconds": 30, **settings})))
        return built[-1]

    yield build
    for model in built:
        await model.close()


@pytest.fixture
async def judge_of(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeJudge]:
    """Builds a judge that asks the stub as a model of some name, with two tries."""
    monkeypatch.setattr("models.flow._ATTEMPTS", 2)
    built: list[PromptedJudge] = []

    def build(name: str = "stub", **settings: Any) -> PromptedJudge:
        built.append(prompted(stub, name, timeout_seconds=30, **settings))
        return built[-1]

    yield build
    for judge in built:
        await judge.close()
