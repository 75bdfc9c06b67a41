"""The success rate that is expected of the next verdict: given or learned, by the hour, and after the one before.

**Learned.** With A accepts among the n verdicts of a slot (one of the cycle's hours or days, or all of time), the next
is expected to be an accept with Laplace's probability (1 + A) / (2 + n). If the true rate p of each slot was drawn
evenly from 0 to 1 and stays, that is the probability of an accept given all verdicts before. A bet at those odds is
fair, so a test against this baseline is one of the null hypothesis "no slot's rate changed" with the rates integrated
out: a Bayes factor whose denominator is a beta mixture, and a test martingale under that mixture. Ville's inequality
bounds false alarms on the average over the rates; that no single rate does worse is checked by simulation. What was
learned and what is seen are weighed against each other as two samples, so learning n verdicts costs about what a second
sample of n costs. A lower bound of the rate, tested against as if it were known, adds up both uncertainties and costs
several times that.

**After the one before.** Verdicts may come in runs. With a lag-one autocorrelation of r, a stationary chain at rate b
accepts after an accept with b + r (1 - b), after a reject with b - r b: rejects in a row are then less of a surprise.
The estimate of r is used with a margin to the safe side each way: as long as it is no clear sign of correlation, the
baseline is never above b, and what is promised of verdicts that are accepts with at least b *given all before* stays
exact. Where r is clearly above 0 the promise is one of a model: a chain whose next verdict depends on the last, with r
estimated.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias, assert_never

from pydantic import BaseModel, ConfigDict, Field

Cycle: TypeAlias = Literal["hour_of_day", "day_of_week", "hour_of_week"]

SLOTS: Final[Mapping[Cycle | None, int]] = {None: 1, "hour_of_day": 24, "day_of_week": 7, "hour_of_week": 168}
"""Slots of a cycle; each has a rate of its own."""

FEWEST: Final = 10
"""Verdicts of a slot before it is bet on: the odds of a few are far from any rate."""

FIRST_LOOK: Final = 32
"""Verdicts from which the autocorrelation is estimated first."""

LOOKS_GROW: Final = 1.5
"""It is estimated anew when so many times as many were seen."""

MARGIN_BELOW: Final = 3.0
"""Standard errors that an autocorrelation must be above 0 to raise the rate after an accept."""

EARLY: Final = 5.0
"""1 / (EARLY + squared deviations) is added to it for the rate after a reject: 0.2 before anything is known, and little
once there were some tens of rejects. Less does not keep the bound at an autocorrelation of 0.3."""

HIGHEST: Final = 0.95
"""At 1 a reject after a reject would be no evidence at all."""

COIN: Final = 0.25
"""A verdict's highest variance, added to what was seen: the products of a few rejects are no correlation."""


def slot_of(moment: datetime, cycle: Cycle | None) -> int:
    """The slot of a moment in UTC. Weeks begin on Monday."""
    match cycle:
        case None:
            return 0
        case "hour_of_day":
            return moment.hour
        case "day_of_week":
            return moment.weekday()
        case "hour_of_week":
            return 24 * moment.weekday() + moment.hour
        case _:
            assert_never(cycle)


class _Products(BaseModel):
    """Sums over neighbouring verdicts' deviations from what was expected of each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdicts: int = Field(default=0, ge=0)
    products: float = 0.0
    squares: float = Field(default=0.0, ge=0)


_Count = Annotated[int, Field(ge=0)]


class BaselineState(BaseModel):
    """Statistics of the verdicts of a series."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    verdicts: tuple[_Count, ...]
    """By slot."""
    accepted: tuple[_Count, ...]
    """By slot."""
    before: bool | None
    """True if the last verdict was an accept; None if there was none."""
    deviation: float | None
    """The last verdict less its expected rate; None if the next one is no neighbour of it."""
    seen: _Products
    kept: _Products
    """The products at the last look."""
    used: _Products
    """The products at the look before that: a drop is not taken for correlation while it is young."""


