"""Files of triplets {base | positive, negative}, where the negative only looks like the base, and of plain texts."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from assay.cli.front_door import CannotRun
from checkers.lines import numbered_lines
from checkers.retrieval.relations import RELATIONS, Relation

_AUTHORS: dict[str, Relation] = {
    "obj_sub": "object_substitution",
    "verb_sub": "action_substitution",
    "nega_exp": "negative_expression",
    "word_del": "word_deletion",
    "num_sub": "quantifier_substitution",
    "err_translate": "back_translation_error",
    "err_nli": "inference_error",
}
"""The names of relations in the data of the paper's authors, if different."""


class BadTriplets(CannotRun):
    """A file that cannot be read as triplets or as texts; the message names file, line and field."""


@dataclass(frozen=True, slots=True)
class Triplet:
    """One test case: whatever matches the base should find the positive closer than the negative."""

    id: str
    relation: Relation
    """The edit that makes the negative of the base."""
    base: str
    positive: str
    negative: str
    unrelated: str | None = None
    """A text about something else."""


Columns = Mapping[str, tuple[str, ...]]

COLUMNS: Columns = {
    "id": ("id",),
    "relation": ("relation", "mr"),
    "base": ("base",),
    "positive": ("positive",),
    "negative": ("negative",),
    "unrelated": ("unrelated", "unrelated_negative"),
}
"""The fields of a triplet and their names in a file; of several the first that an object has is taken."""


def read_triplets(path: Path, *, columns: Columns = COLUMNS) -> Iterator[Triplet]:
    """The triplets of a file of JSON lines, one by one.

    Without an id a triplet is named by the file and its line. `unrelated` may be missing or null, nothing else.

    Raises:
        BadTriplets: it cannot be read, holds no triplet, or a line is none.
    """
    number = 0
    for number, line in numbered_lines(path, BadTriplets):
        with _located(path, number):
            triplet = _triplet(_object(line), columns, f"{path.stem}-{number}")
        yield triplet
    if not number:
        raise BadTriplets(f"{path}: holds no triplet")


def write_triplets(path: Path, triplets: Iterable[Triplet]) -> None:
    """Write JSON lines that `read_triplets` reads.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("wb") as stream:
        stream.writelines(orjson.dumps(asdict(triplet), option=orjson.OPT_APPEND_NEWLINE) for triplet in triplets)


def read_texts(path: Path, *, field: str | None, limit: int) -> list[str]:
    """The first `limit` distinct texts, stripped: one a line, or in `field` of the objects of a file of JSON lines.

    Raises:
        BadTriplets: the file cannot be read, holds no text, or a line is none.
    """
    found: dict[str, None] = {}
    for number, line in numbered_lines(path, BadTriplets):
        with _located(path, number):
            text = line.decode() if field is None else _field(_object(line), field)
        if text.strip():
            found[text.strip()] = None
        if len(found) == limit:
            break
    if not found:
        raise BadTriplets(f"{path}: holds no text")
    return list(found)


def relation_named(name: str) -> Relation:
    """The relation of this name, or of the name that the paper's authors give it.

    Raises:
        ValueError: there is no such relation.
    """
    for relation in RELATIONS:
        if name == relation or _AUTHORS.get(name) == relation:
            return relation
    raise ValueError(f"{name[:80]!r} is no relation; allowed are {', '.join(RELATIONS)}")


class _BadLine(ValueError):
    """A fault in a line."""


@contextmanager
def _located(path: Path, number: int) -> Iterator[None]:
    """Say of a fault in a line where it is."""
    try:
        yield
    except orjson.JSONDecodeError as error:
        raise BadTriplets(f"{path}:{number}: not JSON: {error.msg} (column {error.colno})") from None
    except UnicodeDecodeError as error:
        raise BadTriplets(f"{path}:{number}: byte {error.start} is not UTF-8") from None
    except ValueError as error:
        raise BadTriplets(f"{path}:{number}: {error}") from None


def _object(line: bytes) -> dict[str, Any]:
    found = orjson.loads(line)
    if not isinstance(found, dict):
        raise _BadLine(f"expected an object, got {type(found).__name__}")
    return found


def _field(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise _BadLine(f"there is no text in a field {name!r}; it has {_names(document)} (see --text-field)")
    return value


def _triplet(document: dict[str, Any], columns: Columns, name: str) -> Triplet:
    texts = {field: _text(document, columns[field], field) for field in ("relation", "base", "positive", "negative")}
    try:
        relation = relation_named(texts.pop("relation"))
    except ValueError as error:
        raise _BadLine(f"field {_present(document, columns['relation'])!r}: {error}") from None
    given, unrelated = (_present(document, columns[field]) for field in ("id", "unrelated"))
    key = document[given] if given else name
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise _BadLine(f"field {given!r} is {_kind(key)}; an id is a text or a whole number")
    other = _text(document, (unrelated,), "unrelated text") if unrelated else None
    return Triplet(id=str(key), relation=relation, **texts, unrelated=other)


def _text(document: dict[str, Any], names: tuple[str, ...], field: str) -> str:
    name = next((name for name in names if name in document), None)
    if name is None:
        wanted = " or ".join(repr(one) for one in names)
        raise _BadLine(f"there is no field {wanted} for the {field}; it has {_names(document)}")
    value = document[name]
    if not isinstance(value, str) or not value.strip():
        raise _BadLine(f"field {name!r} is {_kind(value)}; the {field} is a text that is not blank")
    return value


def _present(document: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these fields that is there and not null."""
    return next((name for name in names if document.get(name) is not None), None)


def _names(document: dict[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(document)[:8]) or "none"


def _kind(value: object) -> str:
    return "blank" if isinstance(value, str) else type(value).__name__
