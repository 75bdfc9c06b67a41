"""Conditions: what a criterion says of a datapoint, before it has a name; a class for each operator of a rubric file.

A test of what is not there does not hold, nor does one of a value of another type: nothing is guessed or converted.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    JsonValue,
    PlainValidator,
    StrictBool,
    StringConstraints,
    Tag,
    model_validator,
)

from checkers.labelling.rubric.faults import Misplaced, RubricPart, Unfit, as_json, not_among
from checkers.labelling.rubric.judge import CriterionJudge
from checkers.labelling.rubric.matching import compiled, count_matches, count_words, first_match, folded
from checkers.labelling.rubric.paths import Missing, parse_path
from checkers.labelling.rubric.source import Location, Scalar

Answers: TypeAlias = Mapping["PlainQuestion", bool]
"""What a judge has said about one datapoint."""

NO_ANSWERS: Answers = MappingProxyType({})


def number(value: Any) -> int | float:
    """`value`, if it is a number; true and false are none. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit("should be a number")
    return value


def _number_or_parity(value: Any) -> int | float | str:
    if isinstance(value, str) and value not in {"even", "odd"}:
        raise Unfit("should be a number, even or odd")
    return value if isinstance(value, str) else number(value)


def _scalar(value: Any) -> Scalar:
    if isinstance(value, list | dict):
        raise Unfit("should be a text, a number, true, false or null")
    scalar: Scalar = value
    return scalar


def _path(text: str) -> str:
    try:
        parse_path(text)
    except ValueError as error:
        raise Unfit(f'should be a path such as a.b, a[0] or a."any name" ({error})') from None
    return text


def _expression(text: str) -> str:
    try:
        compiled(text)
    except ValueError as error:
        raise Unfit(f"should be an expression of RE2, without look-around and references ({error})") from None
    return text


def sized(least: int, most: int) -> AfterValidator:
    def check(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not least <= len(values) <= most:
            raise Misplaced(f"a list of {len(values)}; allowed are {least} to {most} elements", at_key=False)
        return values

    return AfterValidator(check)


def _counted(value: Any) -> tuple[str, str]:
    way, counted = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("text", value)
    known = {"word", "matches"} if isinstance(value, dict) else {"text"}
    if way not in known or not isinstance(counted, str) or not 0 < len(counted) <= _MAX_TEXT:
        raise Unfit(f"should be a text of 1 to {_MAX_TEXT} characters, {{word: TEXT}} or {{matches: EXPRESSION}}")
    return way, _expression(counted) if way == "matches" else counted


_MAX_TEXT = 1000

Number = Annotated[int | float, PlainValidator(number)]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=_MAX_TEXT)]
_Path = Annotated[_Text, AfterValidator(_path)]
_Scalar = Annotated[Scalar, PlainValidator(_scalar)]


