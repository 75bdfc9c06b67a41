"""The exported schemas say what the service reads and writes."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from schemas import RECORD_KINDS, Verdict, to_json
from schemas.export import export
from tests.assay.running import ROOT
from tests.support.labels import CALIBRATION, LABEL, REQUEST, TRUE_RATE
from tests.support.page import SAMPLES, dead_letter
from tests.support.rejections import alert, improvement

RECORDS = [json.loads(line) for line in (ROOT / "examples" / "records.jsonl").read_text("utf-8").splitlines()]


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


def test_what_the_service_writes_is_valid(exported):
    messages = {
        "improvement": improvement(7, "assay.outputs"),
        "alert": alert(1),
        "dead_letter": dead_letter("consistency"),
        "true_rate_alert": TRUE_RATE,
        "review_request": REQUEST,
        "label": LABEL,
        "calibration": CALIBRATION,
    }
    for name, message in messages.items():
        validator(exported, name).validate(json.loads(to_json(message)))
    of_verdict, of_evidence = validator(exported, "verdict"), validator(exported, "evidence")
    for one in SAMPLES:
        written = json.loads(to_json(Verdict.model_validate(one["verdict"])))
        of_verdict.validate(written)
        of_evidence.validate(written["evidence"])


def test_every_field_of_the_contract_is_promised_to_readers_of_verdicts(exported):
    promised = set(json.loads((exported / "verdict.schema.json").read_text("utf-8"))["required"])
    assert promised >= {"id", "record_id", "checker", "outcome", "score", "error_bound", "reason", "evidence", "usage"}
    assert promised >= {"checker_version", "config_digest", "source", "model", "judge", "checked_at"}