class Baseline:
    """The expected rate of the next verdict of one series.

    Ask `rate` and `conditional` before a verdict, and give it to `learn` or `follow` after: a baseline must not know
    what it is held against.
    """

    def __init__(
        self, given: Sequence[float] | None, *, slots: int = 1, tolerance: float = 0.0, at_least: int = 50
    ) -> None:
        """Begin with no verdict.

        `given`: the rate of each slot; if None they are learned, and used from `at_least` verdicts on. `tolerance`: by
        how much the rate may be lower without being a drop.

        Raises:
            ValueError: there is not one given rate for each slot.
        """
        if given is not None and len(given) != slots:
            raise ValueError(f"{len(given)} rates are given for {slots} slots")
        self._given = given
        self._tolerance = tolerance
        self._at_least = at_least
        self._total = 0
        self._verdicts = [0] * slots
        self._accepted = [0] * slots
        self._before: bool | None = None
        self._deviation: float | None = None
        self._seen, self._products, self._squares = 0, 0.0, 0.0
        self._kept = self._used = _Products()
        self._after_accept, self._after_reject = _corrections(self._used)

    def rate(self, slot: int) -> float | None:
        """The lowest success rate of that slot that is no drop; None while too little is known."""
        if self._given is not None:
            rate = self._given[slot]
        elif self._total < self._at_least or self._verdicts[slot] < FEWEST:
            return None
        else:
            rate = self._laplace(slot)
        return max(0.0, rate - self._tolerance)

    def conditional(self, rate: float, *, flipped: bool = False) -> float:
        """`rate` given the verdict before; `flipped`: `rate` is one of rejects, as for a recovery."""
        if self._before is None:
            return rate
        if self._before is not flipped:
            return rate + self._after_accept * (1 - rate)
        return rate * (1 - self._after_reject)

    @property
    def autocorrelation(self) -> float:
        """The estimate for neighbouring verdicts: 0 before enough of them were seen."""
        return _autocorrelation(self._used)

    def learn(self, accepted: bool, slot: int) -> None:
        """Count a verdict."""
        deviation = accepted - self._laplace(slot) if self._verdicts[slot] >= 2 * FEWEST else None
        if deviation is not None and self._deviation is not None:
            self._seen += 1
            self._products += deviation * self._deviation
            self._squares += deviation * deviation
            if self._seen >= max(FIRST_LOOK, LOOKS_GROW * self._kept.verdicts):
                self._used = self._kept
                self._kept = _Products(verdicts=self._seen, products=self._products, squares=self._squares)
                self._after_accept, self._after_reject = _corrections(self._used)
        self._deviation = deviation
        self._before = accepted
        self._total += 1
        self._verdicts[slot] += 1
        self._accepted[slot] += accepted

    def follow(self, accepted: bool) -> None:
        """Learn nothing from a verdict but that it is the one before the next."""
        self._before = accepted
        self._deviation = None

    def state(self) -> BaselineState:
        return BaselineState(
            verdicts=tuple(self._verdicts),
            accepted=tuple(self._accepted),
            before=self._before,
            deviation=self._deviation,
            seen=_Products(verdicts=self._seen, products=self._products, squares=self._squares),
            kept=self._kept,
            used=self._used,
        )

    def restore(self, state: BaselineState) -> None:
        """Go on, to the last bit, where `state` was taken.

        Raises:
            ValueError: it is one of another number of slots, or has more accepts than verdicts.
        """
        slots = len(self._verdicts)
        if not len(state.verdicts) == len(state.accepted) == slots:
            raise ValueError(f"the state has {len(state.verdicts)} slots, not {slots}")
        if any(map(operator.gt, state.accepted, state.verdicts)):
            raise ValueError("the state has a slot with more accepts than verdicts")
        self._verdicts, self._accepted = [*state.verdicts], [*state.accepted]
        self._total = sum(state.verdicts)
        self._before, self._deviation = state.before, state.deviation
        self._seen, self._products, self._squares = state.seen.verdicts, state.seen.products, state.seen.squares
        self._kept, self._used = state.kept, state.used
        self._after_accept, self._after_reject = _corrections(self._used)

    def _laplace(self, slot: int) -> float:
        return (1 + self._accepted[slot]) / (2 + self._verdicts[slot])


def _autocorrelation(seen: _Products) -> float:
    return seen.products / (seen.squares + COIN)


def _corrections(seen: _Products) -> tuple[float, float]:
    """The autocorrelation to be used after an accept, and after a reject."""
    estimate = _autocorrelation(seen)
    below = estimate - MARGIN_BELOW / math.sqrt(max(1, seen.verdicts))
    above = estimate + 1 / (EARLY + seen.squares)
    return min(HIGHEST, max(0.0, below)), min(HIGHEST, max(0.0, above))
