"""Tests of what a value is: its text, whether it is one of some values, its type, and whether a field is there."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, StrictBool

from checkers.labelling.rubric.condition import NO_ANSWERS, AboutField, Answers, CasedTest, ValueTest
from checkers.labelling.rubric.faults import as_json
from checkers.labelling.rubric.fields import FieldPath, ScalarValue, Text, expression, sized
from checkers.labelling.rubric.matching import first_match
from checkers.labelling.rubric.paths import Missing


class _Stands(CasedTest):
    text: Text
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
    text: Text = Field(alias="contains")
    verb = "contains"

    @staticmethod
    def start(text: str, wanted: str) -> int:
        return text.find(wanted)


class Starts(_Stands):
    text: Text = Field(alias="starts")
    verb = "starts with"

    @staticmethod
    def start(text: str, wanted: str) -> int:
        return 0 if text.startswith(wanted) else -1


class Ends(_Stands):
    text: Text = Field(alias="ends")
    verb = "ends with"

    @staticmethod
    def start(text: str, wanted: str) -> int:
        return len(text) - len(wanted) if text.endswith(wanted) else -1


class Matches(CasedTest):
    matches: Annotated[Text, AfterValidator(expression)]

    def passes(self, value: JsonValue) -> bool:
        return isinstance(value, str) and first_match(value, self.matches, any_case=self.any_case) is not None

    def part(self, text: str) -> str | None:
        return None if self.field else first_match(text, self.matches, any_case=self.any_case)

    def phrase(self) -> str:
        # Not as JSON, which would double every backslash.
        return f"{self.subject_phrase} matches the regular expression /{self.matches}/{self.case_phrase}"


class In(CasedTest):
    """Numbers are the same by their value, and true is not 1."""

    values: Annotated[tuple[ScalarValue, ...], sized(1, 1000)] = Field(alias="in")

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
    values: Annotated[tuple[ScalarValue, ...], BeforeValidator(lambda value: (value,))] = Field(alias="equals")


_TYPES: dict[str, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: _TYPES["number"](value) and value % 1 == 0,  # type: ignore[operator]
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


class Exists(AboutField):
    """A field that is null is there."""

    field: FieldPath
    exists: StrictBool

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool:
        return isinstance(self.value(x), Missing) != self.exists

    def phrase(self) -> str:
        return f"{self.subject_phrase} {'is there' if self.exists else 'is missing'}"
