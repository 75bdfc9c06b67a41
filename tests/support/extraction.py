"""Sentences whose entities stand in known places, and extractors that are asked about them."""

import json
import re
from collections.abc import Callable
from typing import Any

from assay.testing import check
from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.subjects import CallableSubject, Extract
from schemas import ExtractionEvidence, Verdict
from tests.support.stub_request import StubRequest

TEXT = "Ada Okafor moved from Lagos to Turin."
ENTITIES = ("Ada Okafor", "Lagos", "Turin")


def places(text: str) -> list[str]:
    """What stands in the places of the three entities, whatever it is."""
    found = re.fullmatch(r"(.+) moved from (.+) to (.+)\.", text)
    assert found, text
    return list(found.groups())


def checked(extract: Extract = places, *, record: dict[str, Any] | None = None, **settings: Any) -> Verdict:
    """The verdict on the sentence's three entities, with `extract` as their subject."""
    given = {"id": "r", "text": TEXT, "entities": ENTITIES, "model": "extractor", **(record or {})}
    return check(ExtractionChecker, given, subjects={"extractor": CallableSubject("mine", extract)}, **settings)


def evidence_of(verdict: Verdict) -> ExtractionEvidence:
    assert isinstance(verdict.evidence, ExtractionEvidence), verdict.reason
    return verdict.evidence


def answering(extract: Callable[[str], list[str]]) -> Callable[[StubRequest], str]:
    """A language model that finds what `extract` does."""

    def answer(request: StubRequest) -> str:
        if "text" not in request.fences:
            # It is only asked whether it is there.
            return '{"alive": true}'
        found = extract(request.fences["text"])
        return json.dumps({"entities": [{"class": "name", "entity": entity} for entity in found]})

    return answer
