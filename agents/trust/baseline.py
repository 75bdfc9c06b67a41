"""The success rate that is expected of the next verdict: given or learned, by the hour of the week, less allowances.

**Learned.** With A accepts among the n verdicts so far, the next is expected to be an accept with Laplace's probability
(1 + A) / (2 + n). If the true rate was drawn evenly from 0 to 1 and stays, that is the probability of an accept given
all verdicts before. A bet at those odds is fair, so a test against this baseline is one of the null hypothesis "the
rate did not change" with the rate integrated out: a Bayes factor whose denominator is a beta mixture, and a test
martingale under that mixture. Ville's inequality bounds false alarms on the average over the rates; that no single rate
does worse is checked by simulation.

**By the hour.** What the hours of the day, the days of the week and the hours of the week differ by is estimated from
the days that are over, each shrunk towards 0 by how much of the differences chance explains (an empirical Bayes
estimate by moments). A given rate is only lowered by it: whoever gives one is promised no alarm above it.

**Allowances.** Where neighbouring batches of some 50 verdicts lie farther apart than chance explains, verdicts fail
together, and each counts for a share of its evidence alone. Where days do so, and a day has too many verdicts for that
to help, less is expected of all. A share below 1 of a fair bet and a lower rate leave the test as valid as it was. That
they suffice for traffic of some kind is estimated, not proved; the simulation shows for which.
"""

import math
from datetime import UTC, datetime
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from agents.trust.batches import Batches, BatchesState

WEEK: Final = 168

HOURS_FROM: Final = 3
"""Days that must be over before hours of the day are told apart: one day alone may have dropped."""

TWICE: Final = 14
"""Days after which every hour of the week was there twice; up to then a day raises no expectation."""

BATCH: Final = 50
SHORT_PRIOR: Final = 30
SHORT_KEPT: Final = 300
DAYS_PRIOR: Final = 1
DAYS_KEPT: Final = 28

GAIN: Final = 4.0
"""Evidence counts for 1 / (1 + GAIN * excess): an estimate may be too low, and batches of bad luck are not normal."""

CLEAR: Final = 0.1
"""The excess of batches up to which they count as independent."""

CLEAR_DAYS: Final = 0.4

WINDOW: Final = 300
"""Verdicts in which a drop of ten points is found. A day with more of them can drop by itself."""

STRAYS: Final = 5.0
"""Standard errors that a day may stray; a day of independent verdicts needs to, for an alarm of its own."""

MOST: Final = 0.1
"""Days that differ by more are told of."""

FIRST_WEEK: Final = 4.0
"""Days that the first week counts for, as its days may belong to the week's profile."""

_LEAST_VARIANCE: Final = 1e-9

Floats = NDArray[np.float64]

_Count = Annotated[int, Field(ge=0)]


def profile(verdicts: Floats, accepted: Floats, short: float | Floats, long: float | Floats, days: int) -> Floats:
    """The part that each hour of the week accepts beyond the average.

    `verdicts`, `accepted`: by day and hour, and perhaps series. `short`, `long`: by what verdicts, and days, scatter
    more than independent ones. `days`: that are over.
    """
    rate = accepted.sum((0, 1)) / np.maximum(1, verdicts.sum((0, 1)))
    variance = rate * (1 - rate)
    left = accepted - verdicts * rate
    hours = _shrunk(verdicts.sum(0), left.sum(0), short * variance, 1) * (days >= HOURS_FROM)
    left = left - verdicts * hours
    by_day = _shrunk(verdicts.sum(1), left.sum(1), long * variance, 1)
    if days < TWICE:
        by_day = np.minimum(0, by_day)
    left = left - verdicts * by_day[:, None]
    flat = (WEEK, *verdicts.shape[2:])
    rest = _shrunk(verdicts.reshape(flat), left.reshape(flat), short * variance, 30)
    offsets: Floats = (hours[None] + by_day[:, None]).reshape(flat) + rest
    return offsets


