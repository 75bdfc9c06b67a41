"""Comparing numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pydantic import JsonValue

Number: TypeAlias = int | float

ComparisonWord = Literal["is", "more_than", "at_least", "less_than", "at_most", "between"]
COMPARISON_WORDS: tuple[ComparisonWord, ...] = get_args(ComparisonWord)

Parity = Literal["even", "odd"]
PARITIES: tuple[Parity, ...] = get_args(Parity)

_TESTS: dict[ComparisonWord, Callable[[Number, Number], bool]] = {
    "is": lambda value, bound: value == bound,
    "more_than": lambda value, bound: value > bound,
    "at_least": lambda value, bound: value >= bound,
    "less_than": lambda value, bound: value < bound,
    "at_most": lambda value, bound: value <= bound,
}
_PHRASES: dict[ComparisonWord, str] = {
    "is": "is",
    "more_than": "is more than",
    "at_least": "is at least",
    "less_than": "is less than",
    "at_most": "is at most",
    "between": "is at least {} and at most",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A test of one number."""

    word: ComparisonWord
    bound: Number | Parity
    low: Number | None = None
    """The lower bound of `between`; both bounds are included."""

    def holds(self, value: Number) -> bool:
        """Whether the number passes; a number that is not whole is neither even nor odd."""
        if isinstance(self.bound, str):
            return value % 2 == (self.bound == "odd")
        if self.low is not None:
            return self.low <= value <= self.bound
        return _TESTS[self.word](value, self.bound)

    @property
    def phrase(self) -> str:
        """Such as `is more than 5`."""
        return f"{_PHRASES[self.word].format(self.low)} {self.bound}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return [self.word, self.low, self.bound]
