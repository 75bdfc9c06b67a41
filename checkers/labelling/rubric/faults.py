"""What is wrong with a rubric file: every fault names line, column, what stands there and what is allowed."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from checkers.labelling.rubric.source import Location, RubricFault, RubricSource, Scalar, quoted
from schemas import nearest

_SHOWN_FAULTS = 20

_WANTED = {
    "string_type": "should be a text",
    "bool_type": "should be true or false",
    "tuple_type": "should be a list",
    "dict_type": "should be a mapping",
    "model_type": "should be a mapping",
    "string_pattern_mismatch": "should be 1 to 64 letters, digits, hyphens and underscores",
}


class RubricError(ValueError):
    """A rubric that cannot be used. Its text has a line `file:line:column: message` for each fault, in file order."""

    def __init__(self, shown: str, faults: Iterable[RubricFault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        self.line = self.faults[0].place.line
        self.column = self.faults[0].place.column
        lines = [f"{shown}:{one.place.line}:{one.place.column}: {one.message}" for one in self.faults[:_SHOWN_FAULTS]]
        if len(self.faults) > _SHOWN_FAULTS:
            lines.append(f"{shown}: {len(self.faults) - _SHOWN_FAULTS} more faults")
        super().__init__("\n".join(lines))


class RubricPart(BaseModel):
    """A mapping of a rubric file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def keys(cls) -> list[str]:
        """The keys that it may have, its own before inherited ones."""
        names = sorted(cls.model_fields, key=lambda name: name not in cls.__annotations__)
        return [cls.model_fields[name].alias or name for name in names]


class Unfit(ValueError):
    """A value that is not what is wanted: `should be a number`. The message adds its key and what stands there."""


class Misplaced(ValueError):
    """A fault at the key that `path`, within the value that is validated, ends with; or at the value of that key."""

    def __init__(self, message: str, *path: str | int, at_key: bool = True) -> None:
        super().__init__(message)
        self.path = path
        self.at_key = at_key


def faults_of(
    error: ValidationError, source: RubricSource, models: Mapping[Location | str, type[RubricPart]]
) -> Iterator[RubricFault]:
    """The faults that validation found in `source`.

    `models` has the members of discriminated unions by their tags, which occur in pydantic's locations and not in the
    file, and all others by their location.
    """
    for one in error.errors(include_url=False):
        tags = [str(step) for step in one["loc"] if step in models]
        path: Location = tuple(step for step in one["loc"] if step not in models and step != "[key]")
        # What is missing has no place of its own.
        spot = source.spots.get(path) or source.spots[path[:-1]]
        raised = one.get("ctx", {}).get("error")
        if isinstance(raised, Misplaced):
            spot = source.spots[(*path, *raised.path)]
            yield RubricFault(spot.key if raised.at_key else spot.value, str(raised))
        elif one["type"] == "extra_forbidden":
            head, *others = models[tags[-1] if tags else path[:-1]].keys()
            beside, allowed = (f"key beside {head!r}", others) if tags else ("key here", [head, *others])
            yield RubricFault(spot.key, not_among(beside, str(path[-1]), allowed))
        elif one["type"] == "missing":
            yield RubricFault(spot.value, f"{path[-1]!r} is missing")
        else:
            yield RubricFault(
                spot.key if one["loc"][-1:] == ("[key]",) else spot.value, _message(one, path, spot.shown)
            )


def not_among(what: str, word: str, allowed: Sequence[str]) -> str:
    """That `word` is no `what`, what is allowed, and which of it may have been meant."""
    near = nearest(word, allowed)
    meant = f"did you mean {near}? " if near else ""
    return f"{quoted(word)} is no {what}; {meant}allowed: {', '.join(allowed) or 'none'}"


def as_json(value: Scalar) -> str:
    """A word as JSON has it, on one line; texts in double quotes, whole."""
    return json.dumps(value, ensure_ascii=False)


def _message(error: ErrorDetails, path: Location, shown: str) -> str:
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    value = error["input"]
    wanted = _WANTED.get(error["type"]) or re.sub("^(Value error,|String|Input) ", "", error["msg"])
    if error["type"] == "literal_error" and isinstance(value, str):
        return not_among(f"value of {key!r}", value, re.findall(r"'([^']*)'", wanted))
    quotes = "; put it in quotes" if error["type"] == "string_type" and isinstance(value, bool | int | float) else ""
    if error["loc"][-1:] == ("[key]",):
        return f"the name {key!r} {wanted}"
    return f"{key!r} {wanted}, not {shown}{quotes}" if key else f"a rubric {wanted}, not {shown}"
