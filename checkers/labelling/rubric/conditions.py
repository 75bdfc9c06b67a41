"""All conditions of rubrics: compounds of others, and the choice of the one that a file means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, JsonValue

from checkers.labelling.rubric.condition import NO_ANSWERS, Answers, Condition, Exists, PlainQuestion
from checkers.labelling.rubric.reading import not_among, sized, tag, union_of
from checkers.labelling.rubric.value_tests import Equals, In, IsType, Length, NumberTest, OccurrenceCount, TextTest

if TYPE_CHECKING:
    AnyCondition: TypeAlias = Condition


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
