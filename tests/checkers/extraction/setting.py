"""Sentences whose entities stand in known places, and extractors that are asked about them."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from assay.testing import check
from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.extractors import CallableSubject, Extract
from models.protocol import Model
from schemas import ExtractionEvidence, Verdict
from tests.checkers import case
from tests.support.stub_request import StubRequest

TEXT = "Ada Okafor moved from Lagos to Turin."
ENTITIES = ("Ada Okafor", "Lagos", "Turin")


def places(text: str) -> list[str]:
    """The words in the places of the three entities, whatever they are."""
    found = re.fullmatch(r"(.+) moved from (.+) to (.+)\.", text)
    assert found, text
    return list(found.groups())


def class_of(entity: str) -> str:
    return {"ada okafor": "person", "lagos": "city", "turin": "city"}.get(entity.lower().removeprefix("the "), "name")


def classed(extract: Extract) -> Extract:
    """The same extractor, with classes."""

    def found(text: str) -> list[Any]:
        given = list(extract(text))  # type: ignore[arg-type]
        return [{"class": class_of(one), "entity": one} if isinstance(one, str) else one for one in given]

    return found


def checked(
    extract: Extract = places, *, record: dict[str, Any] | None = None, writer: Model | None = None, **settings: Any
) -> Verdict:
    """The verdict on the sentence's three entities, with `extract` as their subject."""
    given = {"id": "r", "text": TEXT, "entities": ENTITIES, "model": "extractor", **(record or {})}
    subjects = {"extractor": CallableSubject("mine", classed(extract))}
    return check(ExtractionChecker, given, writer=writer, subjects=subjects, **settings)


evidence_of = partial(case.evidence_of, ExtractionEvidence)


def extracting(extract: Callable[[str], list[str]]) -> Callable[[StubRequest], str]:
    """A language model that finds what `extract` does."""

    def answer(request: StubRequest) -> str:
        if "text" not in request.texts:
            # It is only asked whether it is there.
            return "yes"
        found = extract(request.texts["text"])
        return json.dumps({"entities": [{"class": class_of(entity), "entity": entity} for entity in found]})

    return answer


def proposing(*names: str) -> list[dict[str, Any]]:
    """The writer's replies that propose one expression for each entity, in their order."""
    return [{"others": [name]} for name in names]


def in_some_texts(extract: Callable[[str], list[str]]) -> Extract:
    """Always the same about a text, `extract` only if exactly one of the places is as in the record."""
    return lambda text: extract(text) if sum(map(str.__eq__, places(text), ENTITIES)) == 1 else places(text)
