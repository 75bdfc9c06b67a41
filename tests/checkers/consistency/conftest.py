"""A consistency checker whose judge is a real HTTP endpoint on loopback."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from models.build import build_judge
from models.judges.prompted import PromptedJudge
from models.settings import JudgeSettings
from schemas import Generation
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., ConsistencyChecker]


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def checker_of(stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeChecker]:
    """Builds a checker from consistency settings; its judge, the stub, is asked in the short form unless told."""
    monkeypatch.setattr("models.flow._ATTEMPTS", 2)
    judges = []

    def build(*, judge: dict[str, Any] | None = None, **settings: Any) -> ConsistencyChecker:
        endpoint = {"backend": "openai", "base_url": stub.base_url, "model": "stub", "timeout_seconds": 30}
        asked = JudgeSettings.model_validate({**endpoint, "form": "short", "threshold": 0.0, **(judge or {})})
        built = build_judge(asked)
        assert isinstance(built, PromptedJudge)
        judges.append(built)
        return ConsistencyChecker(ConsistencySettings(**settings), Models(judge=built, writer=built.model))

    yield build
    for judge in judges:
        await judge.close()


def generation(response: str, **fields: Any) -> Generation:
    """A generation that is held against the sentences about a board, unless told otherwise."""
    fields = {"reference": "The board met on Monday. It approved the budget. Nobody objected.", **fields}
    return Generation.model_validate(
        {"kind": "generation", "id": "g-1", "source": "minutes", "model": "m", "response": response, **fields}
    )
