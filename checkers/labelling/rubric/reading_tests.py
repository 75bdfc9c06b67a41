"""Tests and comparisons out of a rubric's tree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from checkers.labelling.rubric.comparisons import COMPARISON_WORDS, PARITIES, Comparison, ComparisonWord, Number
from checkers.labelling.rubric.faults import Refused
from checkers.labelling.rubric.nodes import Entry, Node, Scalar
from checkers.labelling.rubric.patterns import Pattern
from checkers.labelling.rubric.scalars import (
    read_list,
    read_mapping,
    read_number,
    read_plain,
    read_text,
    read_whole,
    read_word,
    refused,
)
from checkers.labelling.rubric.texts import Occurrences, Stands, Where, folded
from checkers.labelling.rubric.values import TYPE_NAMES, UNITS, Count, IsNumber, IsOneOf, IsType, Length, Plain, Test

_MAX_VALUES = 1000
_CASES = ("exact", "ignore")
_COUNTED = ("word", "matches")


@dataclass(frozen=True, slots=True)
class _Spelled:
    """What a mapping has to say about a test."""

    head: Entry
    compared: Entry | None
    any_case: bool


def read_test(head: Entry, compared: Entry | None, case: Entry | None) -> Test:
    """The test that the key `head` names, with the comparison and the letter case that stand beside it.

    Raises:
        Refused: it is none.
    """
    any_case = case is not None and read_word(case, _CASES) == "ignore"
    return _READERS[head.key](_Spelled(head, compared, any_case))


def read_number_test(compared: Entry) -> Test:
    """The test of a number that a comparison alone says. Raises Refused where it is none."""
    return IsNumber(_comparison(compared, read_number))


def _stands(spelled: _Spelled) -> Test:
    where = cast("Where", spelled.head.key)
    return Stands(where, _literal(spelled.head, spelled.any_case), spelled.any_case)


def _one_of(spelled: _Spelled) -> Test:
    nodes: tuple[Node, ...] = (spelled.head.value,)
    if spelled.head.key == "in":
        nodes = read_list(spelled.head, least=1, most=_MAX_VALUES, of="values")
    wanted = f"'{spelled.head.key}' takes texts, numbers, true, false and null"
    values = tuple(read_plain(node, wanted) for node in nodes)
    return IsOneOf(tuple(_cased(value, spelled.any_case) for value in values), spelled.any_case)


def _count(spelled: _Spelled) -> Test:
    return Count(_counted(spelled), _whole_comparison(spelled))


def _length(spelled: _Spelled) -> Test:
    return Length(read_word(spelled.head, UNITS), _whole_comparison(spelled))


def _type(spelled: _Spelled) -> Test:
    return IsType(read_word(spelled.head, TYPE_NAMES))


def _pattern(spelled: _Spelled) -> Pattern:
    return _compiled(spelled.head, spelled.any_case)


_READERS: Mapping[str, Callable[[_Spelled], Test]] = MappingProxyType(
    {
        "contains": _stands,
        "starts": _stands,
        "ends": _stands,
        "equals": _one_of,
        "in": _one_of,
        "matches": _pattern,
        "count": _count,
        "length": _length,
        "type": _type,
    }
)


def _counted(spelled: _Spelled) -> Occurrences | Pattern:
    head, any_case = spelled.head, spelled.any_case
    if isinstance(head.value, Scalar):
        return Occurrences(_literal(head, any_case), any_case=any_case)
    wanted = "'count' takes a text, {word: TEXT} or {matches: EXPRESSION}"
    entries = read_mapping(head.value, _COUNTED, wanted).entries
    if len(entries) != 1:
        raise refused(head.value, wanted)
    (entry,) = entries
    if entry.key == "word":
        return Occurrences(_literal(entry, any_case), words=True, any_case=any_case)
    return _compiled(entry, any_case)


def _compiled(entry: Entry, any_case: bool) -> Pattern:
    pattern = Pattern(read_text(entry), any_case)
    try:
        pattern.compiled  # noqa: B018 - compiled here, so that a faulty one is refused and not met later
    except ValueError as error:
        said = f"not a regular expression that RE2 takes: {error}"
        raise Refused.at(entry.value.place, f"{said} (it has no look-around and no back-references)") from None
    return pattern


def _whole_comparison(spelled: _Spelled) -> Comparison:
    if spelled.compared is None:
        words = ", ".join(COMPARISON_WORDS)
        raise Refused.at(spelled.head.place, f"'{spelled.head.key}' needs a comparison beside it; allowed: {words}")
    return _comparison(spelled.compared, read_whole)


def _comparison(entry: Entry, read: Callable[[Node, str], Number]) -> Comparison:
    word = cast("ComparisonWord", entry.key)
    if word == "between":
        low, high = (read(node, word) for node in read_list(entry, least=2, most=2, of="numbers"))
        if low > high:
            raise Refused.at(entry.value.place, f"'between' takes the lower number first, not {low} before {high}")
        return Comparison(word, high, low)
    if word == "is" and isinstance(entry.value, Scalar) and isinstance(entry.value.value, str):
        return Comparison(word, read_word(entry, PARITIES))
    return Comparison(word, read(entry.value, word))


def _literal(entry: Entry, any_case: bool) -> str:
    text = read_text(entry)
    return folded(text) if any_case else text


def _cased(value: Plain, any_case: bool) -> Plain:
    return folded(value) if any_case and isinstance(value, str) else value
