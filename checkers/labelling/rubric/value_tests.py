"""Tests of a value: its text, type, number, how often something occurs in it, how long it is.

A test of what is not there does not hold, nor does one of a value of another type: nothing is guessed or converted.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, PlainValidator, model_validator

from checkers.labelling.rubric.condition import NO_ANSWERS, AboutField, Answers, as_json
from checkers.labelling.rubric.field_paths import MISSING, Text
from checkers.labelling.rubric.matching import compiled, count_matches, count_words, first_match, folded
from checkers.labelling.rubric.reading import sized


def number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("should be a number")  # noqa: TRY004
    return value


def _number_or_parity(value: Any) -> int | float | str:
    if isinstance(value, str) and value not in {"even", "odd"}:
        raise ValueError("should be a number, even or odd")
    return value if isinstance(value, str) else number(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ValueError("should be a text, a number, true, false or null")  # noqa: TRY004
    return value


def _expression(text: str) -> str:
    try:
        compiled(text)
    except ValueError as error:
        raise ValueError(f"should be an expression of RE2, without look-around and references ({error})") from None
    return text


def _counted(value: Any) -> tuple[str, str]:
    way, counted = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("text", value)
    known = {"word", "matches"} if isinstance(value, dict) else {"text"}
    if way not in known or not isinstance(counted, str) or not counted:
        raise ValueError("should be a text, {word: TEXT} or {matches: EXPRESSION}")
    return way, _expression(counted) if way == "matches" else counted


Number = Annotated[int | float, PlainValidator(number)]
Scalar = Annotated[str | int | float | bool | None, PlainValidator(_scalar)]


class ValueTest(AboutField):
    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        value = self.value(x)
        return value is not MISSING and self.passes(value)

    @abstractmethod
    def passes(self, value: JsonValue) -> bool:
        """Test a value, purely; False for every value of a type that the test is not meant for."""


class _CasedTest(ValueTest):
    case: Literal["exact", "ignore"] = "exact"

    @property
    def any_case(self) -> bool:
        return self.case == "ignore"

    @property
    def case_phrase(self) -> str:
        return " (in any letter case)" if self.any_case else ""

    def cased(self, value: Any) -> Any:
        return folded(value) if self.any_case and isinstance(value, str) else value


_TEXT_TESTS = {
    "contains": "contains",
    "starts": "starts with",
    "ends": "ends with",
    "matches": "matches the regular expression",
}


class TextTest(_CasedTest):
    """A text contains, starts or ends with a text, or an expression matches in it."""

    contains: Text = ""
    starts: Text = ""
    ends: Text = ""
    matches: Annotated[Text, AfterValidator(_expression)] = ""

    @model_validator(mode="after")
    def _tests_once(self) -> "TextTest":
        self.only(_TEXT_TESTS)
        return self

    def found(self, text: str) -> str | None:
        """The first part of `text` that makes it hold."""
        if self.matches:
            return first_match(text, self.matches, any_case=self.any_case)
        cased, wanted = self.cased(text), self.cased(self.contains or self.starts or self.ends)
        start = cased.find(wanted) if self.contains else 0 if self.starts else len(cased) - len(wanted)
        return text[start : start + len(wanted)] if start >= 0 and cased.startswith(wanted, start) else None

    def passes(self, value: JsonValue) -> bool:
        return isinstance(value, str) and self.found(value) is not None

    def part(self, text: str) -> str | None:
        return None if self.field else self.found(text)

    def phrase(self) -> str:
        word = self.only(_TEXT_TESTS)
        # An expression not as JSON, which would double every backslash.
        wanted = f"/{self.matches}/" if self.matches else as_json(self.cased(getattr(self, word)))
        return f"{self.subject_phrase} {_TEXT_TESTS[word]} {wanted}{self.case_phrase}"


class In(_CasedTest):
    """A value is one of some. Numbers are the same by their value, and true is not 1."""

    values: Annotated[tuple[Scalar, ...], sized(1)] = Field(alias="in")

    def passes(self, value: JsonValue) -> bool:
        found = self.cased(value)
        return not isinstance(value, list | dict) and any(
            found == self.cased(one) and isinstance(found, bool) == isinstance(one, bool) for one in self.values
        )

    def phrase(self) -> str:
        among = "one of " if len(self.values) > 1 else ""
        shown = ", ".join(as_json(self.cased(one)) for one in self.values)
        return f"{self.subject_phrase} is {among}{shown}{self.case_phrase}"


class Equals(In):
    values: Annotated[tuple[Scalar, ...], BeforeValidator(lambda value: (_scalar(value),))] = Field(alias="equals")


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: _TYPES["number"](value) and value % 1 == 0,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


class IsType(ValueTest):
    type: Literal["string", "number", "integer", "boolean", "array", "object", "null"]

    def passes(self, value: JsonValue) -> bool:
        return _TYPES[self.type](value)

    def phrase(self) -> str:
        return f"{self.subject_phrase} is of the JSON type {self.type}"


_COMPARISONS: dict[str, tuple[str, Callable[..., bool]]] = {
    "is": ("is {}", lambda value, bound: value % 2 == (bound == "odd") if isinstance(bound, str) else value == bound),
    "more_than": ("is more than {}", lambda value, bound: value > bound),
    "at_least": ("is at least {}", lambda value, bound: value >= bound),
    "less_than": ("is less than {}", lambda value, bound: value < bound),
    "at_most": ("is at most {}", lambda value, bound: value <= bound),
    "between": ("is at least {} and at most {}", lambda value, low, high: low <= value <= high),
}


class NumberTest(ValueTest):
    """A number compares; a text of digits is no number, and a number that is not whole is neither even nor odd."""

    is_: Annotated[int | float | str, PlainValidator(_number_or_parity)] = Field(0, alias="is")
    more_than: Number = 0
    at_least: Number = 0
    less_than: Number = 0
    at_most: Number = 0
    between: Annotated[tuple[Number, ...], sized(2, 2)] = ()

    counts: ClassVar[bool] = False
    """Whole numbers from 0 on are compared."""

    @model_validator(mode="after")
    def _compares_once(self) -> "NumberTest":
        word, bounds = self._compared
        if word == "between" and bounds[0] > bounds[1]:
            raise ValueError(f"'between' takes the lower number first, not {bounds[0]} before {bounds[1]}")
        if self.counts and any(one < 0 or one % 1 for one in bounds if not isinstance(one, str)):
            shown = ", ".join(map(str, bounds))
            raise ValueError(f"{word!r} of a count or length takes whole numbers from 0 on, not {shown}")
        return self

    @cached_property
    def _compared(self) -> tuple[str, tuple[Any, ...]]:
        word = self.only(_COMPARISONS)
        return word, self.between or (self.is_ if word == "is" else getattr(self, word),)

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


class OccurrenceCount(_CasedTest, NumberTest):
    """The number of times that something occurs in a text compares; False if matches are too many to be counted."""

    count: Annotated[tuple[str, str], BeforeValidator(_counted)]
    """The thing that is counted: a text, a word, or the matches of an expression."""
    counts = True

    def measure(self, value: JsonValue) -> int | None:
        way, counted = self.count
        if not isinstance(value, str):
            return None
        if way == "matches":
            return count_matches(value, counted, any_case=self.any_case)
        text, wanted = self.cased(value), self.cased(counted)
        times: int = count_words(text, wanted) if way == "word" else text.count(wanted)
        return times

    def measure_phrase(self) -> str:
        way, counted = self.count
        if way == "matches":
            expression = f"the regular expression /{counted}/{self.case_phrase}"
            return f"the number of matches of {expression} in {self.subject_phrase}"
        times = f"the number of times {'the word ' * (way == 'word')}{as_json(self.cased(counted))}"
        return f"{times} occurs in {self.subject_phrase}{self.case_phrase}"


class Length(NumberTest):
    length: Literal["characters", "words", "items"]
    counts = True

    def measure(self, value: JsonValue) -> int | None:
        if not isinstance(value, (list | dict) if self.length == "items" else str):
            return None
        return len(value.split()) if self.length == "words" and isinstance(value, str) else len(value)

    def measure_phrase(self) -> str:
        return f"the number of {self.length} of {self.subject_phrase}"
