"""Ways to find a drop, over many streams at once, with the weights, factors and bounds of the program itself."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.trust.baseline import (
    COIN,
    EARLY,
    FEWEST,
    FIRST_LOOK,
    HIGHEST,
    LOOKS_GROW,
    MARGIN_BELOW,
    Baseline,
)
from agents.trust.drop_test import (
    HIGHEST_BASELINE,
    LARGEST_SHARE,
    LOWEST_BASELINE,
    DropTest,
    bet_weights,
    weight_left,
)

SMALLEST_DROP = 0.05

_AT_LEAST = 50
"""Verdicts before there is a learned baseline."""

_UP, _DOWN = 100, 17
"""The CUSUM's steps for a reject and an accept, as log(0.2/0.1) to -log(0.8/0.9) to a thousandth."""

Verdicts = NDArray[np.bool_]
"""One a stream, true for accept."""


class Method(Protocol):
    """Something that watches many streams at once."""

    passes: bool
    """True if its alarm goes away by itself, so that one before the drop does not count against finding it."""

    def step(self, accepted: Verdicts, slot: int = 0) -> Verdicts:
        """Take a verdict of each stream, all of one slot of their cycle; which of them have an alarm now."""


class DropTests:
    """`DropTest`, many at once."""

    def __init__(self, streams: int, error_bound: float) -> None:
        self._alarm_at = 1 / error_bound
        self._weights = np.array(bet_weights(SMALLEST_DROP))
        self._sums = np.zeros((len(self._weights), streams))
        self._verdicts = 0
        self.evidence = np.ones(streams)

    def step(self, accepted: Verdicts, baselines: NDArray[np.float64]) -> Verdicts:
        """Take a verdict of each stream; which of them have an alarm now."""
        left = weight_left(self._verdicts + 1)
        self._sums += weight_left(self._verdicts) - left
        self._sums *= self._factors(accepted, baselines)
        self._verdicts += 1
        self.evidence = self._weights @ self._sums + left
        return self.evidence >= self._alarm_at

    def _factors(self, accepted: Verdicts, baselines: NDArray[np.float64]) -> NDArray[np.float64]:
        count = len(self._weights)
        rates = np.clip(baselines, LOWEST_BASELINE, HIGHEST_BASELINE)
        smallest = np.minimum(SMALLEST_DROP, rates / 2)
        ratio = (LARGEST_SHARE * rates / smallest) ** (1 / (count - 1))
        drops = smallest * ratio ** np.arange(count)[:, None]
        return np.where(accepted, 1 - drops / rates, 1 + drops / (1 - rates))


class Watchers:
    """`Baseline` and `DropTest` as a `Series` uses them, many at once."""

    passes = False

    def __init__(
        self,
        streams: int,
        error_bound: float,
        given: Sequence[float] | None = None,
        *,
        slots: int = 1,
        tolerance: float = 0.0,
    ) -> None:
        self.tests = DropTests(streams, error_bound)
        self._given = given
        self._tolerance = tolerance
        self._accepted = np.zeros((slots, streams), dtype=int)
        self._verdicts = [0] * slots
        self._before: Verdicts | None = None
        self._deviation: NDArray[np.float64] | None = None
        self._seen = self._kept = self._used = (0, np.zeros(streams), np.zeros(streams))
        self._correct()

    def step(self, accepted: Verdicts, slot: int = 0) -> Verdicts:
        """See `Method`."""
        seen = self._verdicts[slot]
        learned = (1 + self._accepted[slot]) / (2 + seen)
        alarms = np.zeros(len(accepted), dtype=bool)
        if self._given is not None:
            alarms = self._test(accepted, np.full(len(accepted), self._given[slot]))
        elif sum(self._verdicts) >= _AT_LEAST and seen >= FEWEST:
            alarms = self._test(accepted, learned)
        deviation = accepted - learned if seen >= 2 * FEWEST else None
        if deviation is not None and self._deviation is not None:
            count, products, squares = self._seen
            self._seen = (count + 1, products + deviation * self._deviation, squares + deviation * deviation)
            if self._seen[0] >= max(FIRST_LOOK, LOOKS_GROW * self._kept[0]):
                self._used, self._kept = self._kept, self._seen
                self._correct()
        self._deviation = deviation
        self._before = accepted
        self._verdicts[slot] += 1
        self._accepted[slot] += accepted
        return alarms

    @property
    def autocorrelation(self) -> NDArray[np.float64]:
        """As estimated for each stream."""
        _, products, squares = self._used
        return products / (squares + COIN)

    def _correct(self) -> None:
        (count, _, squares), estimate = self._used, self.autocorrelation
        self._after_accept = np.clip(estimate - MARGIN_BELOW / math.sqrt(max(1, count)), 0, HIGHEST)
        self._after_reject = np.clip(estimate + 1 / (EARLY + squares), 0, HIGHEST)

    def _test(self, accepted: Verdicts, expected: NDArray[np.float64]) -> Verdicts:
        rates = np.maximum(0, expected - self._tolerance)
        if self._before is not None:
            rates = np.where(self._before, rates + self._after_accept * (1 - rates), rates * (1 - self._after_reject))
        return self.tests.step(accepted, rates)