class Condition(RubricPart):
    """A function from datapoints to a bit."""

    @property
    def clauses(self) -> tuple["Condition", ...]:
        """What a compound condition is made of; none for a simple one."""
        return ()

    @property
    def questions(self) -> tuple["PlainQuestion", ...]:
        """What a judge must answer before all bits, of the clauses too, are known."""
        return ()

    @abstractmethod
    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The bit, if it follows without a judge or from `answers`."""

    async def holds(self, x: JsonValue, judge: CriterionJudge) -> bool:
        """The bit. The judge is asked only what it turns on, one question after the other.

        Raises what `judge` raises.
        """
        answers: dict[PlainQuestion, bool] = {}
        while (bit := self.settled(x, answers)) is None:
            question = self.open_question(x, answers)
            answers[question] = await judge.bit(question.ask, question.subject(x))
        return bit

    def open_question(self, x: JsonValue, answers: Answers) -> "PlainQuestion":
        """The first question that the bit turns on, if it is not settled."""
        return next(one for one in self.clauses if one.settled(x, answers) is None).open_question(x, answers)

    def part(self, text: str) -> str | None:
        """The part of a text that makes a simple condition hold; None if it does not hold or looks at the whole."""
        return None

    @abstractmethod
    def phrase(self) -> str:
        """What it says, in words."""

    @cached_property
    def meaning(self) -> str:
        """What it says, as JSON; conditions that say the same are the same."""
        return self.model_dump_json(by_alias=True, exclude_unset=True)


class _AboutField(Condition):
    field: _Path = ""
    """Empty: it is about the whole datapoint."""

    def value(self, x: JsonValue) -> JsonValue | Missing:
        return parse_path(self.field).find(x) if self.field else x

    @property
    def subject_phrase(self) -> str:
        return f"the field {as_json(self.field)}" if self.field else "it"


class _Test(_AboutField):
    """A test of a value. It is pure, and total over JSON values."""

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        value = self.value(x)
        return not isinstance(value, Missing) and self.passes(value)

    @abstractmethod
    def passes(self, value: JsonValue) -> bool:
        """False for every value of a type that the test is not meant for."""


class _CasedTest(_Test):
    case: Literal["exact", "ignore"] = "exact"

    @property
    def any_case(self) -> bool:
        return self.case == "ignore"

    @property
    def case_phrase(self) -> str:
        return " (in any letter case)" if self.any_case else ""

    def cased(self, value: Scalar) -> Any:
        return folded(value) if self.any_case and isinstance(value, str) else value


class _Stands(_CasedTest):
    text: _Text
    verb: ClassVar[str]

    @staticmethod
    @abstractmethod
    def start(text: str, wanted: str) -> int:
        """Where `wanted` stands in `text`, or -1."""

    def passes(self, value: JsonValue) -> bool:
        return isinstance(value, str) and self.start(self.cased(value), self.cased(self.text)) >= 0

    def part(self, text: str) -> str | None:
        start = self.start(self.cased(text), self.cased(self.text))
        return None if self.field or start < 0 else text[start : start + len(self.text)]

    def phrase(self) -> str:
        return f"{self.subject_phrase} {self.verb} {as_json(self.cased(self.text))}{self.case_phrase}"


class Contains(_Stands):
    text: _Text = Field(alias="contains")
    verb = "contains"

    @staticmethod
    def start(text: str, wanted: str) -> int:
        return text.find(wanted)


class Starts(_Stands):
    text: _Text = Field(alias="starts")
    verb = "starts with"

    @staticmethod
    def start(text: str, wanted: str) -> int:
        return 0 if text.startswith(wanted) else -1


class Ends(_Stands):
    text: _Text = Field(alias="ends")
    verb = "ends with"

    @staticmethod
    def start(text: str, wanted: str) -> int:
        return len(text) - len(wanted) if text.endswith(wanted) else -1


class Matches(_CasedTest):
    matches: Annotated[_Text, AfterValidator(_expression)]

    def passes(self, value: JsonValue) -> bool:
        return isinstance(value, str) and first_match(value, self.matches, any_case=self.any_case) is not None

    def part(self, text: str) -> str | None:
        return None if self.field else first_match(text, self.matches, any_case=self.any_case)

    def phrase(self) -> str:
        # Not as JSON, which would double every backslash.
        return f"{self.subject_phrase} matches the regular expression /{self.matches}/{self.case_phrase}"


class In(_CasedTest):
    """Numbers are the same by their value, and true is not 1."""

    values: Annotated[tuple[_Scalar, ...], sized(1, 1000)] = Field(alias="in")

    def passes(self, value: JsonValue) -> bool:
        if isinstance(value, list | dict):
            return False
        found = self.cased(value)
        return any(found == self.cased(one) and isinstance(found, bool) == isinstance(one, bool) for one in self.values)

    def phrase(self) -> str:
        among = "one of " if len(self.values) > 1 else ""
        shown = ", ".join(as_json(self.cased(one)) for one in self.values)
        return f"{self.subject_phrase} is {among}{shown}{self.case_phrase}"


class Equals(In):
    values: Annotated[tuple[_Scalar, ...], BeforeValidator(lambda value: (value,))] = Field(alias="equals")


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


class NumberTest(_Test):
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


class OccurrenceCount(_CasedTest, NumberTest):
    """How often something occurs in a text compares; False if matches are too many to be counted."""

    count: Annotated[tuple[str, str], BeforeValidator(_counted)]
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


_TYPES: dict[str, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: _TYPES["number"](value) and value % 1 == 0,  # type: ignore[operator]
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


class IsType(_Test):
    type: Literal["string", "number", "integer", "boolean", "array", "object", "null"]

    def passes(self, value: JsonValue) -> bool:
        return _TYPES[self.type](value)

    def phrase(self) -> str:
        return f"{self.subject_phrase} is of the JSON type {self.type}"


class Exists(_AboutField):
    """A field that is null is there."""

    field: _Path
    exists: StrictBool

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        return isinstance(self.value(x), Missing) != self.exists

    def phrase(self) -> str:
        return f"{self.subject_phrase} {'is there' if self.exists else 'is missing'}"


class PlainQuestion(_AboutField):
    """A question in plain language, about the datapoint or a field of it, that holds if a judge says yes."""

    ask: Annotated[str, StringConstraints(min_length=1, max_length=4000)]

    @property
    def questions(self) -> tuple["PlainQuestion", ...]:
        return (self,)

    def subject(self, x: JsonValue) -> JsonValue:
        """What the judge is shown. Raises LookupError if there is no such field."""
        value = self.value(x)
        if not isinstance(value, Missing):
            return value
        raise LookupError(f"there is no field {self.field} to ask about")

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The answer, if it is known; False if there is nothing to ask about."""
        return False if isinstance(self.value(x), Missing) else answers.get(self)

    def open_question(self, x: JsonValue, answers: Answers) -> "PlainQuestion":
        return self

    def phrase(self) -> str:
        about = f", asked about {self.subject_phrase}," if self.field else ""
        return f"the answer to {as_json(self.ask)}{about} is yes"


