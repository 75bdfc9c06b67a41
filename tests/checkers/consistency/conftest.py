"""A consistency checker whose judge is a real HTTP endpoint on loopback."""

from collections.abc import Callable
from typing import Any

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker, ConsistencySettings
from schemas import Generation
from tests.checkers.conftest import MakeJudge

MakeChecker = Callable[..., ConsistencyChecker]


@pytest.fixture
def checker_of(judge_of: MakeJudge) -> MakeChecker:
    """Builds a checker from consistency settings; its judge, the stub, is asked in the short form unless told."""

    def build(*, judge: dict[str, Any] | None = None, **settings: Any) -> ConsistencyChecker:
        built = judge_of(**{"form": "short", "threshold": 0.0, **(judge or {})})
        return ConsistencyChecker(ConsistencySettings(**settings), Models(judge=built, writer=built.model))

    return build


def generation(response: str, **fields: Any) -> Generation:
    """A generation that is held against the sentences about a board, unless told otherwise."""
    fields = {"reference": "The board met on Monday. It approved the budget. Nobody objected.", **fields}
    return Generation.model_validate(
        {"kind": "generation", "id": "g-1", "source": "minutes", "model": "m", "response": response, **fields}
    )
