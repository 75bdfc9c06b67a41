"""Datapoints and labels as values: how they are compared, shown and hashed."""

import json
import unicodedata
from typing import Any

import orjson
from pydantic import JsonValue

from checkers.draws import canonical
from models.typography import straightened
from schemas.evidence import Label


def shown(value: JsonValue) -> str:
    """A datapoint as people and models read it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def from_json(text: str | bytes) -> Any:
    """The value of a JSON document, without what Python's reader takes and no message can carry.

    Raises:
        ValueError: it is none; says why.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None


def is_echo(x: JsonValue, similar: JsonValue) -> bool:
    """True if `similar` is x again.

    Letter case, white space, the kinds of quotation marks and dashes, and the Unicode form make no difference.
    """
    return canonical(_folded(x)) == canonical(_folded(similar))


def same_label(first: Label, second: Label) -> bool:
    """True if two labels are the same, written as number, truth value or text: 1, true and "1" are.

    White space and the kinds of quotation marks and dashes make no difference.
    """
    return _plain(first) == _plain(second)


def _plain(label: Label) -> str:
    return str(int(label)) if isinstance(label, bool) else straightened(str(label))


def _folded(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return straightened(unicodedata.normalize("NFC", value).casefold())
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_folded(one) for one in value]
    if isinstance(value, dict):
        return {key: _folded(one) for key, one in value.items()}
    return value
