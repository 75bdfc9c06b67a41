"""Conditions: functions from datapoints to bits, simple ones and questions to a judge."""

import json
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeAlias

from pydantic import JsonValue, StrictBool

from checkers.labelling.rubric.field_paths import MISSING, FieldPath, Text, steps_of, value_at
from checkers.labelling.rubric.reading import RubricPart

Answers: TypeAlias = Mapping["PlainQuestion", bool]
"""A judge's answers about one datapoint."""

NO_ANSWERS: Answers = MappingProxyType({})

CriterionJudge: TypeAlias = Callable[[str, JsonValue], Awaitable[bool]]
"""Answers a question in plain language about a value: True for yes. Raises ModelError if there is no answer."""


async def no_judge(criterion: str, x: JsonValue) -> bool:
    """Stand for the judge where no criterion is in plain language."""
    raise RuntimeError("a criterion in plain language, where there is no judge")


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


class AboutField(Condition):
    field: FieldPath = ""
    """Empty: it is about the whole datapoint."""

    @cached_property
    def _way(self) -> list[str | int]:
        return steps_of(self.field)

    def value(self, x: JsonValue) -> Any:
        """The value that it is about, or MISSING if there is no such field."""
        return value_at(x, self._way)

    @property
    def subject_phrase(self) -> str:
        return f"the field {as_json(self.field)}" if self.field else "it"


class PlainQuestion(AboutField):
    """A question in plain language that holds if a judge says yes. Nothing is asked about what is missing."""

    ask: Text

    @property
    def questions(self) -> tuple["PlainQuestion", ...]:
        return (self,)

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        return False if self.value(x) is MISSING else answers.get(self)

    def open_question(self, x: JsonValue, answers: Answers) -> "PlainQuestion":
        return self

    def phrase(self) -> str:
        about = f", asked about {self.subject_phrase}," if self.field else ""
        return f"the answer to {as_json(self.ask)}{about} is yes"


class Exists(AboutField):
    """A field is there, perhaps null, or is not."""

    field: FieldPath
    exists: StrictBool

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        return (self.value(x) is not MISSING) == self.exists

    def phrase(self) -> str:
        return f"{self.subject_phrase} {'is there' if self.exists else 'is missing'}"


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
