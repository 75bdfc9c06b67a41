"""An equivalence checker whose subject and judge are real HTTP endpoints on loopback."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.equivalence.checker import EquivalenceChecker
from checkers.equivalence.settings import EquivalenceSettings
from checkers.equivalence.similarity import PhraseEncoder
from tests.checkers.conftest import MakeModel
from tests.support.equivalence import StubSubject
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., EquivalenceChecker]

_encoder_of = functools.cache(PhraseEncoder)


@pytest.fixture(autouse=True)
def _one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkers share their model: loading it takes longer than all that these tests do with it."""
    monkeypatch.setattr("checkers.equivalence.similarity.PhraseEncoder", _encoder_of)


@pytest.fixture
def subject() -> StubSubject:
    return StubSubject()


@pytest.fixture
def stub(subject: StubSubject) -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=subject) as endpoint:
        yield endpoint


@pytest.fixture
async def checker_of(model_of: MakeModel) -> AsyncIterator[MakeChecker]:
    """Builds a checker from its settings; the subject is called `acme-chat-4`."""
    built: list[EquivalenceChecker] = []

    def build(*, subjects: tuple[str, ...] = ("acme-chat-4",), **settings: Any) -> EquivalenceChecker:
        models = Models(judge=model_of("judge"), subjects={name: model_of(name) for name in subjects})
        built.append(EquivalenceChecker(EquivalenceSettings(**settings), models))
        return built[-1]

    yield build
    for one in built:
        await one.close()
