"""The exported schemas say what the service reads and writes."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

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
from tests.support.labels import CALIBRATION, LABEL, REQUEST, TRUE_RATE
from tests.support.rejections import alert, consistency_rejection, improvement

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


def test_there_is_a_schema_for_each_kind_and_each_message(exported):
    names = {*RECORD_KINDS, "record", "verdict", "evidence", "improvement", "alert", "series_anew", "dead_letter"}
    names |= {"true_rate_alert", "review_request", "label", "calibration"}
    assert {path.name for path in exported.iterdir()} == {f"{name}.schema.json" for name in names}


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
        {"id": "x" * 257},
        {"occurred_at": "yesterday"},
        {"response": None},
        {"contexts": [{"score": 0.7}]},
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


def test_every_field_of_the_contract_is_promised_to_readers_of_verdicts(exported):
    promised = set(json.loads((exported / "verdict.schema.json").read_text("utf-8"))["required"])
    assert promised >= {"id", "record_id", "checker", "outcome", "score", "error_bound", "reason", "evidence", "usage"}
    assert promised >= {"checker_version", "config_digest", "source", "model", "judge", "checked_at"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("improvement", IMPROVEMENT),
        ("alert", ALERT),
        ("dead_letter", LETTER),
        ("true_rate_alert", TRUE_RATE),
        ("review_request", REQUEST),
        ("label", LABEL),
        ("calibration", CALIBRATION),
    ],
)
def test_every_message_is_valid(exported, name, message):
    validator(exported, name).validate(json.loads(to_json(message)))
