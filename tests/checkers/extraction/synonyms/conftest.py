"""A model behind a real HTTP endpoint on loopback that is asked about entities."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from checkers.extraction.mentions import find_mentions
from checkers.extraction.synonyms.generator import SynonymGenerator
from checkers.extraction.synonyms.questions import SynonymPrompts
from tests.checkers.conftest import MakeModel
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest


@dataclass
class StubThesaurus:
    """What the model knows of entities."""

    named: dict[str, str] = field(default_factory=dict)
    """`named` or `normal`, by entity."""
    candidates: dict[str, list[str]] = field(default_factory=dict)
    """By entity."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """The word that tells the question, and the entity, for each answer."""

    def __call__(self, request: StubRequest) -> str:
        entity = request.fences["entity"]
        question = request.body["messages"][-1]["content"]
        told = next(word for word in ("normal", "names", "synonyms") if word in question)
        self.asked.append((told, entity))
        if told == "normal":
            return json.dumps({"explanation": "So it is.", "answer": self.named[entity]})
        return json.dumps({"candidates": self.candidates.get(entity, [])})


@pytest.fixture
def thesaurus() -> StubThesaurus:
    return StubThesaurus()


@pytest.fixture
def stub(thesaurus: StubThesaurus) -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=thesaurus) as endpoint:
        endpoint.adds_control = False
        yield endpoint


@pytest.fixture
def found(model_of: MakeModel) -> Callable[..., object]:
    """Finds the replacements of entities in a text."""

    async def find(text: str, *entities: str, seed: str = "s", model: bool = True) -> object:
        generator = SynonymGenerator(model_of() if model else None, SynonymPrompts(), seed=seed)
        return await generator.replacements(find_mentions(text, entities))

    return find
