"""A real HTTP endpoint on loopback, and oracles that ask it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from models.build import build_oracle
from models.meter import MeteredOracle
from models.settings import JudgeSettings
from tests.support.stub_endpoint import StubEndpoint

MakeOracle = Callable[..., MeteredOracle]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here depends on how long it is until something is tried again."""
    monkeypatch.setattr("models.retry._FIRST_PAUSE", 0.01)
    monkeypatch.setattr("models.retry._UNAVAILABLE_PAUSE", 0.05)


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def oracle_of(stub: StubEndpoint) -> AsyncIterator[MakeOracle]:
    """Builds an oracle that asks the stub, from settings and hooks laid over quick defaults."""
    built = []

    def build(*, hooks: dict[str, Any] | None = None, **settings: Any) -> MeteredOracle:
        quick = {
            "backend": "openai",
            "base_url": stub.base_url,
            "model": "m",
            "api_key": "sk-very-secret",
            "timeout_seconds": 30.0,
            "deadline_seconds": 50.0,
            "max_attempts": 3,
            "breaker": {"cooldown_seconds": 0.2},
        }
        oracle = build_oracle(JudgeSettings.model_validate({**quick, **settings}), **(hooks or {}))
        built.append(oracle)
        return oracle

    yield build
    for oracle in built:
        await oracle.close()


@pytest.fixture
def oracle(oracle_of: MakeOracle) -> MeteredOracle:
    return oracle_of()
