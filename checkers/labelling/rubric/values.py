"""Tests of single values: what all tests are, and those of numbers, lengths, counts, equality and types."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeGuard, get_args

from pydantic import JsonValue

from checkers.labelling.rubric.comparisons import Comparison, Number
from checkers.labelling.rubric.faults import as_json
from checkers.labelling.rubric.patterns import Pattern
from checkers.labelling.rubric.texts import Occurrences, case_phrase, folded

Plain: TypeAlias = str | int | float | bool | None
"""A JSON value without parts."""

Unit = Literal["characters", "words", "items"]
UNITS: tuple[Unit, ...] = get_args(Unit)

TypeName = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
TYPE_NAMES: tuple[TypeName, ...] = get_args(TypeName)


class Test(Protocol):
    """A test of one value. It is pure, and False for every value of a type that it is not meant for."""

    def holds(self, value: JsonValue) -> bool:
        """Whether the value passes."""

    def part(self, text: str) -> str | None:
        """The part of a text that makes the test hold; None where it does not hold or looks at the whole."""

    def phrase(self, subject: str) -> str:
        """What the test says of `subject`, in words."""

    @property
    def meaning(self) -> JsonValue:
        """All that the test depends on."""


class _OfWhole:
    """A test that looks at the whole of a text."""

    __slots__ = ()

    def part(self, text: str) -> str | None:
        """None."""
        return None


@dataclass(frozen=True, slots=True)
class IsNumber(_OfWhole):
    """Whether a number compares; a text of digits is no number."""

    comparison: Comparison

    def holds(self, value: JsonValue) -> bool:
        """Whether it does."""
        return is_number(value) and self.comparison.holds(value)

    def phrase(self, subject: str) -> str:
        """Such as `it is more than 5`."""
        return f"{subject} {self.comparison.phrase}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["number", self.comparison.meaning]


@dataclass(frozen=True, slots=True)
class Count(_OfWhole):
    """Whether the number of times that something occurs in a text compares."""

    counted: Occurrences | Pattern
    comparison: Comparison

    def holds(self, value: JsonValue) -> bool:
        """Whether it does; False also where a pattern's matches are too many to be counted."""
        number = self.counted.count(value) if isinstance(value, str) else None
        return number is not None and self.comparison.holds(number)

    def phrase(self, subject: str) -> str:
        """Such as `the number of times "1" occurs in it is even`."""
        return f"{self.counted.number_phrase(subject)} {self.comparison.phrase}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["count", self.counted.meaning, self.comparison.meaning]


@dataclass(frozen=True, slots=True)
class Length(_OfWhole):
    """Whether a text's number of characters or words compares, or an array's or object's number of items."""

    unit: Unit
    comparison: Comparison

    def holds(self, value: JsonValue) -> bool:
        """Whether it does."""
        if self.unit == "items":
            return isinstance(value, list | dict) and self.comparison.holds(len(value))
        if not isinstance(value, str):
            return False
        return self.comparison.holds(len(value) if self.unit == "characters" else len(value.split()))

    def phrase(self, subject: str) -> str:
        """Such as `the number of words of it is at most 20`."""
        return f"the number of {self.unit} of {subject} {self.comparison.phrase}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["length", self.unit, self.comparison.meaning]


@dataclass(frozen=True, slots=True)
class IsOneOf(_OfWhole):
    """Whether a value is one of a few; numbers are the same by their value, and true is not 1."""

    allowed: tuple[Plain, ...]
    """Texts are folded already where `any_case`."""
    any_case: bool = False

    def holds(self, value: JsonValue) -> bool:
        """Whether it is."""
        if isinstance(value, list | dict):
            return False
        if self.any_case and isinstance(value, str):
            value = folded(value)
        return any(same(value, one) for one in self.allowed)

    def phrase(self, subject: str) -> str:
        """Such as `it is one of "new", "open"`."""
        shown = ", ".join(as_json(one) for one in self.allowed)
        among = "one of " if len(self.allowed) > 1 else ""
        return f"{subject} is {among}{shown}{case_phrase(self.any_case)}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["one of", list(self.allowed), self.any_case]


@dataclass(frozen=True, slots=True)
class IsType(_OfWhole):
    """Whether a value is of a JSON type; `integer` is a number without a fraction."""

    name: TypeName

    def holds(self, value: JsonValue) -> bool:
        """Whether it is."""
        return _TYPES[self.name](value)

    def phrase(self, subject: str) -> str:
        """Such as `it is of the JSON type array`."""
        return f"{subject} is of the JSON type {self.name}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["type", self.name]


def is_number(value: JsonValue) -> TypeGuard[Number]:
    """Whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(first: Plain, second: Plain) -> bool:
    """Whether two JSON values without parts are the same."""
    return first == second and isinstance(first, bool) == isinstance(second, bool)


_TYPES: dict[TypeName, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and value % 1 == 0,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
