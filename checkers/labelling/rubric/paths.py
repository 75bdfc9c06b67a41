"""Paths into structured data: `customer.orders[0]."list price"`."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

_MAX_STEPS = 20
# A name without dots, brackets and quotes; any name in quotes, written as a JSON string; or a place in a list.
_STEP = re.compile(r'(?P<dot>\.?)(?:(?P<name>[^.\[\]"]+)|(?P<quoted>"(?:[^"\\]|\\.)*"))|\[(?P<index>[0-9]{1,9})\]')


class Missing:
    """What stands at a path that leads nowhere."""


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class FieldPath:
    """Names and, for lists, places from 0 on."""

    steps: tuple[str | int, ...]

    def find(self, x: JsonValue) -> JsonValue | Missing:
        """What stands there in `x`, or MISSING."""
        found = x
        for step in self.steps:
            match found:
                case dict() if isinstance(step, str) and step in found:
                    found = found[step]
                case list() if isinstance(step, int) and step < len(found):
                    found = found[step]
                case _:
                    return MISSING
        return found


@lru_cache(maxsize=1024)
def parse_path(text: str) -> FieldPath:
    """A path from its notation.

    Raises:
        ValueError: it has another form, or too many steps.
    """
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        # Names have a dot between them, and neither the first one nor a place in a list has one before it.
        if found is None or (found["index"] is None and (found["dot"] == "") != (position == 0)):
            raise ValueError(f"wrong from character {position + 1} on")
        steps.append(_step(found))
        position = found.end()
    if not 0 < len(steps) <= _MAX_STEPS:
        raise ValueError(f"{len(steps)} steps; allowed are 1 to {_MAX_STEPS}")
    return FieldPath(tuple(steps))


def _step(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["quoted"] is not None:
        name: str = json.loads(found["quoted"], strict=False)
        name.encode()  # half a surrogate pair is a ValueError
        return name
    return found["name"]
