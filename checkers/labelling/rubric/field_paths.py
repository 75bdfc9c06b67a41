"""Paths to a field of a datapoint: `a.b`, `a[0]`, `a."any name"`."""

import json
import re
from contextlib import suppress
from typing import Annotated, Any, Final

from pydantic import AfterValidator, StringConstraints

MISSING: Final = object()
"""Stands for the value of a field that is not there."""

# A name without dots, brackets and quotes; or any name in quotes, written as a JSON string.
_NAME = r'[^.\[\]"]+|"(?:[^"\\]|\\.)*"'
_INDEX = r"\[[0-9]{1,9}\]"
_PATH = re.compile(rf"(?:{_NAME}|{_INDEX})(?:\.(?:{_NAME})|{_INDEX})*")
_STEP = re.compile(rf"{_INDEX}|{_NAME}")


def _path(text: str) -> str:
    with suppress(ValueError):
        if _PATH.fullmatch(text) and steps_of(text):
            return text
    raise ValueError('should be a path such as a.b, a[0] or a."any name"')


def steps_of(path: str) -> list[str | int]:
    """Names and, for lists, places from 0 on; ValueError for a name in quotes that is no JSON string."""
    return [
        int(one[1:-1]) if one[0] == "[" else json.loads(one, strict=False) if one[0] == '"' else one
        for one in _STEP.findall(path)
    ]


def value_at(x: Any, steps: list[str | int]) -> Any:
    """The value that the steps lead to, or MISSING if there is no such field."""
    for step in steps:
        keys = x if isinstance(x, dict) else range(len(x)) if isinstance(x, list) else ()
        if step not in keys:
            return MISSING
        x = x[step]
    return x


Text = Annotated[str, StringConstraints(min_length=1)]
FieldPath = Annotated[Text, AfterValidator(_path)]
