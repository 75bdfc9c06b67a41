"""The exported schemas say what the service reads and writes."""

import json
from datetime import datetime
from pathlib import Path

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
from tests.assay.running import ROOT
from tests.support.labels import CALIBRATION, LABEL, REQUEST, TRUE_RATE
from tests.support.rejections import alert, consistency_rejection, improvement

RECORDS = [json.loads(line) for line in (ROOT / "examples" / "records.jsonl").read_text("utf-8").splitlines()]

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


def test_a_record_is_valid_by_its_kind_and_as_any_record_and_by_no_other_kind(exported):
    assert {body["kind"] for body in RECORDS} == set(RECORD_KINDS)
    of_any, of_kind = validator(exported, "record"), {kind: validator(exported, kind) for kind in RECORD_KINDS}
    for record in RECORDS:
        assert [kind for kind in RECORD_KINDS if of_kind[kind].is_valid(record)] == [record["kind"]]
        assert of_any.is_valid(record)
        assert not of_any.is_valid(record | {"source": ""})


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
