"""The place of a record in the producer's traces, so that its verdict can be shown there."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from schemas.base import Name, Wire

_TRACEPARENT = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_HEADERS = ("ce_traceparent", "traceparent")
"""The event's own first: what carries it may be traced by itself."""


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
