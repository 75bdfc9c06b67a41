"""Reading words, numbers and texts out of a rubric's tree."""

from collections.abc import Sequence
from typing import TypeVar, cast

from checkers.labelling.rubric.faults import Fault, Refused, not_among, quoted
from checkers.labelling.rubric.nodes import Entry, Listing, Mapping, Node, Scalar
from checkers.labelling.rubric.values import Plain, is_number

_MAX_TEXT = 1000

_WordT = TypeVar("_WordT", bound=str)
_ValueT = TypeVar("_ValueT", str, bool)


def read_text(entry: Entry, *, limit: int = _MAX_TEXT) -> str:
    """A text of 1 to `limit` characters."""
    text = _plain_as(entry.value, str, f"'{entry.key}' takes a text")
    if not 0 < len(text) <= limit:
        raise Refused.at(entry.value.place, f"'{entry.key}' takes 1 to {limit} characters, not {len(text)}")
    return text


def read_word(entry: Entry, allowed: Sequence[_WordT]) -> _WordT:
    """One of the `allowed` words."""
    word = _plain_as(entry.value, str, f"'{entry.key}' takes one of {', '.join(allowed)}")
    if word not in allowed:
        raise Refused.at(entry.value.place, not_among(f"value of '{entry.key}'", word, allowed))
    return cast("_WordT", word)


def read_flag(entry: Entry) -> bool:
    """True or false."""
    return _plain_as(entry.value, bool, f"'{entry.key}' takes true or false")


def read_number(node: Node, key: str) -> int | float:
    """A finite number."""
    number = read_plain(node, f"'{key}' takes a number")
    if not is_number(number):
        raise refused(node, f"'{key}' takes a number")
    return number


def read_whole(node: Node, key: str) -> int:
    """A whole number from 0 on."""
    number = read_number(node, key)
    if not isinstance(number, int) or number < 0:
        raise refused(node, f"'{key}' of a count or length takes a whole number from 0 on")
    return number


def read_plain(node: Node, wanted: str) -> Plain:
    """A value without parts."""
    if not isinstance(node, Scalar):
        raise refused(node, wanted)
    return node.value


def read_list(entry: Entry, *, least: int, most: int, of: str) -> tuple[Node, ...]:
    """A list with `least` to `most` elements."""
    if not isinstance(entry.value, Listing):
        raise refused(entry.value, f"'{entry.key}' takes a list of {of}")
    count = len(entry.value.items)
    if not least <= count <= most:
        number = f"exactly {least}" if least == most else f"{least} to {most}"
        raise Refused.at(entry.value.place, f"'{entry.key}' takes {number} {of}, not {count}")
    return entry.value.items


def read_mapping(node: Node, keys: Sequence[str], wanted: str) -> Mapping:
    """A mapping with no keys but `keys`."""
    if not isinstance(node, Mapping):
        raise refused(node, wanted)
    unknown = [Fault(one.place, not_among("key here", one.key, keys)) for one in node.entries if one.key not in keys]
    if unknown:
        raise Refused(*unknown)
    return node


def refused(node: Node, wanted: str) -> Refused:
    """That something else stands where `wanted` is."""
    return Refused.at(node.place, f"{wanted}, not {_described(node)}")


def _plain_as(node: Node, kind: type[_ValueT], wanted: str) -> _ValueT:
    value = read_plain(node, wanted)
    if not isinstance(value, kind):
        # Words such as true and 010 are texts to people and not to YAML.
        hint = "" if kind is not str or value is None else "; put it in quotes"
        raise Refused.at(node.place, f"{wanted}, not {_described(node)}{hint}")
    return value


def _described(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Listing):
        return "a list"
    if isinstance(node.value, str):
        return f"the text {quoted(node.value)}"
    if node.value is None:
        return "null" if node.text else "nothing"
    return node.text if isinstance(node.value, bool) else f"the number {node.text}"
