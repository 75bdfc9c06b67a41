"""The exported schemas say what the service reads and writes, and the AsyncAPI document is one."""

import copy
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker

from schemas import (
    OUTCOMES,
    RECORD_KINDS,
    Abstention,
    DeadLetter,
    ImprovementRound,
    Origin,
    SentenceChange,
    SentenceFinding,
    Verdict,
    to_json,
)
from schemas.export import export
from streams.messages import (
    alert_message,
    calibration_message,
    dead_letter_message,
    improvement_message,
    label_message,
    request_message,
    verdict_message,
)
from streams.settings import TopicSettings
from tests.support.labels import CALIBRATION, LABEL, REQUEST, TRUE_RATE
from tests.support.rejections import alert, consistency_rejection, improvement

# From the npm package @asyncapi/specs 6.11.1 (Apache-2.0), unchanged.
ASYNCAPI = Path(__file__).parent / "asyncapi-3.0.0.schema.json.gz"

RECORDS: list[dict[str, Any]] = [
    {"kind": "generation", "response": "It arrives on Friday.", "contexts": ["Delivery is planned for Friday."]},
    {"kind": "paraphrase", "sentence1": "They refused.", "sentence2": "They declined.", "answer": True},
    {"kind": "extraction", "text": "Ada moved to Turin.", "entities": ["Ada", "Turin"]},
    {"kind": "labelling", "datapoint": "1011", "rubric": "in-phenomenon", "label": 1},
    {
        "kind": "retrieval",
        "store": "cache",
        "query": "Can I return shoes?",
        "matched": {"id": "q-1", "text": "May shoes be sent back?", "score": 0.9},
    },
    {
        "kind": "probe",
        "statement": {"premise": "X has no freezer.", "conclusion": "X cannot keep sorbet."},
        "template": 9,
        "question": "Can X keep sorbet?",
        "expected": "no",
        "answer": "No.",
    },
    {"kind": "tool_call", "name": "hours", "arguments": {"day": "Monday"}},
]
ENVELOPE = {"id": "r-1", "source": "shop", "model": "acme-4", "metadata": {"trace": [1, None]}, "own_field": True}

FINDING = SentenceFinding(text="It is.", start=0, end=6, mark=1, reason="the same", support=1.0)
CHANGE = SentenceChange(before="It was.", after="It is.", start=0, end=7, reason="the tense")
ROUND = ImprovementRound(
    response="It is.", changes=(CHANGE,), outcome="accept", score=1.0, consistent_share=1.0, findings=(FINDING,)
)
PLACE = Origin(topic="assay.outputs", partition=0, offset=7)
ALERT = alert(1).model_copy(
    update={"rejected": tuple(one.model_copy(update={"origin": PLACE}) for one in alert(1).rejected)}
)
IMPROVEMENT = improvement(7, "assay.outputs", rounds=(ROUND,))


def verdict(outcome: str = "accept") -> Verdict:
    found = consistency_rejection(7, "assay.outputs", FINDING)
    if outcome == "abstain":
        evidence = Abstention(cause="no_reference", detail="none")
        return found.model_copy(update={"outcome": outcome, "score": None, "evidence": evidence})
    return found.model_copy(update={"outcome": outcome, "score": 1.0})


LETTER = DeadLetter.of(
    b"{",
    reason="not_json",
    detail="not JSON",
    origin=PLACE,
    checker="consistency",
    keep_bytes=100,
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "new" / "folder"
    export(folder)
    return folder


FORMATS = FormatChecker()


@FORMATS.checks("date-time", raises=ValueError)
def is_moment(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


def validator(folder: Path, name: str) -> Draft202012Validator:
    schema = json.loads((folder / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FORMATS)


def asyncapi(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "asyncapi.json").read_text("utf-8"))
    return document


def test_there_is_a_schema_for_each_kind_and_each_message(exported):
    names = {*RECORD_KINDS, "record", "verdict", "evidence", "improvement", "alert", "series_anew", "dead_letter"}
    names |= {"true_rate_alert", "review_request", "label", "calibration"}
    assert {path.name for path in exported.iterdir()} == {f"{name}.schema.json" for name in names} | {"asyncapi.json"}


@pytest.mark.parametrize("body", RECORDS, ids=lambda body: str(body["kind"]))
def test_a_record_is_valid_by_its_kind_and_as_any_record_and_by_no_other_kind(exported, body):
    record = ENVELOPE | body
    assert [kind for kind in RECORD_KINDS if validator(exported, kind).is_valid(record)] == [body["kind"]]
    assert validator(exported, "record").is_valid(record)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "poem"},
        {"source": ""},
        {"source": 7},
        {"id": ""},
        {"id": "x" * 257},
        {"occurred_at": "yesterday"},
        {"metadata": []},
        {"response": None},
        {"contexts": "one"},
        {"contexts": [{"score": 0.7}]},
        {"contexts": [{"text": None}]},
        {"task": "poem"},
    ],
)
def test_a_wrong_value_is_invalid(exported, wrong):
    assert not validator(exported, "record").is_valid(ENVELOPE | RECORDS[0] | wrong)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_the_service_writes_is_valid(exported, outcome):
    written = json.loads(to_json(verdict(outcome)))
    validator(exported, "verdict").validate(written)
    validator(exported, "evidence").validate(written["evidence"])


