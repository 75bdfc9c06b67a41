"""What a condition is, before it has a name as a criterion: about a datapoint or a field of it, a test or a question.

A test of what is not there does not hold, nor does one of a value of another type: nothing is guessed or converted.
"""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import JsonValue, StringConstraints

from checkers.labelling.rubric.faults import RubricPart, as_json
from checkers.labelling.rubric.fields import FieldPath
from checkers.labelling.rubric.judge import CriterionJudge
from checkers.labelling.rubric.matching import folded
from checkers.labelling.rubric.paths import Missing, parse_path
from checkers.labelling.rubric.source import Scalar

Answers: TypeAlias = Mapping["PlainQuestion", bool]
"""What a judge has said about one datapoint."""

NO_ANSWERS: Answers = MappingProxyType({})


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


class AboutField(Condition):
    field: FieldPath = ""
    """Empty: it is about the whole datapoint."""

    def value(self, x: JsonValue) -> JsonValue | Missing:
        return parse_path(self.field).find(x) if self.field else x

    @property
    def subject_phrase(self) -> str:
        return f"the field {as_json(self.field)}" if self.field else "it"


class PlainQuestion(AboutField):
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


class ValueTest(AboutField):
    """A test of a value. It is pure, and total over JSON values."""

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        value = self.value(x)
        return not isinstance(value, Missing) and self.passes(value)

    @abstractmethod
    def passes(self, value: JsonValue) -> bool:
        """False for every value of a type that the test is not meant for."""


class CasedTest(ValueTest):
    case: Literal["exact", "ignore"] = "exact"

    @property
    def any_case(self) -> bool:
        return self.case == "ignore"

    @property
    def case_phrase(self) -> str:
        return " (in any letter case)" if self.any_case else ""

    def cased(self, value: Scalar) -> Any:
        return folded(value) if self.any_case and isinstance(value, str) else value
