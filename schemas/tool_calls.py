"""Tool calls: what a result says of itself, and the parts of the evidence about a call."""

import re
from itertools import islice
from typing import Literal

import orjson
from pydantic import JsonValue

from schemas.base import Fraction, Wire

_FAILED_IF_TRUE = frozenset({"is_error", "iserror"})
_FAILED_IF_FALSE = frozenset({"success", "succeeded", "ok"})
_FAILED_IF_GIVEN = frozenset({"error", "errors", "exception"})
_STATUS = frozenset({"status", "status_code", "statuscode", "http_status"})
_FAILED = frozenset({"error", "failed", "failure", "fail", "timeout"})
_DONE = frozenset({"ok", "success", "succeeded", "successful", "completed", "done"})
_ERROR_LINE = re.compile(r"\s*[\w.]{0,80}(?:error|exception)\b[^:\n]{0,80}:|\s*traceback \(", re.IGNORECASE)
"""How programs report an error: `TimeoutError: no answer`."""

_MOST_FIELDS = 100


def has_failed(result: JsonValue) -> bool | None:
    """Whether a tool's result, or an answer, says by its structure that the call failed; None if it does not say.

    An error flag, an error, a status of words or of HTTP, or a text that begins as programs report errors.
    """
    if isinstance(result, str):
        if _ERROR_LINE.match(result):
            return True
        try:
            result = orjson.loads(result) if result.lstrip()[:1] == "{" else None
        except orjson.JSONDecodeError:
            return None
    if not isinstance(result, dict):
        return None
    said = [_said(name.lower(), value) for name, value in islice(result.items(), _MOST_FIELDS)]
    known = [failed for failed in said if failed is not None]
    return any(known) if known else None


def _said(name: str, value: JsonValue) -> bool | None:
    if isinstance(value, bool) and name in _FAILED_IF_TRUE | _FAILED_IF_FALSE:
        return value is (name in _FAILED_IF_TRUE)
    if name in _FAILED_IF_GIVEN:
        return bool(value)
    if name in _STATUS and isinstance(value, int) and not isinstance(value, bool):
        return value >= 400 if 200 <= value < 600 else None
    if name in _STATUS and isinstance(value, str):
        word = value.casefold()
        return True if word in _FAILED else False if word in _DONE else None
    return None


class SchemaFault(Wire):
    """One thing in which the arguments do not fit the tool's schema."""

    path: str
    """Place in the arguments, as a JSON path; `$` is the whole."""
    message: str


class ArgumentFinding(Wire):
    """Whether the value of an argument follows from the prompt and the contexts."""

    name: str
    """Name of the argument; of one within an object with the names before it, such as `address.city`."""
    value: str
    """The value if it is a text, else its JSON; cut off if it is long."""
    finding: Literal["supported", "unsupported", "unsure", "untested"]
    """`unsure`: the judge leaves it open. `untested`: there is nothing to compare it with, or it needs none."""
    support: Fraction | None = None
    """Degree of support, 0 to 1; null if it is untested and no judge was asked."""
    reason: str
    passage: str | None = None
    """The decisive passage; null if the judge names none."""


class ResponseFinding(Wire):
    """How the response tells the result of a failed call."""

    finding: Literal["told_as_failure", "told_as_success", "unsure", "untested"]
    support: Fraction | None = None
    """How surely it tells a failure, 0 to 1; null if no judge was asked."""
    reason: str