class _Compound(Condition):
    joined: tuple["AnyCondition", ...]
    saying: ClassVar[str]

    @model_validator(mode="after")
    def _clauses_differ(self) -> "_Compound":
        meanings = [one.meaning for one in self.joined]
        for index, meaning in enumerate(meanings):
            if meaning in meanings[:index]:
                joint = self.keys()[0]
                raise Misplaced(f"this condition stands twice; {joint!r} joins different ones", joint, index)
        return self

    @property
    def clauses(self) -> tuple[Condition, ...]:
        return self.joined

    @property
    def questions(self) -> tuple[PlainQuestion, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(one.questions for one in self.joined)))

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The bit, as far as the clauses that are settled decide it."""
        return self.decided([one.settled(x, answers) for one in self.joined])

    @staticmethod
    @abstractmethod
    def decided(bits: Sequence[bool | None]) -> bool | None:
        """The bit, from those of the clauses in order."""

    def phrase(self) -> str:
        return f"{self.saying}: {'; '.join(f'({one.phrase()})' for one in self.joined)}"


class And(_Compound):
    joined: Annotated[tuple["AnyCondition", ...], sized(2, 50)] = Field(alias="and")
    saying = "all of these hold"

    @staticmethod
    def decided(bits: Sequence[bool | None]) -> bool | None:
        if False in bits:
            return False
        return None if None in bits else True


class Or(_Compound):
    joined: Annotated[tuple["AnyCondition", ...], sized(2, 50)] = Field(alias="or")
    saying = "at least one of these holds"

    @staticmethod
    def decided(bits: Sequence[bool | None]) -> bool | None:
        if True in bits:
            return True
        return None if None in bits else False


class Xor(_Compound):
    joined: Annotated[tuple["AnyCondition", ...], sized(2, 2)] = Field(alias="xor")
    saying = "exactly one of these holds, not both"

    @staticmethod
    def decided(bits: Sequence[bool | None]) -> bool | None:
        return None if None in bits else bits[0] != bits[1]


class Not(Condition):
    """The negated condition does not hold.

    It has one operand only, so it is not opened into that: where the bit is known, the operand's bit is. Its clauses
    are the operand's.
    """

    negated: "AnyCondition" = Field(alias="not")

    @property
    def clauses(self) -> tuple[Condition, ...]:
        return self.negated.clauses

    @property
    def questions(self) -> tuple[PlainQuestion, ...]:
        return self.negated.questions

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        bit = self.negated.settled(x, answers)
        return None if bit is None else not bit

    def open_question(self, x: JsonValue, answers: Answers) -> PlainQuestion:
        return self.negated.open_question(x, answers)

    def part(self, text: str) -> str | None:
        return self.negated.part(text)

    def phrase(self) -> str:
        return f"this does not hold: ({self.negated.phrase()})"


OPERATORS: dict[str, type[Condition]] = {
    "contains": Contains,
    "starts": Starts,
    "ends": Ends,
    "matches": Matches,
    "equals": Equals,
    "in": In,
    "count": OccurrenceCount,
    "length": Length,
    "type": IsType,
    "exists": Exists,
    "ask": PlainQuestion,
    "and": And,
    "or": Or,
    "xor": Xor,
    "not": Not,
    **dict.fromkeys(COMPARISON_WORDS, NumberTest),
}
"""By the key that says what is tested; the first one that stands in a mapping tells."""

TAGGED: Mapping[Location | str, type[RubricPart]] = {f"a {one.__name__}": one for one in OPERATORS.values()}
"""By the tags of the union."""

CONDITION_KEYS = (*OPERATORS, "field", "case")


def _tests_something(value: Any) -> Any:
    if not isinstance(value, dict):
        raise Unfit('should be a condition such as {contains: "word"}')
    for key in value:
        if key not in CONDITION_KEYS:
            raise Misplaced(not_among("key here", key, CONDITION_KEYS), key)
    if _tag(value) is None:
        raise Misplaced(f"nothing is tested here; allowed: {', '.join(OPERATORS)}", at_key=False)
    return value


def _tag(value: Any) -> str | None:
    if isinstance(value, dict):
        return next((f"a {OPERATORS[key].__name__}" for key in OPERATORS if key in value), None)
    return f"a {type(value).__name__}" if isinstance(value, Condition) else None


AnyCondition = Annotated[
    Annotated[Contains, Tag("a Contains")]
    | Annotated[Starts, Tag("a Starts")]
    | Annotated[Ends, Tag("a Ends")]
    | Annotated[Matches, Tag("a Matches")]
    | Annotated[Equals, Tag("a Equals")]
    | Annotated[In, Tag("a In")]
    | Annotated[OccurrenceCount, Tag("a OccurrenceCount")]
    | Annotated[Length, Tag("a Length")]
    | Annotated[IsType, Tag("a IsType")]
    | Annotated[Exists, Tag("a Exists")]
    | Annotated[PlainQuestion, Tag("a PlainQuestion")]
    | Annotated[And, Tag("a And")]
    | Annotated[Or, Tag("a Or")]
    | Annotated[Xor, Tag("a Xor")]
    | Annotated[Not, Tag("a Not")]
    | Annotated[NumberTest, Tag("a NumberTest")],
    Discriminator(_tag),
    BeforeValidator(_tests_something),
]

for _compound in (And, Or, Xor, Not):
    _compound.model_rebuild()
