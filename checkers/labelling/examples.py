"""Files of datapoints to show to a labeller, or to let it pick from."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from schemas.evidence import Label

_MOST_BYTES = 16 * 1024 * 1024
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A datapoint of the same kind, with its label if that is known."""

    x: JsonValue
    label: Label | None = None


class ExamplesError(ValueError):
    """A file that cannot be used: names the line, and what is allowed."""


def load_examples(path: Path) -> tuple[Exemplar, ...]:
    """The examples of a file of JSON lines, `{"x": datapoint, "y": label}`; y may be left out.

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
        document: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ExamplesError(f"{place}: not JSON ({getattr(error, 'msg', 'nested too deeply')})") from None
    if not isinstance(document, dict) or "x" not in document:
        raise ExamplesError(f'{place}: expected {{"x": datapoint, "y": label}}, y optional')
    label = document.get("y")
    if label is not None and not isinstance(label, bool | int | str):
        raise ExamplesError(
            f"{place}: y is {type(label).__name__}; allowed are a number without fraction, a truth value or a text"
        )
    return Exemplar(document["x"], label)