def test_improvements_alerts_and_dead_letters_are_valid(exported):
    validator(exported, "improvement").validate(json.loads(to_json(IMPROVEMENT)))
    validator(exported, "alert").validate(json.loads(to_json(ALERT)))
    validator(exported, "dead_letter").validate(json.loads(to_json(LETTER)))


@pytest.mark.parametrize("wrong", [{"outcome": "maybe"}, {"score": 1.5}, {"evidence": {"type": "poem"}}, {"usage": 3}])
def test_a_wrong_verdict_is_invalid(exported, wrong):
    assert not validator(exported, "verdict").is_valid(json.loads(to_json(verdict())) | wrong)


def test_every_field_of_the_contract_is_promised_to_readers_of_verdicts(exported):
    promised = set(json.loads((exported / "verdict.schema.json").read_text("utf-8"))["required"])
    assert promised >= {"id", "record_id", "checker", "outcome", "score", "error_bound", "reason", "evidence", "usage"}
    assert promised >= {"checker_version", "config_digest", "source", "model", "judge", "checked_at"}


def test_the_same_version_writes_the_same_bytes(exported, tmp_path):
    assert {path.name: path.read_bytes() for path in export(tmp_path)} == {
        path.name: path.read_bytes() for path in sorted(exported.iterdir())
    }


def test_the_asyncapi_document_is_valid_by_the_official_schema(exported):
    official = Draft7Validator(json.loads(gzip.decompress(ASYNCAPI.read_bytes())))
    document = asyncapi(exported)
    assert [error.message for error in official.iter_errors(document)] == []
    broken = copy.deepcopy(document)
    broken["operations"]["receiveOutputs"]["action"] = "listen"
    assert not official.is_valid(broken)


def test_every_reference_of_the_asyncapi_document_leads_somewhere(exported):
    document = asyncapi(exported)
    references = list(_references(document))
    assert references
    for reference in references:
        if reference.startswith("#/"):
            place: Any = document
            for step in reference[2:].split("/"):
                place = place[step]
        else:
            assert (exported / reference).is_file(), reference


def test_the_topics_are_those_of_the_settings(tmp_path):
    export(tmp_path, prefix="qa.assay")
    addresses = {channel["address"] for channel in asyncapi(tmp_path)["channels"].values()}
    assert addresses == set(TopicSettings(prefix="qa.assay").public)


@pytest.mark.parametrize(
    ("name", "outgoing"),
    [
        *[("verdict", verdict_message(verdict(outcome), TopicSettings())) for outcome in OUTCOMES],
        ("improvement", improvement_message(IMPROVEMENT, TopicSettings())),
        ("alert", alert_message(ALERT, TopicSettings())),
        ("true_rate_alert", alert_message(TRUE_RATE, TopicSettings())),
        ("review_request", request_message(REQUEST, TopicSettings())),
        ("label", label_message(LABEL, TopicSettings())),
        ("calibration", calibration_message(CALIBRATION, TopicSettings(), b"key", 0)),
        ("dead_letter", dead_letter_message(LETTER, TopicSettings())),
    ],
    ids=lambda value: value if isinstance(value, str) else value.topic,
)
def test_the_headers_that_are_sent_are_the_headers_that_are_described(exported, name, outgoing):
    described = asyncapi(exported)["components"]["messages"][name]["headers"]
    sent = {header: value.decode() for header, value in outgoing.headers}
    Draft202012Validator(described, format_checker=FORMATS).validate(sent)
    assert sent.keys() <= described["properties"].keys()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("true_rate_alert", TRUE_RATE),
        ("review_request", REQUEST),
        ("label", LABEL),
        ("calibration", CALIBRATION),
    ],
)
def test_what_is_written_about_labels_is_valid(exported, name, message):
    validator(exported, name).validate(json.loads(to_json(message)))


def _references(node: Any) -> Any:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            else:
                yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)
