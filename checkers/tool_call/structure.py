"""What can be said of a call without a judge: its name, its arguments by the schema, its result as flags tell it.

A schema may be anyone's: no address in it is read, patterns run in RE2, and the work on it is bounded.
"""

import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

import orjson
import re2
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError as Fault
from pydantic import JsonValue, TypeAdapter, ValidationError
from referencing.jsonschema import EMPTY_REGISTRY

from models.wording import on_a_line
from schemas import ToolCall, ToolCallEvidence
from schemas.records import has_failed

_MOST_ARGUMENTS, _MOST_FAULTS, _MOST_NAMES, _SHOWN = 20, 10, 5, 200
_MOST_BYTES = 32_768
"""Of a schema: those of tools have some hundreds."""
_MOST_WORK = 30_000
"""Keywords applied, and items that each is applied to: references could go on for ever."""
_WORK: ContextVar[Iterator[int]] = ContextVar("work")
_NOT_FOLLOWED = re.compile(
    rb'"(\$schema|\$id|\$anchor|\$dynamic\w+|\$recursive\w+|unevaluated\w+|patternProperties|uniqueItems)":'
)
"""Keywords within a schema that lead out of these bounds; no tool needs them."""
_FORMATS = FormatChecker(("date", "email", "ipv4", "ipv6", "uuid"))
_FORMATS.checks("date-time", ValueError)(lambda text: not isinstance(text, str) or datetime.fromisoformat(text))
_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
_RE2 = re2.Options()
_RE2.log_errors = False


Argument: TypeAlias = tuple[str, str, str]
"""Name, with the names before it (`address.city`); text, or JSON; the same as a claim, described by the schema."""


def tested(record: ToolCall) -> tuple[ToolCallEvidence, list[Argument]]:
    """The call with its faults, and the arguments whose values are still to be judged."""
    name, tool = on_a_line(record.name), next((one for one in record.tools if one.name == record.name), None)
    schema = tool and tool.parameters
    untested: str | None = "the record has no schema for them"
    faults: list[tuple[Any, str]] = []
    arguments: list[Argument] = []
    if record.tools and tool is None:
        known = ", ".join(on_a_line(one.name) for one in record.tools[:_MOST_NAMES])
        faults.append(("unknown_tool", f"There is no tool {name!r}; there are {known}"))
    values = record.arguments
    try:
        # Nothing at all stands for an empty object, as some endpoints have it.
        values = _OBJECT.validate_json(values or "{}") if isinstance(values, str) else values
    except ValidationError as error:
        faults.append(("unparsable", f"The arguments of {name} cannot be read: {error.errors()[0]['msg']}"))
    else:
        arguments = list(islice(_listed(values, schema or {}), _MOST_ARGUMENTS))
        found, untested = _schema_faults(values, schema) if schema else ([], untested)
        faults += [("schema", f"The arguments of {name} do not fit its schema at {one}") for one in found]
    if record.failed and has_failed(record.response) is False:
        faults.append(("told_as_success", f"{name} failed, and the response says that it did not"))
    said, kind = tuple(text for _, text in faults), faults[0][0] if faults else None
    return ToolCallEvidence(tool=name, fault=kind, faults=said, schema_untested=untested), arguments


def _listed(values: Mapping[str, JsonValue], schema: Mapping[str, JsonValue], before: str = "") -> Iterator[Argument]:
    """The arguments in order, those of objects within instead of the objects, without defaults and empty ones."""
    known = schema.get("properties")
    for key, value in values.items():
        inner, name = known.get(key) if isinstance(known, dict) else None, f"{before}{key}"
        about = inner if isinstance(inner, dict) else {}
        if isinstance(value, dict):
            yield from _listed(value, about, f"{name}.")
        elif value not in (None, "", [], about.get("default"), about.get("const")):
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            words, description = name.replace("_", " "), about.get("description")
            if isinstance(description, str) and description.strip():
                words += f" ({on_a_line(description)})"
            yield name, text, f"{words[:1].upper()}{words[1:]}: {text}"


def _schema_faults(arguments: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> tuple[list[str], str | None]:
    """The first faults, and why the arguments were not compared with all of the schema, if they were not."""
    faults: list[str] = []
    try:
        validator = _validator(orjson.dumps(schema))
        _WORK.set(iter(range(_MOST_WORK)))
        found = islice(validator.iter_errors(arguments), _MOST_FAULTS)
        # The keyword first: the value, which may be long, stands before what is wrong with it.
        faults.extend(on_a_line(f"{one.json_path} ({one.validator}): {one.message}", _SHOWN) for one in found)
    except Exception as error:  # noqa: BLE001 - a reference may lead to what is no schema, and the library then to anything
        return faults, on_a_line(f"not all of the schema was followed: {error}", _SHOWN)
    return faults, None


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    if len(schema) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES} bytes")
    document = orjson.loads(schema)
    known = Draft7Validator if "draft-07" in str(document.pop("$schema", "")) else Draft202012Validator
    if other := _NOT_FOLLOWED.search(orjson.dumps(document)):
        raise ValueError(f"it uses {other[1].decode()}")
    known.check_schema(document, format_checker=FormatChecker(()))
    keywords = {**known.VALIDATORS, "pattern": _pattern}
    bounded = validators.extend(known, {name: partial(_counted, one) for name, one in keywords.items()})
    return bounded(document, registry=EMPTY_REGISTRY, format_checker=_FORMATS)


def _counted(keyword: Any, validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    work = 1 + (len(instance) if isinstance(instance, dict | list) else 0)
    if sum(1 for _ in islice(_WORK.get(), work)) < work:
        raise ValueError("it takes too much work")
    yield from keyword(validator, value, instance, schema) or ()


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, str) and not re2.compile(pattern, _RE2).search(instance):
        yield Fault(f"{instance!r} does not match {pattern!r}")
