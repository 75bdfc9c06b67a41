"""Rubrics out of files. What a file may say is in docs/rubrics.md."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar, get_args

from checkers.labelling.rubric.faults import START, Fault, Faults, Refused, RubricError, not_among, place_at
from checkers.labelling.rubric.nodes import MAX_BYTES, Entry, Mapping, read_tree
from checkers.labelling.rubric.reading_criteria import check_name, read_criteria
from checkers.labelling.rubric.reading_labels import read_label
from checkers.labelling.rubric.rubric import Relevance, Rubric
from checkers.labelling.rubric.scalars import read_text, read_word, refused

_REQUIRED = ("rubric", "criteria", "label")
_KEYS = (*_REQUIRED, "about", "relevant")
_RELEVANCES: tuple[Relevance, ...] = get_args(Relevance)
_MAX_ABOUT = 4000
_MAX_TOTAL = 500
_TOO_LARGE = Fault(START, f"the file is too large; allowed are {MAX_BYTES} bytes")

_PartT = TypeVar("_PartT")


def load_rubric(path: Path) -> Rubric:
    """The rubric in a file.

    Raises:
        RubricError: the file cannot be read, or says no rubric.
    """
    shown = str(path)
    try:
        with path.open("rb") as file:
            # One more than is allowed, so that too large a file is noticed and never read whole.
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RubricError(shown, [Fault(START, f"cannot be read: {error.strerror or error}")]) from None
    if len(data) > MAX_BYTES:
        raise RubricError(shown, [_TOO_LARGE])
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        place = place_at(data[: error.start].decode())
        raise RubricError(shown, [Fault(place, f"the byte 0x{data[error.start]:02X} is not UTF-8")]) from None
    return parse_rubric(text, shown=shown)


def parse_rubric(text: str, *, shown: str) -> Rubric:
    """The rubric in the text of a file, which faults name as `shown`.

    Raises:
        RubricError: it says no rubric; all its faults are told.
    """
    faults = Faults()
    rubric = faults.attempt(_rubric, text.removeprefix("\ufeff"), faults)
    if rubric is None or faults.found:
        raise RubricError(shown, faults.found)
    return rubric


def _rubric(text: str, faults: Faults) -> Rubric | None:
    """The rubric; None where a part of it is at fault."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise Refused(_TOO_LARGE)
    root = read_tree(text, faults)
    if not isinstance(root, Mapping):
        raise refused(root, f"a rubric is a mapping with {', '.join(_KEYS)}")
    for entry in root.entries:
        if entry.key not in _KEYS:
            faults.add(entry.place, not_among("key of a rubric", entry.key, _KEYS))
    missing = [key for key in _REQUIRED if root.get(key) is None]
    if missing:
        faults.add(root.place, f"{' and '.join(missing)} missing; a rubric needs {', '.join(_REQUIRED)}")
    name = _part(root, "rubric", faults, _name)
    about = _part(root, "about", faults, partial(read_text, limit=_MAX_ABOUT))
    relevance = _part(root, "relevant", faults, partial(read_word, allowed=_RELEVANCES))
    names, criteria = _part(root, "criteria", faults, partial(read_criteria, faults=faults)) or ([], ())
    label = _part(root, "label", faults, partial(read_label, names=names))
    if faults.found or name is None or label is None:
        return None
    # Of a text that a judge is asked about, no part means what the whole does.
    usual: Relevance = "whole" if any(one.plain for one in criteria) else "parts"
    aggregator, labels = label
    rubric = Rubric(
        name=name,
        about=about,
        criteria=criteria,
        aggregator=aggregator,
        labels=labels,
        relevance=relevance or usual,
    )
    if len(rubric.total) > _MAX_TOTAL:
        said = f"with all their clauses these are {len(rubric.total)} criteria; allowed are {_MAX_TOTAL}"
        raise Refused.at(root.place, said)
    return rubric


def _part(root: Mapping, key: str, faults: Faults, read: Callable[[Entry], _PartT]) -> _PartT | None:
    entry = root.get(key)
    return None if entry is None else faults.attempt(read, entry)


def _name(entry: Entry) -> str:
    return check_name(read_text(entry), entry.value.place)
