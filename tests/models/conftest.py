"""A real HTTP endpoint on loopback, and models that ask it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from tenacity import wait_random_exponential

from models.build import build_model
from models.meter import MeteredModel
from models.settings import JudgeSettings
from tests.support.stub_endpoint import StubEndpoint

MakeModel = Callable[..., MeteredModel]
Breaker = Callable[..., None]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on how long it is until something is tried again."""
    monkeypatch.setattr("models.flow._BACK_OFF", wait_random_exponential(multiplier=0.01, max=8))
    monkeypatch.setattr("models.flow._FIRST_HOLD", 0.01)
    monkeypatch.setattr("models.flow._COOLDOWN", 0.2)


@pytest.fixture
def breaker(monkeypatch: pytest.MonkeyPatch) -> Breaker:
    """Sets after how many failures in a row, and how soon again, something small is asked."""

    def settled(*, failures: int | None = None, cooldown_seconds: float | None = None) -> None:
        if failures is not None:
            monkeypatch.setattr("models.flow._FAILURES", failures)
        if cooldown_seconds is not None:
            monkeypatch.setattr("models.flow._COOLDOWN", cooldown_seconds)
            monkeypatch.setattr("models.flow._LONGEST_COOLDOWN", max(cooldown_seconds, 30.0))

    return settled


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def model_of(stub: StubEndpoint, breaker: Breaker, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeModel]:
    """Builds a model that asks the stub, from settings and hooks laid over quick defaults, in three attempts."""
    built = []

    def build(*, hooks: dict[str, Any] | None = None, **settings: Any) -> MeteredModel:
        breaker(**settings.pop("breaker", {}))
        monkeypatch.setattr("models.flow._ATTEMPTS", settings.pop("max_attempts", 3))
        quick = {
            "backend": "openai",
            "base_url": stub.base_url,
            "model": "m",
            "api_key": "sk-very-secret",
            "timeout_seconds": 30.0,
        }
        model = build_model(JudgeSettings.model_validate({**quick, **settings}), **(hooks or {}))
        built.append(model)
        return model

    yield build
    for model in built:
        await model.close()


@pytest.fixture
def model(model_of: MakeModel) -> MeteredModel:
    return model_of()
