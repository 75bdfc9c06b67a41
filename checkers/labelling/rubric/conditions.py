"""Conditions by the keys of a rubric file, compound ones among them: a class for each operator."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from checkers.labelling.rubric.condition import NO_ANSWERS, Answers, Condition, PlainQuestion
from checkers.labelling.rubric.faults import Misplaced, RubricPart, Unfit, not_among
from checkers.labelling.rubric.fields import sized
from checkers.labelling.rubric.measures import COMPARISON_WORDS, Length, NumberTest, OccurrenceCount
from checkers.labelling.rubric.source import Location
from checkers.labelling.rubric.value_tests import Contains, Ends, Equals, Exists, In, IsType, Matches, Starts


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
