"""Whether each checker is at work, and what became of the records: as whoever watches Kafka tells the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias


class CheckerStanding(NamedTuple):
    """Whether a checker keeps up with what arrives."""

    checker: str
    state: Literal["runs", "behind", "stopped"]
    """`behind`: more waits than a while ago. `stopped`: something waits, and nothing was finished."""
    waiting: int
    """Messages that it has not finished."""
    since: datetime
    """When something was finished last, or nothing waited."""


class CheckerAccounts(NamedTuple):
    """A checker's records of the last 24 hours, by what became of them."""

    checker: str
    total: Mapping[str, int]
    """The sum of the hours, without their `hour`."""
    hours: Sequence[Mapping[str, object]]
    """`taken_in` and what it is the sum of, by `hour` of arrival, latest first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """All that is known at a moment."""

    away: str | None = None
    """Why Kafka cannot be asked."""
    checkers: Sequence[CheckerStanding] | None = None
    """Those that need somebody first; None before they were looked at."""
    accounts: Sequence[CheckerAccounts] | None = None
    """None before they were counted."""
    counted_at: datetime | None = None

    @property
    def missing(self) -> int:
        """Records that have no answer and no reason."""
        return sum(each.total["missing"] for each in self.accounts or ())


FindStanding: TypeAlias = Callable[[], Standing]
"""Returns at once what is known now."""
