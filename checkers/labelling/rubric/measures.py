"""Tests of numbers: one that the value is, one that is counted in it, or its length."""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, JsonValue, PlainValidator, model_validator

from checkers.labelling.rubric.condition import CasedTest, ValueTest
from checkers.labelling.rubric.faults import Misplaced, as_json
from checkers.labelling.rubric.fields import Number, counted_as, number_or_parity, sized
from checkers.labelling.rubric.matching import count_matches, count_words

ComparisonWord = Literal["is", "more_than", "at_least", "less_than", "at_most", "between"]
COMPARISON_WORDS: tuple[ComparisonWord, ...] = get_args(ComparisonWord)

_COMPARISONS: dict[ComparisonWord, tuple[str, Callable[..., bool]]] = {
    "is": ("is {}", lambda value, bound: value % 2 == (bound == "odd") if isinstance(bound, str) else value == bound),
    "more_than": ("is more than {}", lambda value, bound: value > bound),
    "at_least": ("is at least {}", lambda value, bound: value >= bound),
    "less_than": ("is less than {}", lambda value, bound: value < bound),
    "at_most": ("is at most {}", lambda value, bound: value <= bound),
    "between": ("is at least {} and at most {}", lambda value, low, high: low <= value <= high),
}


class NumberTest(ValueTest):
    """A number compares; a text of digits is no number, and a number that is not whole is neither even nor odd."""

    is_: Annotated[int | float | str, PlainValidator(number_or_parity)] = Field(0, alias="is")
    more_than: Number = 0
    at_least: Number = 0
    less_than: Number = 0
    at_most: Number = 0
    between: Annotated[tuple[Number, ...], sized(2, 2)] = ()

    counts: ClassVar[bool] = False
    """Whole numbers from 0 on are compared."""

    @model_validator(mode="after")
    def _compares_once(self) -> "NumberTest":
        given = self._given
        if len(given) != 1:
            told = f"one comparison is needed, not {len(given)}; allowed: {', '.join(COMPARISON_WORDS)}"
            raise Misplaced(f"{told}; for two bounds write between: [LOW, HIGH]", *given[1:2], at_key=len(given) > 1)
        word, bounds = self._compared
        if word == "between" and bounds[0] > bounds[1]:
            told = f"'between' takes the lower number first, not {bounds[0]} before {bounds[1]}"
            raise Misplaced(told, word, at_key=False)
        if self.counts and any(one < 0 or one % 1 for one in bounds if not isinstance(one, str)):
            told = f"{word!r} of a count or length takes whole numbers from 0 on, not {', '.join(map(str, bounds))}"
            raise Misplaced(told, word, at_key=False)
        return self

    @property
    def _given(self) -> list[ComparisonWord]:
        return [word for word in COMPARISON_WORDS if word.replace("is", "is_") in self.model_fields_set]

    @cached_property
    def _compared(self) -> tuple[ComparisonWord, tuple[Any, ...]]:
        (word,) = self._given
        bound = getattr(self, word.replace("is", "is_"))
        return word, bound if word == "between" else (bound,)

    def measure(self, value: JsonValue) -> int | float | None:
        """The number that is compared; None if `value` has none."""
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def measure_phrase(self) -> str:
        return self.subject_phrase

    def passes(self, value: JsonValue) -> bool:
        measured = self.measure(value)
        word, bounds = self._compared
        return measured is not None and _COMPARISONS[word][1](measured, *bounds)

    def phrase(self) -> str:
        word, bounds = self._compared
        return f"{self.measure_phrase()} {_COMPARISONS[word][0].format(*bounds)}"


class OccurrenceCount(CasedTest, NumberTest):
    """How often something occurs in a text compares; False if matches are too many to be counted."""

    count: Annotated[tuple[str, str], BeforeValidator(counted_as)]
    """What is counted: a text, a word, or the matches of an expression."""
    counts = True

    def measure(self, value: JsonValue) -> int | None:
        way, counted = self.count
        if not isinstance(value, str):
            return None
        if way == "matches":
            return count_matches(value, counted, any_case=self.any_case)
        if way == "word":
            return count_words(self.cased(value), self.cased(counted))
        number: int = self.cased(value).count(self.cased(counted))
        return number

    def measure_phrase(self) -> str:
        way, counted = self.count
        if way == "matches":
            expression = f"the regular expression /{counted}/{self.case_phrase}"
            return f"the number of matches of {expression} in {self.subject_phrase}"
        word = "the word " if way == "word" else ""
        times = f"the number of times {word}{as_json(self.cased(counted))}"
        return f"{times} occurs in {self.subject_phrase}{self.case_phrase}"


class Length(NumberTest):
    length: Literal["characters", "words", "items"]
    counts = True

    def measure(self, value: JsonValue) -> int | None:
        if self.length == "items":
            return len(value) if isinstance(value, list | dict) else None
        if not isinstance(value, str):
            return None
        return len(value) if self.length == "characters" else len(value.split())

    def measure_phrase(self) -> str:
        return f"the number of {self.length} of {self.subject_phrase}"
