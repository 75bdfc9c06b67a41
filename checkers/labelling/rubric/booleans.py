"""Conditions joined by and, or, xor and not."""

from abc import abstractmethod
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from pydantic import JsonValue

from checkers.labelling.rubric.conditions import NO_ANSWERS, Answers, Asked, Condition


@dataclass(frozen=True, slots=True)
class _Compound(Condition):
    """Two or more conditions joined."""

    joined: tuple[Condition, ...]

    joint: ClassVar[str]

    @property
    def clauses(self) -> tuple[Condition, ...]:
        """The joined conditions."""
        return self.joined

    @property
    def questions(self) -> tuple[Asked, ...]:
        """Those of all clauses."""
        return tuple(dict.fromkeys(chain.from_iterable(one.questions for one in self.joined)))

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The bit, as far as the clauses that are settled decide it."""
        return self._decided([one.settled(x, answers) for one in self.joined])

    @staticmethod
    @abstractmethod
    def _decided(bits: list[bool | None]) -> bool | None:
        """The bit, from those of the clauses in order."""

    @property
    def meaning(self) -> JsonValue:
        """What joins, and the clauses' meanings in order."""
        return [self.joint, *(one.meaning for one in self.joined)]


@dataclass(frozen=True, slots=True)
class And(_Compound):
    """All of them hold."""

    joint = "and"

    @staticmethod
    def _decided(bits: list[bool | None]) -> bool | None:
        if False in bits:
            return False
        return None if None in bits else True

    def phrase(self) -> str:
        """All clauses."""
        return f"all of these hold: {_listed(self.joined)}"


@dataclass(frozen=True, slots=True)
class Or(_Compound):
    """One of them holds, or more."""

    joint = "or"

    @staticmethod
    def _decided(bits: list[bool | None]) -> bool | None:
        if True in bits:
            return True
        return None if None in bits else False

    def phrase(self) -> str:
        """All clauses."""
        return f"at least one of these holds: {_listed(self.joined)}"


@dataclass(frozen=True, slots=True)
class Xor(_Compound):
    """One of two holds, and the other does not."""

    joint = "xor"

    @staticmethod
    def _decided(bits: list[bool | None]) -> bool | None:
        first, second = bits
        return None if first is None or second is None else first != second

    def phrase(self) -> str:
        """Both clauses."""
        return f"exactly one of these holds, not both: {_listed(self.joined)}"


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The negated condition does not hold.

    It has one operand only, so it is not opened into that: where the bit is known, the operand's bit is. Its clauses
    are the operand's.
    """

    negated: Condition

    @property
    def clauses(self) -> tuple[Condition, ...]:
        """Those of the negated condition."""
        return self.negated.clauses

    @property
    def questions(self) -> tuple[Asked, ...]:
        """Those of the negated condition."""
        return self.negated.questions

    def settled(self, x: JsonValue, answers: Answers = NO_ANSWERS) -> bool | None:
        """The other bit."""
        bit = self.negated.settled(x, answers)
        return None if bit is None else not bit

    def open_question(self, x: JsonValue, answers: Answers) -> Asked:
        """That of the negated condition."""
        return self.negated.open_question(x, answers)

    def part(self, text: str) -> str | None:
        """The part that makes the negated condition hold."""
        return self.negated.part(text)

    def phrase(self) -> str:
        """The negated condition, denied."""
        return f"this does not hold: {_listed((self.negated,))}"

    @property
    def meaning(self) -> JsonValue:
        """That it is negated, and what."""
        return ["not", self.negated.meaning]


def _listed(conditions: tuple[Condition, ...]) -> str:
    return "; ".join(f"({one.phrase()})" for one in conditions)
