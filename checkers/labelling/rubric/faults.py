"""What is wrong with a rubric file, and where: every fault names line, column, what stands there, what is allowed."""

import difflib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

_SHOWN_FAULTS = 20
_SHOWN_CHARACTERS = 60

_Params = ParamSpec("_Params")
_ReadT = TypeVar("_ReadT")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file; both counts begin at 1."""

    line: int
    column: int


START = Place(1, 1)
"""Where faults of a file as a whole are reported."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault of a file."""

    place: Place
    message: str


class Refused(Exception):
    """A part of a file that cannot be read. The parts beside it are read all the same, so that all faults are told."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(one.message for one in faults))
        self.faults = faults

    @classmethod
    def at(cls, place: Place, message: str) -> "Refused":
        """For one fault."""
        return cls(Fault(place, message))


class Faults:
    """The faults found so far."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, place: Place, message: str) -> None:
        """Note one more."""
        self.found.append(Fault(place, message))

    def attempt(self, read: Callable[_Params, _ReadT], *args: _Params.args, **kwargs: _Params.kwargs) -> _ReadT | None:
        """What `read` gives, or None where it refuses; why is noted."""
        try:
            return read(*args, **kwargs)
        except Refused as error:
            self.found.extend(error.faults)
            return None


class RubricError(ValueError):
    """A rubric that cannot be used. Its text has a line `file:line:column: message` for each fault, in file order."""

    def __init__(self, shown: str, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        self.line = self.faults[0].place.line
        self.column = self.faults[0].place.column
        lines = [f"{shown}:{one.place.line}:{one.place.column}: {one.message}" for one in self.faults[:_SHOWN_FAULTS]]
        if len(self.faults) > _SHOWN_FAULTS:
            lines.append(f"{shown}: {len(self.faults) - _SHOWN_FAULTS} more faults")
        super().__init__("\n".join(lines))


def place_at(before: str) -> Place:
    """The place behind the text `before`."""
    line = before.count("\n") + 1
    return Place(line, len(before) - before.rfind("\n"))


def as_json(value: str | float | bool | None) -> str:
    """A word as JSON has it, on one line; texts in double quotes, whole."""
    return json.dumps(value, ensure_ascii=False)


def quoted(text: str) -> str:
    """`text` in double quotes on one line, cut where it is long; it can be written to any terminal."""
    cut = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return as_json(cut).encode("utf-8", "replace").decode()


def not_among(what: str, word: str, allowed: Sequence[str]) -> str:
    """That `word` is no `what`, what is allowed, and which of it may have been meant."""
    near = difflib.get_close_matches(word, allowed, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"{quoted(word)} is no {what}; {meant}allowed: {', '.join(allowed)}"
