"""An equivalence checker whose subject and judge are real HTTP endpoints on loopback."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.equivalence.checker import EquivalenceChecker, EquivalenceSettings
from tests.checkers.conftest import MakeJudge, MakeModel
from tests.checkers.equivalence.setting import StubSubject
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., EquivalenceChecker]


@pytest.fixture
def subject() -> StubSubject:
    return StubSubject()


@pytest.fixture
def stub(subject: StubSubject) -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=subject) as endpoint:
        yield endpoint


@pytest.fixture
async def checker_of(model_of: MakeModel, judge_of: MakeJudge) -> AsyncIterator[MakeChecker]:
    """Builds a checker from its settings; the subject is called `acme-chat-4`."""
    built: list[EquivalenceChecker] = []

    def build(*, subjects: tuple[str, ...] = ("acme-chat-4",), **settings: Any) -> EquivalenceChecker:
        judge = judge_of("judge")
        models = Models(judge=judge, writer=judge.model, subjects={name: model_of(name) for name in subjects})
        built.append(EquivalenceChecker(EquivalenceSettings(**settings), models))
        return built[-1]

    yield build
    for one in built:
        await one.close()
