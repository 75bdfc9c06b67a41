"""Whether the true rate fell, and which of three it is: the model, the judge or the traffic, or a judge that is blind.

Three bets, each with the same bound on ever raising a false alarm: that the true rate is below its bound, that the
judge's success rate is below what it was, and, once that one has fallen, that the true rate is above its bound.

A round's term has the mean of the rate, given all before it, and is at most `highest`, which is known before it. Then

    1 + c (bound - term) / (highest - bound),  0 < c < 1

is positive and has a mean of at most 1 while the rate is at least the bound: a bet against that at fair odds
(Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS-B 86, 2024). Most of the capital
is staked on the first round, the rest bit by bit on later ones, so that a fall is found that begins late: the capital
on the table and in reserve together is a nonnegative supermartingale that starts at 1. By Ville's inequality the
capital ever reaches 1/error with a probability of at most `error`.
"""

import math
from typing import Final, TypeAlias

from pydantic import BaseModel, Field

from agents.monitor.drop_test import weight_left
from agents.monitor.true_rate import STORED
from checkers.intervals import wilson
from schemas.labels import TrueRateCause

_SHARES: Final = (0.02, 0.05, 0.12, 0.3, 0.6)  # c: small ones find small falls, large ones large falls soon.
_FIRST: Final = 0.9  # Staked on the first round.
ERROR: Final = 0.01  # The probability that a rate which never falls below the bound ever raises the alarm.
_PLAYED_FOR: Final = 0.007  # Less, as the shares of outcomes that the terms depend on are only nearly known.
LEARNED_AT: Final = 100  # Labels after which the bound and the judge's success rate are learned.
_TOLERANCE: Final = 0.01  # By how much the judge's success rate may be below the interval of what it was.

Terms: TypeAlias = tuple[float, float, float, float]
"""The worth of a label for the bet on the true rate, fixed when its verdict was drawn: if bad, if good, and the least
and the most that any label drawn then could be worth."""


class Bet(BaseModel):
    """The capital of each size of bet, of a common 1 at the start."""

    model_config = STORED

    rounds: int = Field(default=0, ge=0)
    capital: tuple[float, ...] = (0.0,) * len(_SHARES)

    def place(self, term: float, highest: float, bound: float) -> None:
        """Play a round; none is played where no term could be above the bound, and none after the alarm."""
        if highest <= bound or self.alarm:
            return
        self.rounds += 1
        stake = (_reserve(self.rounds - 1) - _reserve(self.rounds)) / len(_SHARES)
        odds = (bound - term) / (highest - bound)
        self.capital = tuple(
            (each + stake) * (1 + share * odds) for each, share in zip(self.capital, _SHARES, strict=True)
        )

    @property
    def evidence(self) -> float:
        """Share of the way to the alarm, by the logarithm: 0 to 1."""
        return min(1.0, max(0.0, math.log(max(1.0, sum(self.capital))) / -math.log(_PLAYED_FOR)))

    @property
    def alarm(self) -> bool:
        return sum(self.capital) >= 1 / _PLAYED_FOR


class RateAlarm(BaseModel):
    """The bets on one series."""

    model_config = STORED

    below: float | None = None  # The rate below which it alarms; None while it is learned.
    judge_below: float | None = None  # The same for the judge's success rate.
    fallen: bool = False  # True from an alarm on the true rate to its recovery.
    rate: Bet = Bet()  # That the true rate is below `below`; while fallen, that it is above.
    judge: Bet = Bet()
    holds: Bet = Bet()  # That the true rate is above `below`, since the judge's fell.

    def learn(self, low: float, accepted: float, verdicts: int) -> None:
        """Take over what is normal: the lower end of the true rate, and the judge's success rate."""
        self.below = low if self.below is None else self.below
        self.judge_below = max(0.0, wilson(accepted * verdicts, verdicts)[0] - _TOLERANCE)

    def verdict(self, *, accepted: bool) -> None:
        """Count what the judge said."""
        if self.judge_below is not None:
            self.judge.place(float(accepted), 1.0, self.judge_below)

    def label(self, good: float, terms: Terms) -> TrueRateCause | None:
        """Count a label; returns what it raises."""
        if self.below is None:
            return None
        if_bad, if_good, lowest, highest = terms
        term = if_bad + good * (if_good - if_bad)
        below, above = (term, highest, self.below), (1 - term, 1 - lowest, 1 - self.below)
        self.rate.place(*(above if self.fallen else below))
        if self.rate.alarm:
            self.fallen, self.rate = not self.fallen, Bet()
            if self.fallen:
                return "model" if self.judge.alarm else "judge_blind"
            self._restart()
            return "recovery"
        if self.judge.alarm and not self.fallen:
            self.holds.place(*above)
            if self.holds.alarm:
                self._restart()
                return "judge_or_traffic"
        return None

    def _restart(self) -> None:
        """Compare the judge with what it is now."""
        self.judge_below, self.judge, self.holds = None, Bet(), Bet()


def _reserve(rounds: int) -> float:
    return (1 - _FIRST) * weight_left(rounds) if rounds else 1.0
