"""The datapoints of a file: JSON lines or one JSON list, with what stands for x and y told by field names."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from checkers.labelling.values import from_json
from checkers.lines import numbered_lines
from schemas.evidence import Label

_MOST_FAULTS = 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MISSING = object()


class BadDatapoints(ValueError):
    """A file that cannot be read as datapoints; the message has a line a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Datapoint:
    """One line of the file."""

    number: int
    """From 1, blank lines not counted."""
    x: JsonValue
    y: Label | None
    """Its label in the file; never shown to an evaluator."""
    model: str | None
    """The labeller, in a record."""
    prompt: str | None = None
    """The application's words to the labeller, in a record."""


class Datapoints:
    """A file of datapoints; lines are read anew each time, so that any number will do."""

    def __init__(self, path: Path, x: str = "x", y: str = "y") -> None:
        """Read it through once; `x` and `y` are field names, in which dots lead into objects within the object.

        Raises:
            BadDatapoints: it cannot be read, or holds anything that is no datapoint.
        """
        self._path, self._x, self._y = path, x, y
        self._list = self._read_list()
        self.count = 0
        self.unnamed = 0
        """Datapoints that do not say which model labelled them."""
        faults: list[str] = []
        for place, document in self._documents():
            self.count += 1
            try:
                self.unnamed += self._datapoint(self.count, document).model is None
            except ValueError as error:
                faults.append(f"{path}:{place}: {error}")
                if len(faults) == _MOST_FAULTS:
                    faults.append("and perhaps more")
                    break
        if faults:
            raise BadDatapoints("\n".join(faults))
        if not self.count:
            raise BadDatapoints(f"{path}: holds no datapoint")

    def __iter__(self) -> Iterator[Datapoint]:
        for number, (_, document) in enumerate(self._documents(), start=1):
            yield self._datapoint(number, document)

    def _documents(self) -> Iterator[tuple[int, Any]]:
        """The place of each document; and the document, or the bytes of its line."""
        if self._list is None:
            return numbered_lines(self._path, BadDatapoints)
        return enumerate(self._list, start=1)

    def _read_list(self) -> list[Any] | None:
        try:
            with self._path.open("rb") as stream:
                head = stream.read(4096).removeprefix(_BYTE_ORDER_MARK).lstrip()
            if not head.startswith(b"["):
                return None
            found: list[Any] = from_json(self._path.read_bytes().removeprefix(_BYTE_ORDER_MARK))
        except OSError as error:
            raise BadDatapoints(f"{self._path}: cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise BadDatapoints(f"{self._path}: {error}") from None
        return found

    def _datapoint(self, number: int, document: Any) -> Datapoint:
        if isinstance(document, bytes):
            document = from_json(document)
        if not isinstance(document, dict):
            raise BadDatapoints(f"expected an object, got {type(document).__name__}")
        record = document.get("kind") == "labelling"
        x = _at(document, "datapoint" if record and self._x == "x" else self._x)
        if x is _MISSING:
            names = ", ".join(repr(name) for name in list(document)[:8]) or "none"
            raise BadDatapoints(f"there is no field {self._x!r}; it has {names} (see --x)")
        y = _at(document, "label" if record and self._y == "y" else self._y)
        if y is _MISSING:
            y = None
        if not isinstance(y, bool | int | str | None):
            raise BadDatapoints(
                f"{self._y!r} is {type(y).__name__}; a label is a whole number, a truth value or a text"
            )
        model, prompt = (document.get(name) if record else None for name in ("model", "prompt"))
        return Datapoint(
            number=number,
            x=x,
            y=y,
            model=model if isinstance(model, str) else None,
            prompt=prompt if isinstance(prompt, str) else None,
        )


def _at(document: dict[str, Any], path: str) -> Any:
    if path in document:
        return document[path]
    found: Any = document
    for step in path.split("."):
        if not isinstance(found, dict) or step not in found:
            return _MISSING
        found = found[step]
    return found
