"""Tests of texts: what stands in them, and where."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from checkers.labelling.rubric.faults import as_json

Where = Literal["contains", "starts", "ends"]

_VERBS: dict[Where, str] = {"contains": "contains", "starts": "starts with", "ends": "ends with"}


@dataclass(frozen=True, slots=True)
class Stands:
    """Whether a text contains another, or starts or ends with it."""

    where: Where
    text: str
    """Folded already where `any_case`."""
    any_case: bool = False

    def holds(self, value: JsonValue) -> bool:
        """Whether it does; False for what is no text."""
        return isinstance(value, str) and self._start(value) >= 0

    def part(self, text: str) -> str | None:
        """The part of `text` that makes it hold, or None."""
        start = self._start(text)
        return None if start < 0 else text[start : start + len(self.text)]

    def _start(self, text: str) -> int:
        if self.any_case:
            text = folded(text)
        if self.where == "contains":
            return text.find(self.text)
        if self.where == "starts":
            return 0 if text.startswith(self.text) else -1
        return len(text) - len(self.text) if text.endswith(self.text) else -1

    def phrase(self, subject: str) -> str:
        """Such as `it starts with "0"`."""
        return f"{subject} {_VERBS[self.where]} {as_json(self.text)}{case_phrase(self.any_case)}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return [self.where, self.text, self.any_case]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """A text to be counted where it stands, one behind the other; as a word, where no letter or digit touches it."""

    text: str
    """Folded already where `any_case`."""
    words: bool = False
    any_case: bool = False

    def count(self, text: str) -> int:
        """How often it occurs."""
        if self.any_case:
            text = folded(text)
        return sum(1 for _ in self._as_word(text)) if self.words else text.count(self.text)

    def _as_word(self, text: str) -> Iterator[int]:
        start = text.find(self.text)
        while start >= 0:
            end = start + len(self.text)
            alone = _is_edge(text[start - 1 : start]) and _is_edge(text[end : end + 1])
            if alone:
                yield start
            start = text.find(self.text, end if alone else start + 1)

    def number_phrase(self, subject: str) -> str:
        """Such as `the number of times "1" occurs in it`."""
        word = "the word " if self.words else ""
        return f"the number of times {word}{as_json(self.text)} occurs in {subject}{case_phrase(self.any_case)}"

    @property
    def meaning(self) -> JsonValue:
        """All that it depends on."""
        return ["word" if self.words else "text", self.text, self.any_case]


def folded(text: str) -> str:
    """`text` without differences of letter case, and of the same length, so that places in it stay what they are."""
    whole = text.casefold()
    return whole if len(whole) == len(text) else "".join(map(_folded_character, text))


def case_phrase(any_case: bool) -> str:
    """What is said of a test that letter case makes no difference to."""
    return " (in any letter case)" if any_case else ""


def _folded_character(character: str) -> str:
    return next((one for one in (character.casefold(), character.lower()) if len(one) == 1), character)


def _is_edge(neighbour: str) -> bool:
    return not neighbour or not (neighbour.isalnum() or neighbour == "_")