def _shrunk(verdicts: Floats, deviations: Floats, noise: float | Floats, fitted: int) -> Floats:
    """The mean deviation of each group, by as much of it as is no chance; `fitted`: groups that say nothing more."""
    means = deviations / np.maximum(1, verdicts)
    free = np.maximum(0, (verdicts > 0).sum(0) - fitted)
    signal = np.maximum(0, (verdicts * means**2).sum(0) - free * noise) / np.maximum(1, verdicts.sum(0))
    shrunk: Floats = means * signal / np.maximum(_LEAST_VARIANCE, signal + noise / np.maximum(1, verdicts))
    return shrunk


class BaselineState(BaseModel):
    """Statistics of the verdicts of a series."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    begun: int | None
    """The hour of the first verdict, since 1970."""
    hour: int
    week: tuple[tuple[_Count, _Count], ...] = Field(min_length=WEEK, max_length=WEEK)
    """Verdicts and accepts of the days that are over, by hour of the week."""
    today: tuple[tuple[_Count, _Count], ...] = Field(min_length=24, max_length=24)
    fitted: tuple[float, float, int] | None
    """The numbers that the profile was made with."""
    short: BatchesState
    days: BatchesState
    weighed: bool
    """True once the first week counts for less."""
    held: float | None
    dispersion: float = Field(ge=1)
    allowance: float = Field(ge=0)


class Baseline:
    """The expected rate of the next verdict of one series.

    Tell it the time with `at`, ask `rate` before a verdict, and give it to `learn` after: a baseline must not know what
    it is held against. `hold` it while the series is dropped.
    """

    def __init__(self, given: float | None, *, tolerance: float = 0.0, at_least: int = 50) -> None:
        """Begin with no verdict.

        `given`: the rate; if None it is learned, and used from `at_least` verdicts on. `tolerance`: by how much the
        rate may be lower without being a drop.
        """
        self._given = given
        self._tolerance = tolerance
        self._at_least = at_least
        self._total = self._accepts = 0
        self._week = [[0, 0] for _ in range(WEEK)]
        self._today = [[0, 0] for _ in range(24)]
        self._offsets = [0.0] * WEEK
        self._fitted: tuple[float, float, int] | None = None
        self._short = Batches(at_least=BATCH, prior=SHORT_PRIOR, kept=SHORT_KEPT)
        self._days = Batches(at_least=1, prior=DAYS_PRIOR, kept=DAYS_KEPT, rises=True)
        self._begun: int | None = None
        self._hour = 0
        self._weighed = False
        self._held: float | None = None
        self.dispersion = 1.0
        """The factor by which neighbouring verdicts scatter more than independent ones; evidence is divided by it."""
        self.allowance = 0.0
        """The part by which less is expected, as days differ."""

    @property
    def week_seen(self) -> bool:
        """True once a full week has passed since the first verdict."""
        return self._begun is not None and self._hour - self._begun >= WEEK

    @property
    def hour(self) -> datetime:
        """The hour of the latest verdict."""
        return datetime.fromtimestamp(3600 * self._hour, UTC)

    def at(self, moment: datetime) -> bool:
        """Go on to that time, which never goes back; whether the first week is over just now."""
        hour = int(moment.timestamp()) // 3600
        if self._begun is None:
            self._begun = self._hour = hour
        if hour <= self._hour:
            return False
        new_week = not self.week_seen
        new_day = hour // 24 > self._hour // 24
        slot, variance = self._slot, self._variance
        self._hour = hour
        self._short.close(variance)
        if new_day:
            self._days.close(variance)
            for own, (verdicts, accepted) in zip(self._week[slot - slot % 24 :], self._today, strict=False):
                own[0] += verdicts
                own[1] += accepted
            self._today = [[0, 0] for _ in range(24)]
            short = self._dispersion(variance)
            self._fit((short, max(short, self._days.dispersion), hour // 24 - self._begun // 24))
            if self.week_seen and not self._weighed:
                self._days.discount(FIRST_WEEK)
                self._weighed = True
        self.dispersion = self._dispersion(variance)
        if new_day and (size := self._days.size(variance)):
            near = 1 + GAIN * max(0.0, self._short.dispersion - 1 - CLEAR)
            strays = math.sqrt(max(0.0, self._days.dispersion - near)) - math.sqrt(near)
            self.allowance = min(MOST, STRAYS * math.sqrt(variance / size) * max(0.0, strays))
        return new_week and self.week_seen

    def rate(self) -> float | None:
        """The lowest success rate of this hour that is no drop; None while too little is known."""
        offset = self._offsets[self._slot]
        if self._given is not None:
            rate = self._given + min(0.0, offset)
        elif self._total < self._at_least:
            return None
        else:
            rate = (self._laplace if self._held is None else self._held) + offset
        return min(1.0, max(0.0, rate - self._tolerance - self.allowance))

    def learn(self, accepted: bool) -> None:
        """Count a verdict; those of a drop in the first week as well, which may be the week's way."""
        if self._held is not None and self.week_seen:
            return
        self._total += 1
        self._accepts += accepted
        own = self._today[self._hour % 24]
        own[0] += 1
        own[1] += accepted
        deviation = accepted - self._offsets[self._slot]
        self._short.add(deviation)
        if self._held is None:
            self._days.add(deviation)

    def hold(self) -> None:
        """Expect the rate of now until `release`."""
        self._held = self._laplace
        self._days.skip()

    def release(self) -> None:
        self._held = None

    def state(self) -> BaselineState:
        return BaselineState(
            begun=self._begun,
            hour=self._hour,
            week=tuple((verdicts, accepted) for verdicts, accepted in self._week),
            today=tuple((verdicts, accepted) for verdicts, accepted in self._today),
            fitted=self._fitted,
            short=self._short.state.model_copy(),
            days=self._days.state.model_copy(),
            weighed=self._weighed,
            held=self._held,
            dispersion=self.dispersion,
            allowance=self.allowance,
        )

    def restore(self, state: BaselineState) -> None:
        """Go on, to the last bit, where `state` was taken.

        Raises:
            ValueError: it has more accepts than verdicts.
        """
        if any(accepted > verdicts for verdicts, accepted in (*state.week, *state.today)):
            raise ValueError("the state has an hour with more accepts than verdicts")
        self._week, self._today = [[*each] for each in state.week], [[*each] for each in state.today]
        self._total = sum(verdicts for verdicts, _ in (*state.week, *state.today))
        self._accepts = sum(accepted for _, accepted in (*state.week, *state.today))
        self._begun, self._hour = state.begun, state.hour
        self._short.state, self._days.state = state.short.model_copy(), state.days.model_copy()
        self._weighed, self._held = state.weighed, state.held
        self.dispersion, self.allowance = state.dispersion, state.allowance
        if state.fitted is not None:
            self._fit(state.fitted)

    @property
    def _slot(self) -> int:
        """The hour of the week, from Monday; 1970 began on a Thursday."""
        return (self._hour + 72) % WEEK

    @property
    def _laplace(self) -> float:
        return (1 + self._accepts) / (2 + self._total)

    @property
    def _variance(self) -> float:
        return self._laplace * (1 - self._laplace)

    def _dispersion(self, variance: float) -> float:
        excess = self._short.dispersion - 1 - CLEAR
        if self.week_seen and (size := self._days.size(variance)):
            excess = max(excess, (self._days.dispersion - 1) * min(1.0, WINDOW / size) - CLEAR_DAYS)
        return 1 + GAIN * max(0.0, excess)

    def _fit(self, fitted: tuple[float, float, int]) -> None:
        self._fitted = fitted
        verdicts, accepted = np.array(self._week, dtype=float).T.reshape(2, 7, 24)
        self._offsets = profile(verdicts, accepted, *fitted).tolist()