class Cusums:
    """Page's CUSUM on the lattice of its steps."""

    passes = False

    def __init__(self, streams: int, threshold: int) -> None:
        self._threshold = threshold
        self._values = np.zeros(streams, dtype=int)

    def step(self, accepted: Verdicts, slot: int = 0) -> Verdicts:
        """See `Method`."""
        self._values = np.maximum(self._values + np.where(accepted, -_DOWN, _UP), 0)
        return self._values >= self._threshold


class Windows:
    """The success rate of the last verdicts, against a fixed threshold."""

    passes = True

    def __init__(self, streams: int, size: int, threshold: float = 0.85) -> None:
        self._seen = np.zeros((size, streams), dtype=bool)
        self._accepted = np.zeros(streams, dtype=int)
        self._least = threshold * size
        self._verdicts = 0

    def step(self, accepted: Verdicts, slot: int = 0) -> Verdicts:
        """See `Method`."""
        size = len(self._seen)
        place = self._verdicts % size
        self._accepted += accepted.astype(int) - self._seen[place]
        self._seen[place] = accepted
        self._verdicts += 1
        # A sum of verdicts on the threshold is not below it, whatever the product was rounded to.
        return (self._accepted < self._least - 1e-9) & (self._verdicts >= size)


def tuned_threshold(good: float, verdicts: int, false_alarms: float) -> int:
    """The least threshold at which a false alarm within so many good verdicts has at most that probability."""
    low, high = 0, 5000
    while high - low > 1:
        middle = (low + high) // 2
        if cusum_false_alarms(middle, good, verdicts) <= false_alarms:
            high = middle
        else:
            low = middle
    return high


def cusum_false_alarms(threshold: int, good: float, verdicts: int) -> float:
    """The probability, by the distribution of the CUSUM's value after each verdict.

    After some thousands of verdicts the distribution keeps its shape, and the same share is lost with each: the rest is
    a power.
    """
    steps = min(verdicts, 5000)
    values, kept, before = np.zeros(max(threshold, _UP) + _DOWN), 1.0, 1.0
    values[0] = 1.0
    for _ in range(steps):
        after = np.zeros_like(values)
        after[: threshold - _DOWN] = good * values[_DOWN:threshold]
        after[0] += good * values[:_DOWN].sum()
        after[_UP:threshold] += (1 - good) * values[: max(0, threshold - _UP)]
        values = after
        before, kept = kept, values.sum()
    return float(1 - kept * (kept / before) ** (verdicts - steps))


def check_agreement(good_rate: float, error_bound: float) -> None:
    """Raise an error where the side-by-side recursion and the program differ, on streams with a drop."""
    streams, good, bad, slots, tolerance = 4, 3000, 1000, 3, 0.01
    source = np.random.default_rng(3)
    seen = np.vstack([source.random((good, streams)) < good_rate, source.random((bad, streams)) < good_rate - 0.25])
    for given in ([good_rate, good_rate - 0.01, good_rate], None):
        many = Watchers(streams, error_bound, given, slots=slots, tolerance=tolerance)
        tests = [DropTest(smallest_drop=SMALLEST_DROP, error_bound=error_bound) for _ in range(streams)]
        baselines = [Baseline(given, slots=slots, tolerance=tolerance, at_least=_AT_LEAST) for _ in range(streams)]
        done = np.zeros(streams, dtype=bool)
        for n, accepted in enumerate(seen):
            slot = n // 100 % slots
            alarms = many.step(accepted, slot)
            for stream, (test, baseline) in enumerate(zip(tests, baselines, strict=True)):
                verdict, rate = bool(accepted[stream]), baseline.rate(slot)
                alarm = rate is not None and test.update(verdict, baseline.conditional(rate))
                baseline.learn(verdict, slot)
                if done[stream]:
                    continue
                same = np.isclose(test.evidence, many.tests.evidence[stream], rtol=1e-9, atol=0)
                if not same or alarm != alarms[stream]:
                    raise RuntimeError(
                        f"stream {stream}: {test.evidence} by the program, {many.tests.evidence[stream]} here"
                    )
                done[stream] = alarm
        if not done.all():
            raise RuntimeError("a drop of 25 points was not found: nothing was compared at an alarm")
