"""Models behind the stub endpoint that a test's folder brings."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from models.build import build_model
from models.protocol import Model
from models.settings import JudgeSettings
from tests.support.stub_endpoint import StubEndpoint

MakeModel = Callable[..., Model]


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
