"""YAML text as plain data, with the place of everything in it.

Of YAML it takes scalars, lists and mappings, and no more: no tags, so that nothing is constructed; no anchors and
aliases, so that the data are as small as their file. Plain words are read as YAML 1.2 reads them: `yes`, `no`, `on`,
`off` and dates are text.
"""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

MAX_BYTES = 131_072
_MAX_DEPTH = 20
_MAX_DIGITS = 300
_SHOWN_CHARACTERS = 60

_WORDS = {
    **dict.fromkeys(("null", "Null", "NULL", "~", "")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")

Scalar: TypeAlias = str | int | float | bool | None
Location: TypeAlias = tuple[str | int, ...]
"""Keys and, in lists, indices from 0 on."""


@dataclass(frozen=True, slots=True, order=True)
class FilePlace:
    """A position in a file; both counts begin at 1."""

    line: int
    column: int


START = FilePlace(1, 1)
"""Where faults of a file as a whole are reported."""


@dataclass(frozen=True, slots=True, order=True)
class RubricFault:
    """One fault of a file."""

    place: FilePlace
    message: str


class NotYaml(Exception):
    """A text that is not YAML, or has what is not allowed in it."""

    def __init__(self, place: FilePlace, message: str) -> None:
        super().__init__(message)
        self.fault = RubricFault(place, message)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands, and its key if it has one."""

    value: FilePlace
    key: FilePlace
    shown: str
    """What stands there, in words: `the number 010`."""


@dataclass(slots=True)
class RubricSource:
    """What a text says, and where."""

    data: Any = None
    spots: dict[Location, Spot] = field(default_factory=dict)
    faults: list[RubricFault] = field(default_factory=list)
    """Those that leave something to be read."""

    @classmethod
    def read(cls, text: str) -> "RubricSource":
        """Of the one document in `text`.

        Raises:
            NotYaml: nothing can be read.
        """
        source = cls()
        root = _composed(text)
        if root is None:
            raise NotYaml(START, "the file is empty; a rubric begins with 'rubric: NAME'")
        source.data = source._value(root, (), None)
        return source

    def _value(self, node: Node, location: Location, key: FilePlace | None) -> Any:
        # A value that is not there is to be filled in behind its key.
        place = key if key is not None and _is_empty(node) else _place(node.start_mark)
        if isinstance(node, ScalarNode):
            value, shown = self._scalar(node, place)
            self.spots[location] = Spot(place, key or place, shown)
            return value
        is_list = isinstance(node, SequenceNode)
        self.spots[location] = Spot(place, key or place, "a list" if is_list else "a mapping")
        if is_list:
            return [self._value(one, (*location, index), None) for index, one in enumerate(node.value)]
        return self._mapping(node, location)

    def _scalar(self, node: ScalarNode, place: FilePlace) -> tuple[Scalar, str]:
        """The value, and what stands there in words."""
        text = self._text(node, place)
        try:
            value = text if node.style else _plain(text)
        except ValueError as error:
            self.faults.append(RubricFault(place, f"the number {quoted(text)} {error}"))
            return 0, ""
        if isinstance(value, str):
            return value, f"the text {quoted(text)}"
        if value is None:
            return value, "null" if text else "nothing"
        return value, text if isinstance(value, bool) else f"the number {text}"

    def _mapping(self, node: Node, location: Location) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for key, value in node.value:
            place = _place(key.start_mark)
            if not isinstance(key, ScalarNode):
                self.faults.append(RubricFault(place, "a list or mapping as a key; allowed are words"))
                continue
            name = self._text(key, place)
            if name in entries:
                first = self.spots[(*location, name)].key.line
                self.faults.append(RubricFault(place, f"the key {quoted(name)} stands on line {first} already"))
            else:
                entries[name] = self._value(value, (*location, name), place)
        return entries

    def _text(self, node: Node, place: FilePlace) -> str:
        text: str = node.value
        if _SURROGATE.search(text):
            try:
                # JSON escapes a character beyond U+FFFF as two halves.
                return text.encode("utf-16", "surrogatepass").decode("utf-16")
            except UnicodeDecodeError:
                told = r"half of a surrogate pair (\uD800 to \uDFFF); write the character itself"
                self.faults.append(RubricFault(place, told))
                return _SURROGATE.sub("\ufffd", text)
        return text


class _PlainComposer(Composer):
    """Refuses what would make the data other or larger than their text."""

    last = START

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        self.last = place = _place(event.start_mark)
        if isinstance(event, AliasEvent):
            raise NotYaml(place, f"an alias, *{event.anchor}; write out what it stands for")
        if event.anchor is not None:
            raise NotYaml(place, f"an anchor, &{event.anchor}; anchors and aliases are not allowed")
        if event.ctag is not None:
            raise NotYaml(place, f"a tag, {quoted(str(event.ctag))}; tags are not allowed, leave it out")
        return super().compose_node(parent, index)


def _composed(text: str) -> Node | None:
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _PlainComposer
    yaml.max_depth = _MAX_DEPTH
    try:
        node: Node | None = yaml.compose(text)
    except ReaderError as error:
        said = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise NotYaml(place_after(text[: error.position]), said) from None
    except MaxDepthExceededError as error:
        raise NotYaml(_place(error.problem_mark), f"nested more than {_MAX_DEPTH} deep") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        tab = mark is not None and text[mark.index : mark.index + 1] == "\t"
        about = " ".join(part for part in (error.context, error.problem) if part)
        raise NotYaml(_place(mark), "a tab; indent with spaces" if tab else f"not YAML: {about}") from None
    except (ValueError, OverflowError):
        # The scanner leaves to Python what comes after \U, and the number of a version.
        raise NotYaml(yaml.composer.last, "not YAML: behind this, a number or an escape is too large") from None
    return node


def _plain(text: str) -> Scalar:
    """A scalar without quotes. Raises ValueError for a number out of bounds."""
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


def place_after(text: str) -> FilePlace:
    """The place behind `text`."""
    return FilePlace(text.count("\n") + 1, len(text) - text.rfind("\n"))


def quoted(text: str) -> str:
    """`text` in double quotes on one line, cut where it is long; it can be written to any terminal."""
    cut = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return json.dumps(cut, ensure_ascii=False).encode("utf-8", "replace").decode()


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.value and not node.style


def _place(mark: Any) -> FilePlace:
    return START if mark is None else FilePlace(mark.line + 1, mark.column + 1)
