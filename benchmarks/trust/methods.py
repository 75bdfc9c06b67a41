"""The program's `VersionTest` over many streams at once, with the weights, factors and bounds of the program itself."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from agents.monitor.baseline import (
    BATCH,
    CLEAR,
    CLEAR_DAYS,
    DAYS_KEPT,
    DAYS_PRIOR,
    FARTHEST,
    FIRST_WEEK,
    GAIN,
    LEARN_AT_LEAST,
    MOST,
    SHORT_KEPT,
    SHORT_PRIOR,
    STRAYS,
    WEEK,
    WINDOW,
    Floats,
    profile,
)
from agents.monitor.drop_test import (
    BET_WEIGHTS,
    EARLY_VERDICTS,
    HIGHEST_BASELINE,
    LARGEST_SHARE,
    LOWEST_BASELINE,
    SMALLEST_DROP,
)
from agents.monitor.settings import BaselineEntry
from agents.monitor.trust_series import FIRST_WEEK_COUNTS, Plan, VersionTest

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)

TOLERANCE = BaselineEntry().tolerance

_TINY = 1e-12

Verdicts = NDArray[np.bool_]
"""One a stream, true for accept."""


class DropTests:
    """`DropTest`, many at once, one for each age."""

    def __init__(self, streams: int, error_bound: float) -> None:
        self._alarm_at = 1 / error_bound
        self._weights = np.array(BET_WEIGHTS)
        self._sums = np.zeros((len(self._weights), streams))
        self._climbs = np.ones_like(self._sums)
        self._verdicts = np.zeros(streams, dtype=int)

    @property
    def evidence(self) -> Floats:
        """By stream."""
        return self._weights @ self._sums + _weight_left(self._verdicts)

    def step(self, accepted: Verdicts, baselines: Floats, shares: Floats, known: Verdicts) -> Verdicts:
        """Take a verdict of each stream whose baseline is known; which of them have an alarm now."""
        factors = self._factors(accepted, baselines)
        if (shares < 1).any():
            factors **= shares
        started = _weight_left(self._verdicts) - _weight_left(self._verdicts + 1)
        self._sums = np.where(known, (self._sums + started) * factors, self._sums)
        self._climbs = np.where(known, np.maximum(1, self._climbs) * factors, self._climbs)
        self._verdicts += known
        return known & (self.evidence >= self._alarm_at)

    def begin(self, fresh: Verdicts) -> None:
        """Begin these again."""
        self._sums[:, fresh], self._climbs[:, fresh], self._verdicts[fresh] = 0, 1, 0

    def discount(self, share: float) -> None:
        """As `DropTest.discount`."""
        ratios = np.maximum(1, self._climbs) ** (share - 1)
        self._sums *= ratios
        self._climbs *= ratios

    def _factors(self, accepted: Verdicts, baselines: Floats) -> Floats:
        rates = np.clip(baselines, LOWEST_BASELINE, HIGHEST_BASELINE)
        smallest = np.minimum(SMALLEST_DROP, rates / 2)
        ratio = (LARGEST_SHARE * rates / smallest) ** (1 / (len(self._weights) - 1))
        drops = smallest * ratio ** np.arange(len(self._weights))[:, None]
        factors = np.where(accepted, 1 - drops / rates, 1 + drops / (1 - rates))
        return np.where(baselines < LOWEST_BASELINE, 1.0, factors)


def _weight_left(verdicts: NDArray[np.int_]) -> Floats:
    left: Floats = math.log(EARLY_VERDICTS) / np.log(EARLY_VERDICTS + verdicts)
    return left


class Pairs:
    """`BatchMeans`, many at once."""

    def __init__(self, streams: int, *, at_least: int, prior: float, kept: float, rises: bool = False) -> None:
        self._at_least, self._prior, self._keep, self._rises = at_least, prior, 1 - 1 / kept, rises
        self._open, self._before = np.zeros((2, streams)), np.zeros((2, streams))
        self._sums = np.zeros((3, streams))

    def add(self, deviations: Floats, learns: Verdicts) -> None:
        """Put a verdict of those that learn into the open batches."""
        self._open += np.where(learns, [np.ones_like(deviations), deviations], 0)

    def close(self, variance: Floats) -> None:
        """End those with verdicts enough."""
        ends = self._open[0] >= self._at_least
        verdicts, before = np.maximum(1, self._open[0]), np.maximum(1, self._before[0])
        mean, weight = self._open[1] / verdicts, 1 / (1 / verdicts + 1 / before)
        rise = mean - self._before[1]
        square = 2 * np.maximum(0, rise) ** 2 if self._rises else rise**2
        paired = ends & (self._before[0] > 0)
        square = np.minimum(square * weight, FARTHEST * variance * np.maximum(1, self.dispersion))
        more = np.array([square * weight, variance * weight, np.ones_like(weight)])
        self._sums = np.where(paired, self._keep * self._sums + more, self._sums)
        self._before = np.where(ends, [self._open[0], mean], self._before)
        self._open = np.where(ends, 0, self._open)

    def skip(self, those: Verdicts) -> None:
        """As `BatchMeans.skip`."""
        self._open[:, those] = 0
        self._before[0, those] = 0

    def discount(self, pairs: float) -> None:
        """As `BatchMeans.discount`."""
        self._sums *= pairs / np.maximum(pairs, self._sums[2])
        self.skip(self._open[0] >= 0)

    @property
    def dispersion(self) -> Floats:
        squares, expected, pairs = self._sums
        seen = squares / np.where(expected > 0, expected, 1) * pairs
        multiple: Floats = (seen + self._prior) / (pairs * (expected > 0) + self._prior)
        return multiple

    def size(self, variance: Floats) -> Floats:
        """As `BatchMeans.size`."""
        size: Floats = 2 * self._sums[1] / (np.maximum(_TINY, self._sums[2]) * variance)
        return size


class Watchers:
    """A `VersionTest` for each of many streams whose verdicts come at the same times, with its drops and recoveries."""

    def __init__(
        self, streams: int, error_bound: float, given: float | None = None, *, tolerance: float = TOLERANCE
    ) -> None:
        self.tests = DropTests(streams, error_bound)
        self.dropped = np.zeros(streams, dtype=bool)
        self.dispersion, self.allowance = np.ones(streams), np.zeros(streams)
        self._given, self._tolerance = given, tolerance
        self._seen = np.zeros((2, streams))
        self._week, self._today = np.zeros((2, 7, 24, streams)), np.zeros((2, 24, streams))
        self._offsets = np.zeros((WEEK, streams))
        self._short = Pairs(streams, at_least=BATCH, prior=SHORT_PRIOR, kept=SHORT_KEPT)
        self._days = Pairs(streams, at_least=1, prior=DAYS_PRIOR, kept=DAYS_KEPT, rises=True)
        self._held = np.zeros(streams)
        self._hour = self._begun = -1
        self._week_seen = self._weighed = False

    def step(self, accepted: Verdicts, hour: int = 0) -> Verdicts:
        """Take a verdict of each stream, all within that hour since a Monday; which of them drop now."""
        self._at(hour)
        seen, accepts = self._seen
        laplace = (1 + accepts) / (2 + seen)
        offset = self._offsets[hour % WEEK]
        level = np.where(self.dropped, self._held, laplace)
        expected = level + offset if self._given is None else self._given + np.minimum(0, offset)
        rate = np.clip(expected - self._tolerance - self.allowance, 0, 1)
        tested = np.where(self.dropped, 1 - (rate - np.minimum(SMALLEST_DROP, rate / 2)), rate)
        known = (seen >= LEARN_AT_LEAST) | (self._given is not None)
        alarms = self.tests.step(accepted ^ self.dropped, tested, 1 / self.dispersion, known)
        learns = ~self.dropped | (not self._week_seen)
        drops = alarms & ~self.dropped
        counted = np.array([learns, learns & accepted])
        self._seen += counted
        self._today[:, hour % 24] += counted
        self._held = np.where(drops, (1 + self._seen[1]) / (2 + self._seen[0]), self._held)
        self._short.add(accepted - offset, learns)
        self._days.add(accepted - offset, ~self.dropped)
        self._days.skip(drops)
        self.tests.begin(alarms)
        self.dropped ^= alarms
        return drops

    def _at(self, hour: int) -> None:
        if self._begun < 0:
            self._begun = self._hour = hour
        if hour <= self._hour:
            return
        rate = (1 + self._seen[1]) / (2 + self._seen[0])
        variance, before = rate * (1 - rate), self._hour
        new_day, new_week = hour // 24 > before // 24, not self._week_seen
        self._hour, self._week_seen = hour, hour - self._begun >= WEEK
        self._short.close(variance)
        if new_day:
            self._days.close(variance)
            self._week[:, before // 24 % 7] += self._today
            self._today[:] = 0
            short = self._dispersion(variance)
            days = hour // 24 - self._begun // 24
            self._offsets = profile(self._week[0], self._week[1], short, np.maximum(short, self._days.dispersion), days)
            if self._week_seen and not self._weighed:
                self._days.discount(FIRST_WEEK)
                self._weighed = True
        self.dispersion = self._dispersion(variance)
        size = self._days.size(variance)
        if new_day:
            near = 1 + GAIN * np.maximum(0, self._short.dispersion - 1 - CLEAR)
            strays = np.sqrt(np.maximum(0, self._days.dispersion - near)) - np.sqrt(near)
            spread = np.sqrt(variance / np.maximum(_TINY, size))
            allowed = np.clip(STRAYS * spread * strays, 0, MOST)
            self.allowance = np.where(size > 0, allowed, self.allowance)
        if new_week and self._week_seen:
            self.tests.discount(FIRST_WEEK_COUNTS)

    def _dispersion(self, variance: Floats) -> Floats:
        excess = self._short.dispersion - 1 - CLEAR
        if self._week_seen:
            size = self._days.size(variance)
            days = (self._days.dispersion - 1) * np.minimum(1, WINDOW / np.maximum(_TINY, size)) - CLEAR_DAYS
            excess = np.where(size > 0, np.maximum(excess, days), excess)
        return 1 + GAIN * np.maximum(0, excess)


def check_agreement(streams: int = 3, weeks: float = 2.5, an_hour: int = 20) -> None:
    """Raise an error where the side-by-side recursion and the program differ.

    The traffic has a weekly cycle, days that differ, a drop in the first week and a later one.
    """
    source, hours = np.random.default_rng(3), int(weeks * WEEK)
    for given in (0.9, None):
        many = Watchers(streams, 0.01, given)
        plan = Plan(given, TOLERANCE, 0.01)
        watches, dropped, drops = [VersionTest.begin({}, plan) for _ in range(streams)], [False] * streams, 0
        for hour in range(hours):
            day = hour // 24
            rate = 0.95 - 0.07 * (day % 7 > 4) - 0.3 * (day == 1) * (hour % 24 < 8) - 0.5 * (day == 16)
            for _ in range(an_hour):
                accepted = source.random(streams) < rate
                alarms = many.step(accepted, hour)
                for stream, watch in enumerate(watches):
                    was = dropped[stream]
                    moment = MONDAY + timedelta(hours=hour)
                    if watch.update(bool(accepted[stream]), None, moment, dropped=was):
                        dropped[stream] = not was
                        watch.begin_phase()
                        if not was:
                            watch.baseline.hold()
                    drops += alarms[stream]
                    one, other = watch.test.evidence, many.tests.evidence[stream]
                    same = math.isclose(one, other, rel_tol=1e-6)
                    if not same or dropped[stream] != many.dropped[stream] or alarms[stream] != (dropped[stream] > was):
                        raise RuntimeError(f"hour {hour}: {one}, and {other} here")
        if drops < 2 * streams:
            raise RuntimeError("the drops were not found: nothing was compared at an alarm")
