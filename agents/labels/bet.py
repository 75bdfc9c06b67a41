"""A bet after every label that a rate is below a bound: exact, at every look, wherever the fall begins.

A round's term has the mean of the rate, given all before it, and is at most `highest`, which is known before it. Then

    1 + c (bound - term) / (highest - bound),  0 < c < 1

is positive and has a mean of at most 1 while the rate is at least the bound: a bet against that at fair odds
(Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS-B 86, 2024). Most of the capital
is staked on the first round, the rest bit by bit on later ones, so that a fall is found that begins late: the capital
on the table and in reserve together is a nonnegative supermartingale that starts at 1. By Ville's inequality the
capital ever reaches 1/error with a probability of at most `error`.
"""

import math
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

_SHARES: Final = (0.02, 0.05, 0.12, 0.3, 0.6)
"""c: small ones find small falls, large ones large falls soon."""

_FIRST: Final = 0.9
"""Staked on the first round."""

_EARLY: Final = 100
"""Rounds before this one get about the same of the rest each, later ones ever less."""

ERROR: Final = 0.01
"""The probability that a rate which never falls below the bound ever raises the alarm. The bet is for less, as the
shares of outcomes that the terms rest on are only nearly known."""
_PLAYED_FOR: Final = 0.007


class Bet(BaseModel):
    """The capital of each size of bet, of a common 1 at the start."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

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


def _reserve(rounds: int) -> float:
    if not rounds:
        return 1.0
    return (1 - _FIRST) * math.log(_EARLY) / math.log(_EARLY + rounds)
