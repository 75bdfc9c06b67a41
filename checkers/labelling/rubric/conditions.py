"""Conditions: what a criterion says of a datapoint, before it has a name.

A test of what is not there does not hold, nor does one of a value of another type: nothing is guessed or converted.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from pydantic import JsonValue

from checkers.labelling.rubric.asking import Asking
from checkers.labelling.rubric.faults import as_json
from checkers.labelling.rubric.paths import Missing, Path
from checkers.labelling.rubric.values import Test

Answers: TypeAlias = Mapping["Asked", bool]
"""What a judge has said about one datapoint."""

NO_ANSWERS: Answers = MappingProxyType({})


class Condition(ABC):
    """A function from datapoints to a bit."""

    __slots__ = ()

    @property
    def clauses(self) -> tuple["Condition", ...]:
        """What a compound condition is made of; none for a simple one."""
        return ()

    @property
    def questions(self) -> tuple["Asked", ...]:
        """What a judge must answer before all bits, of the clauses too, are known."""
        return ()

    @abstractmethod
    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The bit, where it follows without a judge or from `answers`; None where it does not."""

    async def holds(self, x: JsonValue, asking: Asking) -> bool:
        """The bit. A judge is asked only what it turns on, one question after the other.

        Raises what `asking` raises.
        """
        answers: dict[Asked, bool] = {}
        while (bit := self.settled(x, answers)) is None:
            question = self.open_question(x, answers)
            answers[question] = await asking.bit(question.text, question.subject(x))
        return bit

    def open_question(self, x: JsonValue, answers: Answers) -> "Asked":
        """The first question that the bit turns on, where it is not settled."""
        return next(one for one in self.clauses if one.settled(x, answers) is None).open_question(x, answers)

    def part(self, text: str) -> str | None:
        """The part of a text that makes a simple condition hold; None where it does not hold or looks at the whole."""
        return None

    @abstractmethod
    def phrase(self) -> str:
        """What it says, in words."""

    @property
    @abstractmethod
    def meaning(self) -> JsonValue:
        """All that it depends on; conditions that mean the same are the same."""


@dataclass(frozen=True, slots=True)
class Rule(Condition):
    """A test of the datapoint, or of what stands at a path in it."""

    test: Test
    path: Path | None = None

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        """Whether there is a value and it passes."""
        value = x if self.path is None else self.path.find(x)
        return not isinstance(value, Missing) and self.test.holds(value)

    def part(self, text: str) -> str | None:
        """The part that the test looks at; a text has no fields."""
        return self.test.part(text) if self.path is None else None

    def phrase(self) -> str:
        """What the test says of the datapoint or field."""
        return self.test.phrase(_subject(self.path))

    @property
    def meaning(self) -> JsonValue:
        """The path and the test's meaning."""
        return ["rule", _steps(self.path), self.test.meaning]


@dataclass(frozen=True, slots=True)
class Exists(Condition):
    """Whether a path leads anywhere; a field that is null is there."""

    path: Path
    wanted: bool = True

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        """Whether it does, or does not where that is wanted."""
        return isinstance(self.path.find(x), Missing) != self.wanted

    def phrase(self) -> str:
        """Such as `the field "a.b" is there`."""
        return f"{_subject(self.path)} {'is there' if self.wanted else 'is missing'}"

    @property
    def meaning(self) -> JsonValue:
        """The path, and what is wanted."""
        return ["exists", _steps(self.path), self.wanted]


@dataclass(frozen=True, slots=True)
class Asked(Condition):
    """A question in plain language, about the datapoint or a field of it, that holds where a judge says yes."""

    text: str
    path: Path | None = None

    @property
    def questions(self) -> tuple["Asked", ...]:
        """This one."""
        return (self,)

    def subject(self, x: JsonValue) -> JsonValue:
        """What the judge is shown; only where there is something."""
        value = x if self.path is None else self.path.find(x)
        if not isinstance(value, Missing):
            return value
        raise LookupError(f"there is no field {self.path} to ask about")

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The answer, where it is known; False where there is nothing to ask about."""
        if self.path is not None and isinstance(self.path.find(x), Missing):
            return False
        return answers.get(self)

    def open_question(self, x: JsonValue, answers: Answers) -> "Asked":
        """This one."""
        return self

    def phrase(self) -> str:
        """The question, and what it is about."""
        about = "" if self.path is None else f", asked about {_subject(self.path)},"
        return f"the answer to {as_json(self.text)}{about} is yes"

    @property
    def meaning(self) -> JsonValue:
        """The path and the question."""
        return ["ask", _steps(self.path), self.text]


def _subject(path: Path | None) -> str:
    return "it" if path is None else f"the field {as_json(str(path))}"


def _steps(path: Path | None) -> JsonValue:
    return None if path is None else list(path.steps)
