"""What travels as files for others: JSON Schema for every message, and one AsyncAPI document of the topics."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import TypeAdapter

from schemas.alerts import Alert
from schemas.dead_letters import DeadLetter
from schemas.evidence import Evidence
from schemas.records import RECORD_KINDS, RECORD_TYPES, Record
from schemas.verdicts import Verdict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SCHEMA_FORMAT = "application/schema+json;version=draft-2020-12"

Schema = dict[str, Any]


def export(directory: Path, *, prefix: str = "assay") -> list[Path]:
    """Write every schema and `asyncapi.json` to `directory`, which is made where it is missing.

    The same version writes the same bytes. `prefix` is what the topics' names begin with.

    Returns:
        The files, sorted by name.
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
    """JSON Schema (draft 2020-12) by name: each record kind, `record`, `verdict`, `evidence`, `alert`, `dead_letter`.

    Records are described as they are read, with what may be left out; the rest as it is written, with every field.
    """
    schemas = {kind: _described(kind, of, "validation") for kind, of in zip(RECORD_KINDS, RECORD_TYPES, strict=True)}
    schemas["record"] = _described("record", Record, "validation")
    for name, of in (("verdict", Verdict), ("evidence", Evidence), ("alert", Alert), ("dead_letter", DeadLetter)):
        schemas[name] = _described(name, of, "serialization")
    return schemas


def asyncapi(*, prefix: str = "assay") -> Schema:
    """The AsyncAPI 3.0 document of the topics; it refers to the schema files beside it."""
    verdicts = ["verdict"]
    channels = {
        "outputs": _channel(f"{prefix}.outputs", RECORD_KINDS, "Outputs of deployed models, to be checked."),
        "accepted": _channel(f"{prefix}.verdicts.accepted", verdicts, "Verdicts whose `outcome` is `accept`."),
        "rejected": _channel(f"{prefix}.verdicts.rejected", verdicts, "Verdicts whose `outcome` is `reject`."),
        "abstained": _channel(f"{prefix}.verdicts.abstained", verdicts, "Verdicts of checkers that could not decide."),
        "improved": _channel(f"{prefix}.improved", (), "Kept for improved responses; no message is defined yet."),
        "alerts": _channel(f"{prefix}.alerts", ["alert"], "Drops of trust in a subject."),
        "deadLetter": _channel(f"{prefix}.dead-letter", ["dead_letter"], "What could not be read or judged."),
    }
    spoken = {name: channel for name, channel in channels.items() if channel.get("messages")}
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
            f"{'receive' if name == 'outputs' else 'send'}{name[0].upper()}{name[1:]}": {
                "action": "receive" if name == "outputs" else "send",
                "channel": {"$ref": f"#/channels/{name}"},
                "summary": channel["description"],
            }
            for name, channel in spoken.items()
        },
        "components": {
            "messages": {
                **{kind: _message(kind, f"A record of kind `{kind}`.") for kind in RECORD_KINDS},
                "verdict": _message("verdict", "One checker's decision about one record."),
                "alert": _message("alert", "A drop of trust in a subject."),
                "dead_letter": _message("dead_letter", "A message that no checker could take, kept for replay."),
            },
            "messageTraits": {"cloudEvent": {"headers": _cloud_event_headers()}},
        },
    }


def _file(name: str) -> str:
    return f"{name}.schema.json"


def _described(name: str, of: Any, mode: Literal["validation", "serialization"]) -> Schema:
    schema = TypeAdapter(of).json_schema(mode=mode)
    for described in (schema, *schema.get("$defs", {}).values()):
        identifier = described.get("properties", {}).get("id", {})
        # An absent id is derived from the content: the model's default stands for "absent" and is no valid id.
        if identifier.get("default") == "":
            del identifier["default"]
    return {"$schema": DIALECT, **schema, "title": name}


def _channel(address: str, messages: tuple[str, ...] | list[str], description: str) -> Schema:
    channel: Schema = {"address": address, "description": description}
    if messages:
        channel["messages"] = {name: {"$ref": f"#/components/messages/{name}"} for name in messages}
    return channel


def _message(name: str, summary: str) -> Mapping[str, Any]:
    return {
        "name": name,
        "summary": summary,
        "contentType": "application/json",
        "traits": [{"$ref": "#/components/messageTraits/cloudEvent"}],
        "payload": {"schemaFormat": _SCHEMA_FORMAT, "schema": {"$ref": f"./{_file(name)}"}},
    }


def _cloud_event_headers() -> Schema:
    """CloudEvents attributes as Kafka headers, in binary mode."""
    text = {"type": "string", "minLength": 1}
    return {
        "type": "object",
        "properties": {
            "ce_specversion": {"type": "string", "const": "1.0"},
            "ce_id": {**text, "description": "The `id` of the message."},
            "ce_source": text,
            "ce_type": text,
            "ce_time": {"type": "string", "format": "date-time"},
            "content-type": text,
        },
    }
