"""A labelling checker whose subject and judge are real HTTP endpoints on loopback."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.labelling.checker import LabellingChecker, LabellingSettings
from schemas import Labelling
from tests.checkers.conftest import MakeJudge, MakeModel
from tests.checkers.labelling.players import EXAMPLES, StubLabeller
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., LabellingChecker]


@pytest.fixture
def labeller() -> StubLabeller:
    return StubLabeller()


@pytest.fixture
def stub(labeller: StubLabeller) -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=labeller) as endpoint:
        yield endpoint


@pytest.fixture
def checker_of(model_of: MakeModel, judge_of: MakeJudge) -> MakeChecker:
    """Builds a checker from labelling settings; the subject is called `m`."""

    def build(**settings: Any) -> LabellingChecker:
        settings.setdefault("rubrics", {"in-phenomenon": EXAMPLES / "in-phenomenon.yaml"})
        models = Models(judge=judge_of("judge"), subjects={"m": model_of("subject")})
        return LabellingChecker(LabellingSettings(**settings), models)

    return build


def labelling(datapoint: Any = "011011010110", label: Any = 0, **fields: Any) -> Labelling:
    """A record of the subject `m`."""
    body = {"datapoint": datapoint, "label": label, "rubric": "in-phenomenon"}
    return Labelling.model_validate(
        {"kind": "labelling", "id": "l-1", "source": "moderation", "model": "m", **body, **fields}
    )
