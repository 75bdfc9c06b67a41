"""The datapoints of a file: JSON lines or one JSON list, with what stands for x and y told by field names."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import JsonValue

from checkers.labelling.values import from_json
from schemas.evidence import Label

_MOST_FAULTS = 20
_MOST_LIST_BYTES = 256 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MISSING = object()


class BadDatapoints(ValueError):
    """A file that cannot be read as datapoints; the message has a line a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Where x and y stand in an object; dots lead into objects within it."""

    x: str = "x"
    y: str = "y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Datapoint:
    """One line of the file."""

    number: int
    """From 1, blank lines not counted."""
    x: JsonValue
    y: Label | None
    """Its label in the file; never shown to an evaluator."""
    model: str | None
    """Who labelled it, in a record."""
    prompt: str | None = None
    """What its application told the labeller, in a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a file holds, found by reading it once."""

    count: int
    digest: str
    """Of its bytes."""
    unnamed: int
    """How many do not say which model labelled them."""


class Datapoints:
    """A file of datapoints; read anew each time, so that any length will do."""

    def __init__(self, path: Path, fields: Fields, *, max_bytes: int) -> None:
        """Lines longer than `max_bytes` are faults."""
        self._path = path
        self.fields = fields
        self._max_bytes = max_bytes
        self._list: list[Any] | None = None

    def survey(self) -> Survey:
        """Read it through once.

        Raises:
            BadDatapoints: it cannot be read, or holds anything that is no datapoint.
        """
        state = hashlib.sha256()
        faults: list[str] = []
        count = unnamed = 0
        try:
            self._read_list()
            with self._path.open("rb") as stream:
                while chunk := stream.read(1 << 20):
                    state.update(chunk)
            for place, document in self._documents():
                count += 1
                try:
                    unnamed += self._datapoint(count, document).model is None
                except _NoDatapoint as error:
                    faults.append(f"{self._path}:{place}: {error}")
                    if len(faults) == _MOST_FAULTS:
                        faults.append("and perhaps more")
                        break
        except OSError as error:
            raise BadDatapoints(f"{self._path}: cannot be read: {error.strerror or error}") from None
        if faults:
            raise BadDatapoints("\n".join(faults))
        if not count:
            raise BadDatapoints(f"{self._path}: holds no datapoint")
        return Survey(count=count, digest=state.hexdigest(), unnamed=unnamed)

    def __iter__(self) -> Iterator[Datapoint]:
        """All of them, in order, of a file that `survey` has found right."""
        for number, (_, document) in enumerate(self._documents(), start=1):
            yield self._datapoint(number, document)

    def first(self, count: int) -> list[Datapoint]:
        """The first `count` of them."""
        return list(islice(self, count))

    def _read_list(self) -> None:
        with self._path.open("rb") as stream:
            head = stream.read(4096).removeprefix(_BYTE_ORDER_MARK).lstrip()
        if not head.startswith(b"["):
            return
        size = self._path.stat().st_size
        if size > _MOST_LIST_BYTES:
            raise BadDatapoints(
                f"{self._path}: a JSON list of {size} bytes; write more than {_MOST_LIST_BYTES} as lines"
            )
        try:
            self._list = _parsed(self._path.read_bytes().removeprefix(_BYTE_ORDER_MARK))
        except _NoDatapoint as error:
            raise BadDatapoints(f"{self._path}: {error}") from None

    def _documents(self) -> Iterator[tuple[str, Any]]:
        """Where each document stands; and the document, or the bytes of its line."""
        if self._list is not None:
            yield from ((f"[{index}]", document) for index, document in enumerate(self._list))
            return
        with self._path.open("rb") as stream:
            for number, line in enumerate(self._lines(stream), start=1):
                data = line.removeprefix(_BYTE_ORDER_MARK).strip() if number == 1 else line.strip()
                if data:
                    yield str(number), data

    def _lines(self, stream: BinaryIO) -> Iterator[bytes]:
        while line := stream.readline(self._max_bytes + 2):
            yield line
            # The rest of a line that is too long is passed over, without being kept.
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 18)

    def _datapoint(self, number: int, document: Any) -> Datapoint:
        if isinstance(document, bytes):
            if len(document) > self._max_bytes:
                raise _NoDatapoint(f"longer than {self._max_bytes} bytes (records.max_bytes)")
            document = _parsed(document)
        if not isinstance(document, dict):
            raise _NoDatapoint(f"expected an object, got {type(document).__name__}")
        record = document.get("kind") == "labelling"
        x = _at(document, "datapoint" if record and self.fields.x == "x" else self.fields.x)
        if x is _MISSING:
            raise _NoDatapoint(f"there is no field {self.fields.x!r}; it has {_names(document)} (see --x)")
        y = _at(document, "label" if record and self.fields.y == "y" else self.fields.y)
        if y is _MISSING or y is None:
            y = None
        elif not isinstance(y, bool | int | str):
            raise _NoDatapoint(
                f"{self.fields.y!r} is {type(y).__name__}; a label is a whole number, a truth value or a text"
            )
        model, prompt = (document.get(name) if record else None for name in ("model", "prompt"))
        return Datapoint(
            number=number,
            x=x,
            y=y,
            model=model if isinstance(model, str) else None,
            prompt=prompt if isinstance(prompt, str) else None,
        )


class _NoDatapoint(Exception):
    """A document that is none."""


def _parsed(data: bytes) -> Any:
    try:
        return from_json(data)
    except ValueError as error:
        raise _NoDatapoint(str(error)) from None


def _at(document: dict[str, Any], path: str) -> Any:
    if path in document:
        return document[path]
    found: Any = document
    for step in path.split("."):
        if not isinstance(found, dict) or step not in found:
            return _MISSING
        found = found[step]
    return found


def _names(document: dict[str, Any]) -> str:
    return ", ".join(repr(name) for name in list(document)[:8]) or "none"
