"""Conditions: tests of a datapoint or a field of it, questions to a judge, and compounds of both.

A test of what is not there does not hold, nor does one of a value of another type: nothing is guessed or converted.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    JsonValue,
    PlainValidator,
    StrictBool,
    StringConstraints,
    model_validator,
)

from checkers.labelling.rubric.matching import compiled, count_matches, count_words, first_match, folded
from checkers.labelling.rubric.reading import RubricPart, not_among, sized, tag, union_of

Answers: TypeAlias = Mapping["PlainQuestion", bool]
"""A judge's answers about one datapoint."""

if TYPE_CHECKING:
    AnyCondition: TypeAlias = "Condition"

NO_ANSWERS: Answers = MappingProxyType({})

_MISSING = object()
# A name without dots, brackets and quotes; or any name in quotes, written as a JSON string.
_NAME = r'[^.\[\]"]+|"(?:[^"\\]|\\.)*"'
_INDEX = r"\[[0-9]{1,9}\]"
_PATH = re.compile(rf"(?:{_NAME}|{_INDEX})(?:\.(?:{_NAME})|{_INDEX})*")
_STEP = re.compile(rf"{_INDEX}|{_NAME}")


CriterionJudge: TypeAlias = Callable[[str, JsonValue], Awaitable[bool]]
"""Answers a question in plain language about a value: True for yes. Raises ModelError if there is no answer."""


async def no_judge(criterion: str, x: JsonValue) -> bool:
    """Stand for the judge where no criterion is in plain language."""
    raise RuntimeError("a criterion in plain language, where there is no judge")


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


def _path(text: str) -> str:
    with suppress(ValueError):
        if _PATH.fullmatch(text) and _steps(text):
            return text
    raise ValueError('should be a path such as a.b, a[0] or a."any name"')


def _steps(path: str) -> list[str | int]:
    """Names and, for lists, places from 0 on; ValueError for a name in quotes that is no JSON string."""
    return [
        int(one[1:-1]) if one[0] == "[" else json.loads(one, strict=False) if one[0] == '"' else one
        for one in _STEP.findall(path)
    ]


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
Text = Annotated[str, StringConstraints(min_length=1)]
FieldPath = Annotated[Text, AfterValidator(_path)]
Scalar = Annotated[str | int | float | bool | None, PlainValidator(_scalar)]


class Condition(RubricPart):
    """A function from datapoints to a bit."""

    @property
    def operands(self) -> tuple["Condition", ...]:
        """The conditions that it is made of."""
        return ()

    @property
    def clauses(self) -> tuple["Condition", ...]:
        """The conditions that it is opened into in the total rubric; none for a simple one."""
        return self.operands

    @property
    def questions(self) -> tuple["PlainQuestion", ...]:
        """The questions that a judge must answer before all bits, of the clauses too, are known."""
        return tuple(dict.fromkeys(chain.from_iterable(one.questions for one in self.operands)))

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
            answers[question] = await judge(question.ask, question.value(x))
        return bit

    def open_question(self, x: JsonValue, answers: Answers) -> "PlainQuestion":
        """The first question that the bit turns on, if it is not settled."""
        return next(one for one in self.operands if one.settled(x, answers) is None).open_question(x, answers)

    def part(self, text: str) -> str | None:
        """The part of a text that makes a simple condition hold; None if it does not hold or looks at the whole."""
        return None

    @abstractmethod
    def phrase(self) -> str:
        """Put the condition in words."""

    @cached_property
    def meaning(self) -> str:
        """The condition as JSON; conditions that say the same are the same."""
        return self.model_dump_json(by_alias=True, exclude_unset=True)

    def only(self, words: Collection[str]) -> str:
        """The one of `words` that the file gives a value; ValueError if there are more or none."""
        known = type(self).model_fields
        given = [known[name].alias or name for name in known if name in self.model_fields_set]
        chosen = [one for one in given if one in words]
        if len(chosen) != 1:
            raise ValueError(f"one of these keys is needed, not {len(chosen)}: {', '.join(words)}")
        return chosen[0]


class _AboutField(Condition):
    field: FieldPath = ""
    """Empty: it is about the whole datapoint."""

    @cached_property
    def _way(self) -> list[str | int]:
        return _steps(self.field)

    def value(self, x: JsonValue) -> Any:
        """The value that it is about, or _MISSING if there is no such field."""
        found: Any = x
        for step in self._way:
            keys = found if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
            if step not in keys:
                return _MISSING
            found = found[step]
        return found

    @property
    def subject_phrase(self) -> str:
        return f"the field {_as_json(self.field)}" if self.field else "it"


class PlainQuestion(_AboutField):
    """A question in plain language that holds if a judge says yes. Nothing is asked about what is missing."""

    ask: Text

    @property
    def questions(self) -> tuple["PlainQuestion", ...]:
        return (self,)

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        return False if self.value(x) is _MISSING else answers.get(self)

    def open_question(self, x: JsonValue, answers: Answers) -> "PlainQuestion":
        return self

    def phrase(self) -> str:
        about = f", asked about {self.subject_phrase}," if self.field else ""
        return f"the answer to {_as_json(self.ask)}{about} is yes"


