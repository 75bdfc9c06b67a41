"""Values that a rubric file gives to its conditions: what each may be, and what is said of others."""

from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator, StringConstraints

from checkers.labelling.rubric.faults import Misplaced, Unfit
from checkers.labelling.rubric.matching import compiled
from checkers.labelling.rubric.paths import parse_path
from checkers.labelling.rubric.source import Scalar

_MAX_TEXT = 1000


def number(value: Any) -> int | float:
    """`value`, if it is a number; true and false are none. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit("should be a number")
    return value


def number_or_parity(value: Any) -> int | float | str:
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


def expression(text: str) -> str:
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


def counted_as(value: Any) -> tuple[str, str]:
    way, counted = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("text", value)
    known = {"word", "matches"} if isinstance(value, dict) else {"text"}
    if way not in known or not isinstance(counted, str) or not 0 < len(counted) <= _MAX_TEXT:
        raise Unfit(f"should be a text of 1 to {_MAX_TEXT} characters, {{word: TEXT}} or {{matches: EXPRESSION}}")
    return way, expression(counted) if way == "matches" else counted


Number = Annotated[int | float, PlainValidator(number)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=_MAX_TEXT)]
FieldPath = Annotated[Text, AfterValidator(_path)]
ScalarValue = Annotated[Scalar, PlainValidator(_scalar)]
