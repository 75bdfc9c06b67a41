"""Tool calls: what a result says of itself, and the findings about a call."""

import re
from contextlib import suppress
from typing import Literal

import orjson
from pydantic import JsonValue

from schemas.base import Fraction, Wire

_FLAGS = {"iserror": True, "success": False, "succeeded": False, "ok": False}
"""What these fields are of a call that failed."""
_STATUS = {str(code): code >= 400 for code in range(200, 600)}
_STATUS |= dict.fromkeys(("error", "failed", "failure", "fail", "timeout"), True)
_STATUS |= dict.fromkeys(("ok", "success", "succeeded", "successful", "completed", "done"), False)
_ERROR_LINE = re.compile(r"\s*[\w.]{0,80}(?:error|exception)\b[^:\n]{0,80}:|\s*traceback \(", re.IGNORECASE)
"""How programs report an error: `TimeoutError: no answer`."""


def has_failed(result: JsonValue) -> bool | None:
    """Whether a tool's result, or an answer, says by its structure that the call failed; None if it does not say.

    An error flag, an error, a status of words or of HTTP, or a text that begins as programs report errors.
    """
    if isinstance(result, str):
        if _ERROR_LINE.match(result):
            return True
        with suppress(orjson.JSONDecodeError):
            result = orjson.loads(result)
    fields = result if isinstance(result, dict) else {}
    known = {name.lower().replace("_", ""): value for name, value in fields.items()}
    said = [known[name] is failed for name, failed in _FLAGS.items() if isinstance(known.get(name), bool)]
    said += [bool(known[name]) for name in ("error", "errors", "exception") if name in known]
    status = (str(known.get(name)).lower() for name in ("status", "statuscode", "httpstatus"))
    said += [_STATUS[word] for word in status if word in _STATUS]
    return any(said) if said else None


class CallFinding(Wire):
    """What the judge says of a value, or of how the response tells that the tool failed."""

    name: str
    """Name of the argument; of one within an object with the names before it: `address.city`. Else `(response)`."""
    value: str
    """The text, or the value as JSON; cut off if it is long."""
    finding: Literal["supported", "unsupported", "unsure"]
    """`unsure`: the judge leaves it open."""
    support: Fraction
    """Degree to which the value follows from what was said, or a failure from the response."""
    reason: str
