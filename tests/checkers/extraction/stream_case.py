"""Extractions on the stream."""

import json
from typing import Any

from checkers.checker import Models
from checkers.extraction import PLUGIN
from tests.checkers.case import StreamCase, model
from tests.checkers.extraction.setting import ENTITIES, TEXT, extracting, places
from tests.checkers.graders import grading
from tests.support.stub_endpoint import StubEndpoint


def _extraction(name: str, **fields: Any) -> bytes:
    body = {"text": TEXT, "entities": ENTITIES, "model": "steady"}
    return json.dumps({"id": name, "kind": "extraction", "source": "crm-import", **body, **fields}).encode()


def _checker(stub: StubEndpoint):
    subjects = {"steady": model(stub, "steady")}
    return PLUGIN.build(PLUGIN.settings(), Models(judge=grading(lambda *_: 1.0), subjects=subjects))


CASE = StreamCase(
    endpoint=lambda: StubEndpoint(answer=extracting(places)),
    checker=_checker,
    records={
        **{f"s{number}": _extraction(f"s{number}") for number in range(3)},
        "absent": _extraction("absent", entities=[*ENTITIES, "Italy"]),
        "nobody": _extraction("nobody", model="nobody"),
        "empty": _extraction("empty", entities=[]),
    },
    accepted={"s0", "s1", "s2"},
    rejected={"absent"},
    causes={"nobody": "no_subject", "empty": "no_entity"},
    counted=[("accept", "steady", 3), ("reject", "steady", 1)],
)
