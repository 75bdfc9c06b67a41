"""A labelling checker whose subject and judge are real HTTP endpoints on loopback."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkers.checker import Models
from checkers.labelling.checker import LabellingChecker
from checkers.labelling.settings import LabellingSettings
from checkers.oracle.build import build_oracle
from checkers.oracle.protocol import Oracle
from checkers.oracle.settings import JudgeSettings
from schemas import Labelling
from tests.support.labelling import StubLabeller
from tests.support.stub_endpoint import StubEndpoint

EXAMPLES = Path(__file__).parents[3] / "examples" / "rubrics"

MakeChecker = Callable[..., LabellingChecker]
MakeOracle = Callable[..., Oracle]


@pytest.fixture
def labeller() -> StubLabeller:
    """What the stub answers."""
    return StubLabeller()


@pytest.fixture
def stub(labeller: StubLabeller) -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=labeller) as endpoint:
        yield endpoint


@pytest.fixture
async def oracle_of(stub: StubEndpoint) -> AsyncIterator[MakeOracle]:
    """Builds oracles that ask the stub."""
    built = []

    def build(model: str = "stub") -> Oracle:
        settings = JudgeSettings(
            backend="openai", base_url=stub.base_url, model=model, timeout_seconds=2, max_attempts=2
        )
        built.append(build_oracle(settings))
        return built[-1]

    yield build
    for oracle in built:
        await oracle.close()


@pytest.fixture
def checker_of(oracle_of: MakeOracle) -> MakeChecker:
    """Builds a checker from labelling settings; the subject is called `m`."""

    def build(**settings: Any) -> LabellingChecker:
        settings.setdefault("rubrics", {"in-phenomenon": EXAMPLES / "in-phenomenon.yaml"})
        models = Models(judge=oracle_of("judge"), subjects={"m": oracle_of("subject")})
        return LabellingChecker(LabellingSettings(**settings), models)

    return build


def labelling(datapoint: Any = "011011010110", label: Any = 0, **fields: Any) -> Labelling:
    """A record of the subject `m`."""
    body = {"datapoint": datapoint, "label": label, "rubric": "in-phenomenon"}
    return Labelling.model_validate(
        {"kind": "labelling", "id": "l-1", "source": "moderation", "model": "m", **body, **fields}
    )
