"""The formats as files: a JSON Schema for every message, and an AsyncAPI document of the topics."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from schemas.alerts import Alert, SeriesAnew
from schemas.dead_letters import DeadLetter
from schemas.evidence import Evidence
from schemas.improvements import Improvement
from schemas.labels import Calibration, Label, ReviewRequest, TrueRateAlert
from schemas.records import RECORD_KINDS, RECORD_TYPES, Record
from schemas.verdicts import Verdict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BINDING = "0.5.0"
"""Version of the Kafka bindings."""
_SCHEMA_FORMAT = "application/schema+json;version=draft-2020-12"

Schema = dict[str, Any]


def export(directory: Path, *, prefix: str = "assay") -> list[Path]:
    """Write every schema and `asyncapi.json` to `directory`, created if missing; return the files, sorted by name.

    The same version writes the same bytes. Topic names begin with `prefix`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    documents = {_file(name): schema for name, schema in json_schemas().items()}
    documents["asyncapi.json"] = asyncapi(prefix=prefix)
    written = []
    for name, document in sorted(documents.items()):
        path = directory / name
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        written.append(path)
    return written


def json_schemas() -> dict[str, Schema]:
    """JSON Schema (draft 2020-12) by name: each record kind, `record`, `verdict`, `evidence` and so on.

    Records and labels are described as they are read, with optional fields; other messages as they are written, with
    all fields.
    """
    schemas = {kind: _described(kind, of, "validation") for kind, of in zip(RECORD_KINDS, RECORD_TYPES, strict=True)}
    schemas["record"] = _described("record", Record, "validation")
    schemas["label"] = _described("label", Label, "validation")
    written = {
        "verdict": Verdict,
        "evidence": Evidence,
        "improvement": Improvement,
        "alert": Alert,
        "series_anew": SeriesAnew,
        "true_rate_alert": TrueRateAlert,
        "review_request": ReviewRequest,
        "calibration": Calibration,
        "dead_letter": DeadLetter,
    }
    for name, of in written.items():
        schemas[name] = _described(name, of, "serialization")
    return schemas


def asyncapi(*, prefix: str = "assay") -> Schema:
    """The AsyncAPI 3.0 document of the topics. It refers to the schema files next to it."""
    verdicts = ["verdict"]
    channels = {
        "outputs": _channel(f"{prefix}.outputs", RECORD_KINDS, "Outputs of deployed models, to be checked."),
        "accepted": _channel(f"{prefix}.verdicts.accepted", verdicts, "Verdicts whose `outcome` is `accept`."),
        "rejected": _channel(f"{prefix}.verdicts.rejected", verdicts, "Verdicts whose `outcome` is `reject`."),
        "abstained": _channel(
            f"{prefix}.verdicts.abstained",
            verdicts,
            "Verdicts whose `outcome` is `abstain`.",
        ),
        "improved": _channel(f"{prefix}.improved", ["improvement"], "Rejected responses, rewritten and checked again."),
        "alerts": _channel(
            f"{prefix}.alerts", ["alert", "series_anew", "true_rate_alert"], "The success rate of a subject changed."
        ),
        "deadLetter": _channel(f"{prefix}.dead-letter", ["dead_letter"], "Messages that failed, kept for replay."),
        "reviewRequests": _channel(
            f"{prefix}.review.requests", ["review_request"], "Verdicts that people are asked about."
        ),
        "labels": _channel(f"{prefix}.labels", ["label"], "What people say of outputs."),
        "calibration": _channel(
            f"{prefix}.calibration",
            ["calibration"],
            "What labels say of a checker, the last of each key.",
        ),
    }
    received = ("outputs", "labels")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "assay",
            "version": version("assay"),
            "description": "Verifies outputs of language models: records in, accept and reject verdicts out.",
        },
        "defaultContentType": "application/json",
        "channels": channels,
        # From the service's side, as AsyncAPI has it: producers send what the service receives.
        "operations": {
            f"{'receive' if name in received else 'send'}{name[0].upper()}{name[1:]}": {
                "action": "receive" if name in received else "send",
                "channel": {"$ref": f"#/channels/{name}"},
                "summary": channel["description"],
            }
            for name, channel in channels.items()
        },
        "components": {
            "messages": {
                **{
                    kind: _message(kind, f"A record of kind `{kind}`.", _RECORD_HEADERS, _RECORD_KEY)
                    for kind in RECORD_KINDS
                },
                "verdict": _message(
                    "verdict", "One checker's decision about one record.", _VERDICT_HEADERS, _SUBJECT_KEY
                ),
                "improvement": _message(
                    "improvement",
                    "A rejected response, rewritten and checked again.",
                    _IMPROVEMENT_HEADERS,
                    _SUBJECT_KEY,
                ),
                "alert": _message(
                    "alert", "The success rate of a subject dropped or recovered.", _ALERT_HEADERS, _SUBJECT_KEY
                ),
                "series_anew": _message(
                    "series_anew",
                    "Verdicts on a subject do not compare with those before: its series was reset.",
                    _SERIES_ANEW_HEADERS,
                    _SUBJECT_KEY,
                ),
                "true_rate_alert": _message(
                    "true_rate_alert",
                    "The success rate fell that people's labels tell.",
                    _TRUE_RATE_HEADERS,
                    _SUBJECT_KEY,
                ),
                "review_request": _message(
                    "review_request", "A verdict to be labelled.", _REQUEST_HEADERS, _SUBJECT_KEY
                ),
                "label": _message("label", "What a person says of an output.", _LABEL_HEADERS, _SUBJECT_KEY),
                "calibration": _message(
                    "calibration",
                    "What labels say of a checker.",
                    _CALIBRATION_HEADERS,
                    "The series; the last message of a key is kept.",
                ),
                "dead_letter": _message(
                    "dead_letter",
                    "A message that could not be read, checked or delivered, kept for replay.",
                    _DEAD_LETTER_HEADERS,
                    "The dead letter's id.",
                ),
            },
        },
    }


