"""YAML text to a tree that knows where everything stands.

Of YAML it takes scalars, lists and mappings, and no more: no tags, so that nothing is constructed; no anchors and
aliases, so that a tree is as small as its file. Plain words are read as YAML 1.2 reads them: `yes`, `no`, `on`, `off`
and dates are text.
"""

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from checkers.labelling.rubric.faults import START, Faults, Place, Refused, place_at, quoted

MAX_BYTES = 131_072
_MAX_DEPTH = 40
_MAX_DIGITS = 300

_WORDS = {
    **dict.fromkeys(("null", "Null", "NULL", "~", "")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LONG_ESCAPE = re.compile(r"\\U([0-9A-Fa-f]{8})")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A word, a number, or a text in quotes."""

    value: str | int | float | bool | None
    text: str
    """As it was written, without quotes."""
    place: Place


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    items: tuple["Node", ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: str
    place: Place
    value: "Node"


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys with values, in the order of the file; no key twice."""

    entries: tuple[Entry, ...]
    place: Place

    def get(self, key: str) -> Entry | None:
        """The entry of a key, or None."""
        return next((entry for entry in self.entries if entry.key == key), None)


Node: TypeAlias = Scalar | Listing | Mapping


def read_tree(text: str, faults: Faults) -> Node:
    """The tree of the one document in `text`; faults that leave a tree are added to `faults`.

    Raises:
        Refused: there is no tree.
    """
    return _Builder(text, faults).document()


class _Builder:
    """Builds from the parser's events, which come without recursion, so that depth is bounded here and not by luck."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._events = _events(text)
        self._faults = faults
        self._depth = 0

    def document(self) -> Node:
        root: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise Refused.at(_place(event), "a second document begins here; a file holds one rubric")
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event)
        if root is None:
            raise Refused.at(START, "the file is empty; a rubric begins with 'rubric: NAME'")
        return root

    def _node(self, event: yaml.Event) -> Node:
        place = _place(event)
        if isinstance(event, yaml.AliasEvent):
            raise Refused.at(place, f"an alias, *{event.anchor}; write out what it stands for")
        # Scalars and the beginnings of lists and mappings are left; what they have in common has no type.
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor is not None:
            self._faults.add(place, f"an anchor, &{anchor}; anchors and aliases are not allowed")
        if tag is not None:
            self._faults.add(place, f"a tag, {quoted(tag)}; tags are not allowed, leave it out")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place)
        if self._depth == _MAX_DEPTH:
            raise Refused.at(place, f"nested more than {_MAX_DEPTH} deep")
        self._depth += 1
        node = self._mapping(place) if isinstance(event, yaml.MappingStartEvent) else self._listing(place)
        self._depth -= 1
        return node

    def _listing(self, place: Place) -> Listing:
        return Listing(tuple(self._node(event) for event in self._until(yaml.SequenceEndEvent)), place)

    def _mapping(self, place: Place) -> Mapping:
        entries: dict[str, Entry] = {}
        for event in self._until(yaml.MappingEndEvent):
            key = self._node(event)
            value = self._node(next(self._events))
            if not isinstance(key, Scalar):
                self._faults.add(key.place, "a list or mapping as a key; allowed are words")
            elif key.text in entries:
                first = entries[key.text].place.line
                self._faults.add(key.place, f"the key {quoted(key.text)} stands on line {first} already")
            else:
                entries[key.text] = Entry(key.text, key.place, value)
        return Mapping(tuple(entries.values()), place)

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event

    def _scalar(self, event: yaml.ScalarEvent, place: Place) -> Scalar:
        text: str = event.value
        if _SURROGATE.search(text):
            try:
                # JSON escapes a character beyond U+FFFF as two halves.
                text = text.encode("utf-16", "surrogatepass").decode("utf-16")
            except UnicodeDecodeError:
                self._faults.add(place, r"half of a surrogate pair (\uD800 to \uDFFF); write the character itself")
        if event.style:
            return Scalar(text, text, place)
        try:
            return Scalar(_resolved(text), text, place)
        except ValueError as error:
            self._faults.add(place, f"the number {quoted(text)} {error}")
            return Scalar(0, text, place)


def _resolved(text: str) -> str | int | float | bool | None:
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"has more than {_MAX_DIGITS} digits")
    if _WHOLE.fullmatch(text):
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("is too large")
    return number


def _events(text: str) -> Iterator[yaml.Event]:
    last = START
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            last = _place(event)
            yield event
    except yaml.reader.ReaderError as error:
        raise _bad_character(text, error) from None
    except yaml.MarkedYAMLError as error:
        raise _bad_syntax(text, error, last) from None
    except (ValueError, OverflowError):
        # The parser leaves to Python what comes after \U, and the number of a version.
        raise _bad_code(text, last) from None


def _bad_character(text: str, error: yaml.reader.ReaderError) -> Refused:
    place = place_at(text[: error.position])
    return Refused.at(place, f"the character U+{ord(text[error.position]):04X} is not allowed")


def _bad_code(text: str, last: Place) -> Refused:
    for found in _LONG_ESCAPE.finditer(text):
        if int(found[1], 16) > sys.maxunicode:
            return Refused.at(place_at(text[: found.start()]), f"{found[0]} is no character")
    return Refused.at(last, "not YAML: a number too long to be read")


def _bad_syntax(text: str, error: yaml.MarkedYAMLError, last: Place) -> Refused:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Refused.at(last, f"not YAML: {error.problem or error.context}")
    place = Place(mark.line + 1, mark.column + 1)
    if text[mark.index : mark.index + 1] == "\t":
        return Refused.at(place, "a tab; indent with spaces")
    about = " ".join(part for part in (error.context, error.problem) if part)
    return Refused.at(place, f"not YAML: {about}")


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return START if mark is None else Place(mark.line + 1, mark.column + 1)
