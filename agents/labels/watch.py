"""Whether the true rate fell, and which of three it is: the model, the judge or the traffic, or a judge that is blind.

Three bets, each with the same bound on ever raising a false alarm: that the true rate is below its bound, that the
judge's success rate is below what it was, and, once that one has fallen, that the true rate is above its bound.
"""

from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from agents.labels.bet import Bet
from checkers.intervals import wilson
from schemas import TrueRateCause

LEARNED_AT: Final = 100
"""Labels after which the bound is learned, where none is configured, and the judge's success rate in any case."""

_TOLERANCE: Final = 0.01
"""By how much the judge's success rate may be below the interval of what it was."""


class Terms(NamedTuple):
    """The worth of a label for the bet on the true rate, fixed when its verdict was drawn."""

    bad: float
    good: float
    lowest: float
    """The least and the most that any label drawn then could be worth."""
    highest: float

    def of(self, good: float) -> float:
        return self.bad + good * (self.good - self.bad)


class Watch(BaseModel):
    """The bets on one series."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    below: float | None = None
    """The rate below which it alarms; None while it is learned."""
    judge_below: float | None = None
    """The same for the judge's success rate."""
    fallen: bool = False
    """True from an alarm on the true rate to its recovery."""
    rate: Bet = Bet()
    """That the true rate is below `below`; while fallen, that it is above."""
    judge: Bet = Bet()
    holds: Bet = Bet()
    """That the true rate is above `below`, since the judge's fell."""

    def learn(self, low: float, accepted: float, verdicts: int) -> None:
        """Take over what is normal: the lower end of the true rate, and the judge's success rate."""
        self.below = low if self.below is None else self.below
        if self.judge_below is None:
            self.judge_below = max(0.0, wilson(accepted * verdicts, verdicts)[0] - _TOLERANCE)

    def verdict(self, *, accepted: bool) -> None:
        """Count what the judge said."""
        if self.judge_below is not None:
            self.judge.place(float(accepted), 1.0, self.judge_below)

    def label(self, good: float, terms: Terms) -> TrueRateCause | None:
        """Count a label; returns what there is to tell."""
        if self.below is None:
            return None
        term, other = terms.of(good), (1 - terms.of(good), 1 - terms.lowest, 1 - self.below)
        if self.fallen:
            self.rate.place(*other)
        else:
            self.rate.place(term, terms.highest, self.below)
        if self.rate.alarm:
            self.fallen = not self.fallen
            self.rate = Bet()
            fell = self.judge.alarm
            if not self.fallen:
                self._anew()
                return "recovery"
            return "unknown" if self.judge_below is None else "model" if fell else "judge_blind"
        if self.judge.alarm and not self.fallen:
            self.holds.place(*other)
            if self.holds.alarm:
                self._anew()
                return "judge_or_traffic"
        return None

    def _anew(self) -> None:
        """Hold the judge against what it is now."""
        self.judge_below, self.judge, self.holds = None, Bet(), Bet()
