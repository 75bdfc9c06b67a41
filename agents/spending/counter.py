"""The spend of a day as a counter that only grows: each worker adds to its own part, and the parts are added up.

A state-based grow-only counter (Shapiro, Preguiça, Baquero and Zawirski, "A comprehensive study of convergent and
commutative replicated data types", 2011, specification 6): every incarnation of a worker has an entry of its own, an
entry that comes in is merged by maximum, and so neither order nor repeats, nor reading everything again, change a sum.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from schemas import Usage

DAY_LETTERS = len("2026-01-31")
"""A key begins with its day."""


@dataclass(frozen=True, slots=True)
class Spent:
    """An amount spent."""

    calls: int = 0
    tokens: int = 0
    """Read and written."""
    cost: float = 0.0

    @classmethod
    def of(cls, usage: Usage) -> "Spent":
        """The amount of `usage`; negative numbers of a third party's checker count as zero."""
        return cls(
            calls=max(0, usage.calls),
            tokens=max(0, usage.prompt_tokens) + max(0, usage.completion_tokens),
            cost=max(0.0, usage.cost),
        )

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def merged(self, other: "Spent") -> "Spent":
        """The later of two states of one entry."""
        return Spent(max(self.calls, other.calls), max(self.tokens, other.tokens), max(self.cost, other.cost))


_NOTHING = Spent()


class SpendNote(BaseModel):
    """A message on the spending topic: the day's spending of one worker process on one name so far."""

    model_config = ConfigDict(frozen=True)

    day: date
    """In UTC."""
    name: Annotated[str, Field(min_length=1)]
    """The checker or improver."""
    incarnation: Annotated[str, Field(min_length=1)]
    """New with every start of a worker."""
    calls: Annotated[int, Field(ge=0)]
    tokens: Annotated[int, Field(ge=0)]
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    @property
    def key(self) -> bytes:
        """Key of the message: compaction keeps the last message of an entry."""
        return f"{self.day.isoformat()}|{self.name}|{self.incarnation}".encode()

    @property
    def spent(self) -> Spent:
        return Spent(self.calls, self.tokens, self.cost)


class DailySpend:
    """The parts of today, and of tomorrow from workers whose clock is ahead; nothing else is kept.

    Holds one entry a budget and start of a worker that day.
    """

    def __init__(self, names: Collection[str], incarnation: str) -> None:
        """`names` are those with a budget; other spending is not kept."""
        self._names = frozenset(names)
        self._incarnation = incarnation
        self._own: dict[tuple[date, str], Spent] = {}
        self._others: dict[tuple[date, str], dict[str, Spent]] = {}
        self._others_sum: dict[tuple[date, str], Spent] = {}

    def forget_before(self, today: date) -> None:
        for kept in (self._own, self._others, self._others_sum):
            for day, name in [key for key in kept if key[0] < today]:
                del kept[day, name]

    def add(self, today: date, name: str, spent: Spent) -> None:
        self._own[today, name] = self._own.get((today, name), _NOTHING) + spent

    def merge(self, note: SpendNote) -> None:
        """Take in another worker's note."""
        if note.name not in self._names or note.incarnation == self._incarnation:
            return
        parts = self._others.setdefault((note.day, note.name), {})
        parts[note.incarnation] = parts.get(note.incarnation, _NOTHING).merged(note.spent)
        self._others_sum.pop((note.day, note.name), None)

    def total(self, today: date, name: str) -> Spent:
        """Spending of all workers, as far as known here."""
        return self._own.get((today, name), _NOTHING) + self._sum_of_others((today, name))

    def own(self) -> Iterator[SpendNote]:
        """This worker's notes."""
        for (day, name), spent in self._own.items():
            yield SpendNote(
                day=day,
                name=name,
                incarnation=self._incarnation,
                calls=spent.calls,
                tokens=spent.tokens,
                cost=spent.cost,
            )

    def _sum_of_others(self, key: tuple[date, str]) -> Spent:
        found = self._others_sum.get(key)
        if found is None:
            found = self._others_sum[key] = sum(self._others.get(key, {}).values(), _NOTHING)
        return found
