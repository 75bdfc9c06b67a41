"""Reading records: validation by pydantic, after a scan for what JSON parsers accept silently."""

import json
import math
import re
from typing import Any

from pydantic import TypeAdapter, ValidationError

from schemas.dead_letters import DeadLetterReason
from schemas.records import RECORD_KINDS, RECORD_TYPES, Envelope, Record, misspelt, misspelt_hint

MAX_DEPTH = 64
"""Deeper nesting is refused: no producer needs it, and recursive parsers downstream fail on it."""

_MAX_INTEGER_DIGITS = 19
_SHOWN = 80
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)

_RECORD: TypeAdapter[Record] = TypeAdapter(Record)
_TYPES = dict(zip(RECORD_KINDS, RECORD_TYPES, strict=True))


class Unreadable(ValueError):
    """A message that cannot be read: the dead letter's reason, and what is wrong and what is allowed."""

    def __init__(self, reason: DeadLetterReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: DeadLetterReason = reason
        self.detail = detail


def read_record(data: bytes | None, *, max_bytes: int) -> Envelope:
    """The record in `data`; raises `Unreadable`."""
    if not data or data.isspace():
        raise Unreadable("empty", "the message is empty; expected a JSON object with a 'kind'")
    if len(data) > max_bytes:
        raise Unreadable("oversized", f"{len(data)} bytes; allowed are {max_bytes} (records.max_bytes)")
    document = _scan(data)
    kind = document.get("kind")
    if kind is None:
        raise Unreadable("invalid_record", f"'kind' is missing; allowed are {', '.join(RECORD_KINDS)}")
    if kind not in RECORD_KINDS:
        raise Unreadable("unknown_kind", f"kind {_shown(kind)}; allowed are {', '.join(RECORD_KINDS)}")
    try:
        return _RECORD.validate_json(data, strict=True)
    except ValidationError as error:
        hint = misspelt_hint(misspelt(_TYPES[kind], document))
        raise Unreadable("invalid_record", "; ".join(filter(None, (explain(error), hint)))) from None


def explain(error: ValidationError) -> str:
    """The first eight faults that pydantic found, as `place: message, got value`; long values are cut."""
    faults = []
    for fault in error.errors(include_url=False):
        place = ".".join(str(step) for step in fault["loc"]) or "record"
        got = "" if fault["type"] == "missing" else f", got {_shown(fault['input'])}"
        faults.append(f"{place}: {fault['msg'].removeprefix('Value error, ')}{got}")
    return "; ".join(faults[:8])


def _scan(data: bytes) -> dict[str, Any]:
    """The object in `data`; refuses duplicate keys, numbers that JSON parsers disagree on and deep nesting."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("not_utf8", "begins with a byte order mark (BOM) of UTF-16; expected UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("not_utf8", f"byte {data[error.start]:#04x} at offset {error.start} is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise Unreadable("not_json", "begins with a byte order mark (BOM); expected a JSON object alone")
    _check_depth(text)
    try:
        document = _DECODER.decode(text)
    except Unreadable:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if b"\n" in data else f"column {error.colno}"
        raise Unreadable("not_json", f"not JSON at {where}: {error.msg}") from None
    if not isinstance(document, dict):
        expected = "expected an object with a 'kind'" + (" for each record" if isinstance(document, list) else "")
        raise Unreadable("not_an_object", f"a JSON {_json_type(document)}; {expected}")
    return document


def _check_depth(text: str) -> None:
    # Cheap upper bound first: a text without that many opening brackets cannot be too deep.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable("too_deep", f"nested deeper than {MAX_DEPTH} levels")
        elif token[0] in "]}":
            depth -= 1


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Unreadable("duplicate_key", f"key {_shown(key)} occurs twice in one object")
            seen.add(key)
    return document


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise Unreadable("bad_number", f"number {_shown(literal)} does not fit a double")
    return value


def _bounded_integer(literal: str) -> int:
    if len(literal) <= _MAX_INTEGER_DIGITS + 1:
        value = int(literal)
        if -(2**63) <= value < 2**63:
            return value
    raise Unreadable("bad_number", f"integer {_shown(literal)} does not fit 64 bits")


def _no_constant(literal: str) -> float:
    raise Unreadable("bad_number", f"{literal} is not a JSON number")


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    return {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}[type(value)]


def _shown(value: object) -> str:
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}… ({len(shown)} characters)"


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_float=_finite, parse_int=_bounded_integer, parse_constant=_no_constant
)
