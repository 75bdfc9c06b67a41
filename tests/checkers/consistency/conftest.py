"""A consistency checker whose judge is a real HTTP endpoint on loopback."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from schemas import Generation
from tests.checkers.conftest import MakeModel
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., ConsistencyChecker]


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def checker_of(model_of: MakeModel) -> MakeChecker:
    """Builds a checker from consistency settings. Its judge, the stub, is asked one by one with 120 tokens."""

    def build(*, answers_within: float = 30, max_tokens: int = 4096, **settings: Any) -> ConsistencyChecker:
        models = Models(judge=model_of(timeout_seconds=answers_within, max_tokens=max_tokens))
        return ConsistencyChecker(ConsistencySettings(**settings), models)

    return build


def generation(response: str, **fields: Any) -> Generation:
    """A generation that is held against the sentences about a board, unless told otherwise."""
    fields = {"reference": "The board met on Monday. It approved the budget. Nobody objected.", **fields}
    return Generation.model_validate(
        {"kind": "generation", "id": "g-1", "source": "minutes", "model": "m", "response": response, **fields}
    )
