"""Extractions on the stream: of a model, of a service that knows the record's names alone, of one without classes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from checkers.checker import Models
from checkers.extraction import PLUGIN
from models.build import build_model
from models.settings import SubjectSettings
from schemas import ExtractionEvidence, Verdict
from tests.checkers.case import StreamCase
from tests.checkers.extraction.setting import ENTITIES, TEXT, class_of, extracting, places
from tests.checkers.graders import grading
from tests.support.stub_acts import Act, good
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest


def _extraction(name: str, **fields: Any) -> bytes:
    body = {"text": TEXT, "entities": ENTITIES, "model": "steady"}
    return json.dumps({"id": name, "kind": "extraction", "source": "crm-import", **body, **fields}).encode()


def _act(request: StubRequest) -> Act:
    if request.path == "/known":
        found = [one for one in places(request.body["text"]) if one in ENTITIES]
        return Act(document={"entities": [{"class": class_of(one), "entity": one} for one in found]})
    if request.path == "/bare":
        return Act(document={"entities": places(request.body["text"])})
    return good()


def _endpoint() -> StubEndpoint:
    return StubEndpoint(script=_act, answer=extracting(places))


def _checker(stub: StubEndpoint):
    subjects = {
        "steady": {"base_url": stub.base_url, "model": "m"},
        "known": {"backend": "service", "base_url": f"http://127.0.0.1:{stub.port}/known"},
        "bare": {"backend": "service", "base_url": f"http://127.0.0.1:{stub.port}/bare"},
    }
    models = {
        name: build_model(SubjectSettings.model_validate(settings), section=f"subjects.{name}")
        for name, settings in subjects.items()
    }
    return PLUGIN.build(PLUGIN.settings(), Models(judge=grading(lambda reference, claim: 1.0), subjects=models))


def _shows(verdicts: Mapping[str, Verdict]) -> None:
    accepted = [one for one in verdicts.values() if one.outcome == "accept"]
    assert all(one.error_bound == pytest.approx(0.0643, abs=1e-3) for one in accepted)
    rejected = {name: one.evidence for name, one in verdicts.items() if one.outcome == "reject"}
    kinds = {
        name: {cause.kind for cause in one.causes}
        for name, one in rejected.items()
        if isinstance(one, ExtractionEvidence)
    }
    assert kinds == {"known": {"never_named"}, "absent": {"assumed_knowledge"}}


CASE = StreamCase(
    endpoint=_endpoint,
    checker=_checker,
    records={
        **{f"s{number}": _extraction(f"s{number}") for number in range(3)},
        "known": _extraction("known", model="known"),
        "absent": _extraction("absent", entities=[*ENTITIES, "Italy"]),
        "nobody": _extraction("nobody", model="nobody"),
        "empty": _extraction("empty", entities=[]),
        "bare": _extraction("bare", model="bare"),
    },
    accepted={"s0", "s1", "s2"},
    rejected={"known", "absent"},
    causes={"nobody": "no_subject", "empty": "no_entity", "bare": "no_replacement"},
    counted=[("accept", "steady", 3), ("reject", "known", 1), ("reject", "steady", 1)],
    shows=_shows,
)