class Exists(_AboutField):
    """A field is there, perhaps null, or is not."""

    field: FieldPath
    exists: StrictBool

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        return (self.value(x) is not _MISSING) == self.exists

    def phrase(self) -> str:
        return f"{self.subject_phrase} {'is there' if self.exists else 'is missing'}"


class _ValueTest(_AboutField):
    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        value = self.value(x)
        return value is not _MISSING and self.passes(value)

    @abstractmethod
    def passes(self, value: JsonValue) -> bool:
        """Test a value, purely; False for every value of a type that the test is not meant for."""


class _CasedTest(_ValueTest):
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
        wanted = f"/{self.matches}/" if self.matches else _as_json(self.cased(getattr(self, word)))
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
        shown = ", ".join(_as_json(self.cased(one)) for one in self.values)
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


class IsType(_ValueTest):
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


class NumberTest(_ValueTest):
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
        times = f"the number of times {'the word ' * (way == 'word')}{_as_json(self.cased(counted))}"
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


class _Compound(Condition):
    joined: tuple["AnyCondition", ...]
    saying: ClassVar[str]
    deciding: ClassVar[bool | None]
    """The bit of a clause that decides alone; None if a clause that is open leaves all open."""

    @property
    def operands(self) -> tuple[Condition, ...]:
        return self.joined

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The bit, as far as the clauses that are settled decide it."""
        bits = [one.settled(x, answers) for one in self.joined]
        if self.deciding in bits:
            return self.deciding
        return None if None in bits else self.undecided(bits)

    def undecided(self, bits: Sequence[bool | None]) -> bool:
        """The bit where all clauses are settled, and none decides alone."""
        return not self.deciding

    def phrase(self) -> str:
        return f"{self.saying}: {'; '.join(f'({one.phrase()})' for one in self.joined)}"


def _different(joined: tuple[Condition, ...]) -> tuple[Condition, ...]:
    meanings = [one.meaning for one in joined]
    twice = [index for index, meaning in enumerate(meanings) if meaning in meanings[:index]]
    if twice:
        raise ValueError(f"condition [{twice[0]}] stands twice; different ones are joined")
    return joined


_Joined = Annotated[tuple["AnyCondition", ...], sized(2), AfterValidator(_different)]


class And(_Compound):
    joined: _Joined = Field(alias="and")
    saying = "all of these hold"
    deciding = False


class Or(_Compound):
    joined: _Joined = Field(alias="or")
    saying = "at least one of these holds"
    deciding = True


class Xor(_Compound):
    joined: Annotated[_Joined, sized(2, 2)] = Field(alias="xor")
    saying = "exactly one of these holds, not both"
    deciding = None

    def undecided(self, bits: Sequence[bool | None]) -> bool:
        return bits[0] != bits[1]


class Not(Condition):
    """The negated condition does not hold.

    It has one operand only, so it is not opened into that: where the bit is known, the operand's bit is. Its clauses
    are the operand's.
    """

    negated: "AnyCondition" = Field(alias="not")

    @property
    def operands(self) -> tuple[Condition, ...]:
        return (self.negated,)

    @property
    def clauses(self) -> tuple[Condition, ...]:
        return self.negated.clauses

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        bit = self.negated.settled(x, answers)
        return None if bit is None else not bit

    def part(self, text: str) -> str | None:
        return self.negated.part(text)

    def phrase(self) -> str:
        return f"this does not hold: ({self.negated.phrase()})"


KINDS: tuple[type[Condition], ...] = (
    *(TextTest, Equals, In, OccurrenceCount, Length, IsType, Exists, PlainQuestion, And, Or, Xor, Not, NumberTest),
)
OPERATORS = {key: kind for kind in KINDS for key in kind.keys(own=True) if key != "field"}
"""By the key that says what is tested; the first one that stands in a mapping tells."""


def _tests_something(value: Any) -> Any:
    if not isinstance(value, dict | Condition) or value == {}:
        raise ValueError('should be a condition such as {contains: "word"}')
    if isinstance(value, dict) and not value.keys() & OPERATORS.keys():
        wrong = next((key for key in value if key not in {"field", "case"}), "")
        raise ValueError(not_among("condition", wrong, list(OPERATORS)))
    return value


def _kind(value: Any) -> str:
    return tag(next(OPERATORS[key] for key in OPERATORS if key in value) if isinstance(value, dict) else type(value))


if not TYPE_CHECKING:
    AnyCondition = Annotated[union_of(KINDS), Discriminator(_kind), BeforeValidator(_tests_something)]

for _compound in (And, Or, Xor, Not):
    _compound.model_rebuild()


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