class _Generator(GenerateJsonSchema):
    def field_is_required(self, field: Any, total: bool) -> bool:
        """Fields with a default are always written; readers may rely on them."""
        return self.mode == "serialization" or super().field_is_required(field, total)


def _file(name: str) -> str:
    return f"{name}.schema.json"


def _described(name: str, of: Any, mode: Literal["validation", "serialization"]) -> Schema:
    schema = TypeAdapter(of).json_schema(mode=mode, schema_generator=_Generator)
    for described in (schema, *schema.get("$defs", {}).values()):
        identifier = described.get("properties", {}).get("id", {})
        # The default stands for "absent" and is no valid id.
        if identifier.get("default") == "":
            del identifier["default"]
    return {"$schema": DIALECT, **schema, "title": name}


def _channel(address: str, messages: tuple[str, ...] | list[str], description: str) -> Schema:
    return {
        "address": address,
        "description": description,
        "bindings": {"kafka": {"topic": address, "bindingVersion": _BINDING}},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
    }


def _message(name: str, summary: str, headers: Schema, key: str) -> Schema:
    return {
        "name": name,
        "summary": summary,
        "contentType": "application/json",
        "headers": headers,
        "payload": {"schemaFormat": _SCHEMA_FORMAT, "schema": {"$ref": f"./{_file(name)}"}},
        "bindings": {"kafka": {"key": {"type": "string", "description": key}, "bindingVersion": _BINDING}},
    }


def _headers(type_: Schema, subject: str, more: Mapping[str, str] | None = None, *, required: bool = True) -> Schema:
    """CloudEvents attributes as Kafka headers in binary mode, as UTF-8 text."""
    properties: Schema = {
        "ce_specversion": {"type": "string", "const": "1.0"},
        "ce_id": {"type": "string", "description": "The message's `id`."},
        "ce_source": {"type": "string"},
        "ce_type": {"type": "string", **type_},
        "ce_time": {"type": "string", "format": "date-time"},
        "ce_subject": {"type": "string", "description": subject},
        "content-type": {"type": "string", "const": "application/json"},
    }
    described = {name: {"type": "string", "description": meaning} for name, meaning in (more or {}).items()}
    return {"type": "object", "properties": properties | described, "required": list(properties) if required else []}


_RECORD_KEY = "The record's `session`, else its `id`: a session stays in order, and records spread over the partitions."
_SUBJECT_KEY = "`source` and `model`, with U+001F between them: the messages about one subject stay in order."

# Producers may leave them out: the service reads a record's body alone.
_RECORD_HEADERS = _headers({"const": "assay.record.v1"}, "The subject: the record's `model`.", required=False)

_VERDICT_HEADERS = _headers(
    {"enum": [f"assay.verdict.{past}.v1" for past in ("accepted", "rejected", "abstained")]},
    "The record's id.",
    {
        "gen_ai.request.model": "The subject.",
        "gen_ai.evaluation.name": "The checker.",
        "gen_ai.evaluation.score.label": "The outcome.",
        "gen_ai.evaluation.score.value": "The score, 0 to 1; absent if the checker abstains.",
    },
)

_IMPROVEMENT_HEADERS = _headers(
    {"const": "assay.improvement.v1"}, "The record's id.", {"assay-status": "The improvement's `status`."}
)

_ALERT_HEADERS = _headers({"const": "assay.alert.v1"}, "`source/model` of the subject.")

_SERIES_ANEW_HEADERS = _headers({"const": "assay.series-anew.v1"}, "`source/model` of the subject.")

_TRUE_RATE_HEADERS = _headers({"const": "assay.true-rate-alert.v1"}, "`source/model` of the subject.")

_REQUEST_HEADERS = _headers({"const": "assay.review-request.v1"}, "The verdict's id.")

# Producers may leave them out here as well.
_LABEL_HEADERS = _headers({"const": "assay.label.v1"}, "The verdict's id.", required=False)

_CALIBRATION_HEADERS = _headers({"const": "assay.calibration.v1"}, "`source/model` of the subject.")

_DEAD_LETTER_HEADERS = _headers(
    {"const": "assay.dead-letter.v1"},
    "`topic/partition/offset` of the message.",
    {"assay-reason": "The reason."},
)
