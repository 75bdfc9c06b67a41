"""Files of datapoints to show to a labeller, or to let it pick from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from checkers.labelling.values import from_json
from schemas.evidence import Label

_MOST_BYTES = 16 * 1024 * 1024
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A datapoint of the same kind, with its label if that is known."""

    x: JsonValue
    label: Label | None = None
    reasons: tuple[str, ...] = ()
    """Why it has that label, criterion by criterion; none if they are not known."""


class ExamplesError(ValueError):
    """A file that cannot be used: names the line, and what is allowed."""


def load_examples(path: Path) -> tuple[Exemplar, ...]:
    """The examples of a file of JSON lines, `{"x": datapoint, "y": label, "reasons": [text, ...]}`.

    y and reasons may be left out; a single reason may be a text.

    Raises:
        ExamplesError: it cannot be read, holds anything else, nothing, or too much.
    """
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise ExamplesError(f"{path}: {size} bytes; allowed are {_MOST_BYTES}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ExamplesError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ExamplesError(f"{path}: byte at offset {error.start} is not UTF-8") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise ExamplesError(f"{path}: holds no datapoint")
    if len(lines) > _MOST:
        raise ExamplesError(f"{path}: {len(lines)} datapoints; allowed are {_MOST}")
    return tuple(_example(line, f"{path}:{number}") for number, line in lines)


def _example(line: str, place: str) -> Exemplar:
    try:
        document = from_json(line)
    except ValueError as error:
        raise ExamplesError(f"{place}: {error}") from None
    if not isinstance(document, dict) or "x" not in document:
        raise ExamplesError(
            f'{place}: expected {{"x": datapoint, "y": label, "reasons": [text, ...]}}, y and reasons optional'
        )
    label = document.get("y")
    if label is not None and not isinstance(label, bool | int | str):
        raise ExamplesError(
            f"{place}: y is {type(label).__name__}; allowed are a number without fraction, a truth value or a text"
        )
    return Exemplar(document["x"], label, _reasons(document.get("reasons"), place))


def _reasons(given: Any, place: str) -> tuple[str, ...]:
    reasons = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(reasons, list) or not all(isinstance(one, str) and one.strip() for one in reasons):
        raise ExamplesError(f"{place}: reasons should be a text or a list of texts, none of them empty")
    return tuple(reasons)
