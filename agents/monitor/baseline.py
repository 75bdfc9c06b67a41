"""The success rate that is expected of the next verdict: given or learned, by the hour of the week, less allowances.

**Learned.** With A accepts among the n verdicts so far, the next is expected to be an accept with Laplace's probability
(1 + A) / (2 + n). If the true rate was drawn evenly from 0 to 1 and stays, a bet at those odds is fair, so a test
against this baseline is a test martingale under that mixture. Ville's inequality bounds false alarms on the average
over the rates; that no single rate does worse is checked by simulation.

**By the hour.** What the hours of the day, the days of the week and the hours of the week differ by is estimated from
the days that are over, each shrunk towards 0 by how much of the differences chance explains (an empirical Bayes
estimate by moments). A given rate is only lowered by it: the promise is no alarm above it.

**Allowances.** Where neighbouring batches of some 50 verdicts lie farther apart than chance explains, each verdict
counts for a share of its evidence alone. Where days do so, and a day has too many verdicts for that to help, less is
expected of all. Both leave the test as valid as it was. That they suffice is estimated, not proved, by simulation.
"""

import math
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

WEEK: Final = 168
LEARN_AT_LEAST: Final = 50  # Verdicts before a learned baseline is used.
HOURS_FROM: Final = 3  # Days that must be over before hours of the day differ: one day alone may have dropped.
TWICE: Final = 14  # Days after which every hour of the week was there twice; up to then a day raises no expectation.
BATCH: Final = 50
SHORT_PRIOR: Final = 30
SHORT_KEPT: Final = 300
DAYS_PRIOR: Final = 1
DAYS_KEPT: Final = 28

GAIN: Final = 4.0  # Evidence counts for 1 / (1 + GAIN * excess): an estimate of the excess may be too low.
CLEAR: Final = 0.1  # The excess of batches up to which they count as independent.
CLEAR_DAYS: Final = 0.4
WINDOW: Final = 300  # Verdicts in which a drop of ten points is found. A day with more of them can drop by itself.
STRAYS: Final = 5.0  # Standard errors that a day may stray; independent verdicts need as many for an alarm.
MOST: Final = 0.1  # Days that differ by more are reported.
FIRST_WEEK: Final = 4.0  # Days that the first week counts for, as its days may belong to the week's profile.
FARTHEST: Final = 25  # Times as far apart as pairs were so far that a pair counts at most: one may be an incident.

_LEAST_VARIANCE: Final = 1e-9

Floats = NDArray[np.float64]

_STORED: Final = ConfigDict(extra="forbid", allow_inf_nan=False)


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
    """The mean deviation of each group, where chance does not explain it; `fitted`: groups that say nothing more."""
    means = deviations / np.maximum(1, verdicts)
    free = np.maximum(0, (verdicts > 0).sum(0) - fitted)
    signal = np.maximum(0, (verdicts * means**2).sum(0) - free * noise) / np.maximum(1, verdicts.sum(0))
    shrunk: Floats = means * signal / np.maximum(_LEAST_VARIANCE, signal + noise / np.maximum(1, verdicts))
    return shrunk


@dataclass(config=_STORED)
class BatchMeans:
    """The variance of neighbouring batches' means in time, as a multiple of that of as many independent verdicts."""

    at_least: int  # Verdicts of a batch.
    prior: float  # Pairs, as of independent verdicts, that are there from the beginning.
    kept: float  # Pairs after which an old one counts for little.
    rises: bool = False  # Let rises alone count, for falls as well, which are as frequent unless the rate drops.
    verdicts: int = 0  # Of the open batch.
    deviation: float = 0.0  # The open batch's accepts less what the hours explain.
    verdicts_before: int = 0
    mean_before: float = 0.0
    squares: float = 0.0  # Squared differences of neighbours' means.
    expected: float = 0.0  # Their average if verdicts were independent.
    pairs: float = 0.0

    def add(self, deviation: float) -> None:
        """Put a verdict into the open batch."""
        self.verdicts += 1
        self.deviation += deviation

    def close(self, variance: float) -> None:
        """End the open batch, if it has verdicts enough; `variance`: of a verdict."""
        if self.verdicts < self.at_least:
            return
        mean = self.deviation / self.verdicts
        if self.verdicts_before:
            weight = 1 / (1 / self.verdicts + 1 / self.verdicts_before)
            rise = mean - self.mean_before
            square = 2 * max(0.0, rise) ** 2 if self.rises else rise**2
            square = min(square * weight, FARTHEST * variance * max(1.0, self.dispersion))
            keep = 1 - 1 / self.kept
            self.squares = keep * self.squares + square * weight
            self.expected = keep * self.expected + variance * weight
            self.pairs = keep * self.pairs + 1
        self.verdicts_before, self.mean_before = self.verdicts, mean
        self.verdicts, self.deviation = 0, 0.0

    def skip(self) -> None:
        """Skip the open batch, and compare none before it with the next."""
        self.verdicts, self.deviation, self.verdicts_before = 0, 0.0, 0

    def discount(self, pairs: float) -> None:
        """Let the pairs so far count for that many at most, and compare no batch before with the next."""
        share = pairs / max(pairs, self.pairs)
        self.squares, self.expected, self.pairs = share * self.squares, share * self.expected, share * self.pairs
        self.skip()

    @property
    def dispersion(self) -> float:
        """The multiple: 1 for independent verdicts."""
        seen = self.squares / self.expected * self.pairs if self.expected else 0.0
        return (seen + self.prior) / (self.pairs * (self.expected > 0) + self.prior)

    @property
    def divisor(self) -> float:
        """What evidence is divided by, as verdicts fail together."""
        return 1 + GAIN * max(0.0, self.dispersion - 1 - CLEAR)

    def size(self, variance: float) -> float:
        """Verdicts that a batch has as a rule; 0 before there is a pair."""
        return 2 * self.expected / (self.pairs * variance) if self.pairs else 0.0


