"""Writing what travels as JSON bytes."""

import orjson

from schemas.base import Wire


def to_json(thing: Wire, *, newline: bool = False) -> bytes:
    """UTF-8 JSON of `thing` on one line, times as RFC 3339 in UTC."""
    option = orjson.OPT_UTC_Z | (orjson.OPT_APPEND_NEWLINE if newline else 0)
    return orjson.dumps(thing.model_dump(), option=option)
