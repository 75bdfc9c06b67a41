"""An improver whose judge and writer are real endpoints, and sentences for it to mend."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.improver import ConsistencyImprover
from checkers.plugin import ImproverSettings
from models.settings import SubjectSettings
from schemas import Improvement
from tests.checkers.consistency.conftest import generation
from tests.checkers.consistency.improver.writer import writer_answer
from tests.support.stub_endpoint import StubEndpoint

GOOD = "The board approved the budget."
FALSE = "The chairman resigned afterwards."
OTHER = "Nobody knew why."
MENDED = "Nobody objected."

MakeImprover = Callable[..., ConsistencyImprover]


@pytest.fixture
def writer() -> Iterator[StubEndpoint]:
    """The writer's endpoint; by default every sentence becomes one that the judge finds consistent."""
    with StubEndpoint(answer=writer_answer) as endpoint:
        yield endpoint


@pytest.fixture
async def improver_of(writer: StubEndpoint, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeImprover]:
    """Builds an improver from a checker, with a stub of its own as writer; `rounds` holds for all."""
    writers = []

    def build(checker: ConsistencyChecker, *, rounds: int = 2) -> ConsistencyImprover:
        monkeypatch.setattr("checkers.consistency.improver._ROUNDS", rounds)
        named = SubjectSettings(base_url=writer.base_url, model="writer", timeout_seconds=30)
        asked = ImproverSettings(writer=named).build_writer(None)
        writers.append(asked)
        return ConsistencyImprover(checker, asked)

    yield build
    for asked in writers:
        await asked.close()


async def improved(
    checker: ConsistencyChecker, improver: ConsistencyImprover, response: str, **fields: Any
) -> Improvement:
    record = generation(response, **fields)
    verdict = await checker.check(record)
    assert improver.takes(verdict), verdict.reason
    return await improver.improve(record, verdict)


Improve = Callable[..., Awaitable[Improvement]]


@pytest.fixture
def improve(checker_of: Callable[..., ConsistencyChecker], improver_of: MakeImprover) -> Improve:
    """Checks a response and improves it, in this many rounds."""

    async def run(response: str, *, rounds: int = 2, **fields: Any) -> Improvement:
        checker = checker_of()
        return await improved(checker, improver_of(checker, rounds=rounds), response, **fields)

    return run