@dataclass(config=_STORED)
class Baseline:
    """The expected rate of the next verdict: set the time with `at`, ask `rate`, then `learn` the verdict."""

    given: float | None  # The rate; if None it is learned, and used from `at_least` verdicts on.
    tolerance: float = 0.0  # By how much the rate may be lower without being a drop.
    at_least: int = LEARN_AT_LEAST
    begun: int | None = None  # The hour of the first verdict, since 1970.
    latest: int = 0  # That of the latest.
    # Verdicts and accepts of the days that are over, by hour of the week.
    week: list[list[int]] = Field(default_factory=lambda: [[0, 0] for _ in range(WEEK)])
    today: list[list[int]] = Field(default_factory=lambda: [[0, 0] for _ in range(24)])
    fitted: tuple[float, float, int] | None = None  # The numbers that the profile was made with.
    short: BatchMeans = Field(default_factory=lambda: BatchMeans(BATCH, SHORT_PRIOR, SHORT_KEPT))
    days: BatchMeans = Field(default_factory=lambda: BatchMeans(1, DAYS_PRIOR, DAYS_KEPT, rises=True))
    weighed: bool = False  # True once the first week counts for less.
    held: float | None = None
    dispersion: float = 1.0  # By what neighbouring verdicts scatter more than independent ones; divides evidence.
    allowance: float = 0.0  # The part by which less is expected, as days differ.

    def __post_init__(self) -> None:
        self._total, self._accepts = map(sum, zip(*self.week, *self.today, strict=True))
        self._offsets = [0.0] * WEEK
        if self.fitted is not None:
            self._fit(self.fitted)

    @property
    def week_seen(self) -> bool:
        """True once a full week has passed since the first verdict."""
        return self.begun is not None and self.latest - self.begun >= WEEK

    def at(self, moment: datetime) -> bool:
        """Go on to that time, which never goes back; whether the first week is over just now."""
        hour = int(moment.timestamp()) // 3600
        if self.begun is None:
            self.begun = self.latest = hour
        if hour <= self.latest:
            return False
        new_week = not self.week_seen
        new_day = hour // 24 > self.latest // 24
        slot, variance = self._slot, self._variance
        self.latest = hour
        self.short.close(variance)
        if new_day:
            self.days.close(variance)
            for own, (verdicts, accepted) in zip(self.week[slot - slot % 24 :], self.today, strict=False):
                own[0] += verdicts
                own[1] += accepted
            self.today = [[0, 0] for _ in range(24)]
            short = self._dispersion(variance)
            self._fit((short, max(short, self.days.dispersion), hour // 24 - self.begun // 24))
            if self.week_seen and not self.weighed:
                self.days.discount(FIRST_WEEK)
                self.weighed = True
        self.dispersion = self._dispersion(variance)
        if new_day and (size := self.days.size(variance)):
            near = self.short.divisor
            strays = math.sqrt(max(0.0, self.days.dispersion - near)) - math.sqrt(near)
            self.allowance = min(MOST, STRAYS * math.sqrt(variance / size) * max(0.0, strays))
        return new_week and self.week_seen

    def rate(self) -> float | None:
        """The lowest success rate of this hour that is not a drop; None while too little is known."""
        offset = self._offsets[self._slot]
        if self.given is not None:
            rate = self.given + min(0.0, offset)
        elif self._total < self.at_least:
            return None
        else:
            rate = (self._laplace if self.held is None else self.held) + offset
        return min(1.0, max(0.0, rate - self.tolerance - self.allowance))

    def learn(self, accepted: bool) -> None:
        """Count a verdict; those of a drop in the first week as well, which may be the week's way."""
        if self.held is not None and self.week_seen:
            return
        self._total += 1
        self._accepts += accepted
        own = self.today[self.latest % 24]
        own[0] += 1
        own[1] += accepted
        deviation = accepted - self._offsets[self._slot]
        self.short.add(deviation)
        if self.held is None:
            self.days.add(deviation)

    def hold(self) -> None:
        """Expect the rate of now until `held` is cleared."""
        self.held = self._laplace
        self.days.skip()

    @property
    def _slot(self) -> int:
        """The hour of the week, from Monday; 1970 began on a Thursday."""
        return (self.latest + 72) % WEEK

    @property
    def _laplace(self) -> float:
        return (1 + self._accepts) / (2 + self._total)

    @property
    def _variance(self) -> float:
        return self._laplace * (1 - self._laplace)

    def _dispersion(self, variance: float) -> float:
        divisor = self.short.divisor
        if self.week_seen and (size := self.days.size(variance)):
            divisor = max(divisor, 1 + GAIN * ((self.days.dispersion - 1) * min(1.0, WINDOW / size) - CLEAR_DAYS))
        return divisor

    def _fit(self, fitted: tuple[float, float, int]) -> None:
        self.fitted = fitted
        verdicts, accepted = np.array(self.week, dtype=float).T.reshape(2, 7, 24)
        self._offsets = profile(verdicts, accepted, *fitted).tolist()
