"""Paths into structured data: `customer.orders[0]."list price"`."""

import json
import re
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

_MAX_STEPS = 20
# A name without dots, brackets and quotes; any name in quotes, written as a JSON string; or a place in a list.
_STEP = re.compile(r'(?P<dot>\.?)(?:(?P<name>[^.\[\]"]+)|(?P<quoted>"(?:[^"\\]|\\.)*"))|\[(?P<index>[0-9]{1,9})\]')


class Missing:
    """What stands at a path that leads nowhere."""


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Path:
    """Names and, for lists, places from 0 on."""

    steps: tuple[str | int, ...]

    def find(self, x: JsonValue) -> JsonValue | Missing:
        """What stands there in `x`, or MISSING."""
        found = x
        for step in self.steps:
            if isinstance(step, str):
                if not isinstance(found, dict) or step not in found:
                    return MISSING
                found = found[step]
            else:
                if not isinstance(found, list) or step >= len(found):
                    return MISSING
                found = found[step]
        return found

    def __str__(self) -> str:
        shown = ""
        for step in self.steps:
            if isinstance(step, int):
                shown += f"[{step}]"
            else:
                plain = not set(step) & set('.[]"')
                shown += ("." if shown else "") + (step if plain else json.dumps(step, ensure_ascii=False))
        return shown


def parse_path(text: str) -> Path:
    """A path from its notation.

    Raises:
        ValueError: it has none of the allowed forms; the message says from which character on.
    """
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        # Names have a dot between them, and neither the first one nor a place in a list has one before it.
        if found is None or (found["index"] is None and (found["dot"] == "") != (position == 0)):
            raise ValueError(f'from character {position + 1} on; allowed are a.b, a[0] and a."any name"')
        steps.append(_step(found))
        position = found.end()
    if not 0 < len(steps) <= _MAX_STEPS:
        raise ValueError(f"with {len(steps)} steps; allowed are 1 to {_MAX_STEPS}")
    return Path(tuple(steps))


def _step(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["quoted"] is not None:
        name: str = json.loads(found["quoted"], strict=False)
        name.encode()  # half a surrogate pair is a ValueError
        return name
    return found["name"]
