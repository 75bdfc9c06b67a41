"""The formats as files: a JSON Schema for every message."""

from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import TypeAdapter

from schemas.alerts import Alert, SeriesAnew
from schemas.dead_letters import DeadLetter
from schemas.evidence import Evidence
from schemas.labels import Calibration, Label, ReviewRequest, TrueRateAlert
from schemas.records import RECORD_KINDS, RECORD_TYPES, Record
from schemas.verdicts import Improvement, Verdict

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def export(directory: Path) -> list[Path]:
    """Write every schema to `directory`, created if missing; return the files, sorted by name."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, schema in sorted(json_schemas().items()):
        path = directory / f"{name}.schema.json"
        path.write_bytes(orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        written.append(path)
    return written


def json_schemas() -> dict[str, Schema]:
    """JSON Schema (draft 2020-12) by name: records and labels as they are read, other messages as they are written."""
    read = dict(zip(RECORD_KINDS, RECORD_TYPES, strict=True)) | {"record": Record, "label": Label}
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
    schemas = {name: _described(name, of, "validation") for name, of in read.items()}
    return schemas | {name: _described(name, of, "serialization") for name, of in written.items()}


def _described(name: str, of: Any, mode: Literal["validation", "serialization"]) -> Schema:
    schema = TypeAdapter(of).json_schema(mode=mode)
    for described in (schema, *schema.get("$defs", {}).values()):
        identifier = described.get("properties", {}).get("id", {})
        # The default stands for "absent" and is no valid id.
        if identifier.get("default") == "":
            del identifier["default"]
    return {"$schema": DIALECT, **schema, "title": name}
