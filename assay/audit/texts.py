"""A user's own texts: one a line, or in a field of JSON lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import orjson

from assay.lines import bounded_lines
from checkers.retrieval.triplets import MOST_BYTES

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BadTexts(ValueError):
    """A file that cannot be read as texts; the message names file and line."""


def read_texts(path: Path, *, field: str | None, limit: int) -> list[str]:
    """The first `limit` distinct texts, without the blanks around them; `field` is None where each line is one.

    Raises:
        BadTexts: the file cannot be read, holds no text, or a line is none.
    """
    found: dict[str, None] = {}
    try:
        with path.open("rb") as stream:
            for text in _texts(path, stream, field):
                found[text] = None
                if len(found) == limit:
                    break
    except OSError as error:
        raise BadTexts(f"{path}: cannot be read: {error.strerror or error}") from None
    if not found:
        raise BadTexts(f"{path}: holds no text")
    return list(found)


def _texts(path: Path, stream: BinaryIO, field: str | None) -> Iterator[str]:
    for number, line in enumerate(bounded_lines(stream, keep_bytes=MOST_BYTES), start=1):
        place = f"{path}:{number}"
        data = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
        if len(data) > MOST_BYTES:
            raise BadTexts(f"{place}: longer than {MOST_BYTES} bytes")
        if data:
            text = (_line(place, data) if field is None else _field(place, data, field)).strip()
            if text:
                yield text


def _line(place: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadTexts(f"{place}: byte {error.start} is not UTF-8") from None


def _field(place: str, data: bytes, name: str) -> str:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadTexts(f"{place}: not JSON: {error.msg} (column {error.colno})") from None
    if not isinstance(document, dict):
        raise BadTexts(f"{place}: expected an object, got {type(document).__name__}")
    value = document.get(name)
    if not isinstance(value, str):
        there = ", ".join(repr(key) for key in list(document)[:8]) or "none"
        raise BadTexts(f"{place}: there is no text in a field {name!r}; it has {there} (see --text-field)")
    return value
