"""Ways to find a drop, over many streams at once, with the weights, factors and bounds of the program itself."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.trust.baseline import LearnedBaseline, lower_bound, next_look
from agents.trust.drop_test import DropTest, bet_factors, bet_weights, weight_left

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
    """Whether its alarm goes away by itself, so that one before the drop does not count against finding it."""

    def step(self, accepted: Verdicts) -> Verdicts:
        """Take a verdict of each stream; which of them have an alarm now."""


class DropTests:
    """`DropTest`, many at once."""

    passes = False

    def __init__(self, streams: int, error_bound: float, baseline: float = 0.0) -> None:
        self._alarm_at = 1 / error_bound
        self._weights = np.array(bet_weights(SMALLEST_DROP))
        self._on_accept = np.empty((len(self._weights), streams))
        self._on_reject = np.empty_like(self._on_accept)
        self._sums = np.zeros_like(self._on_accept)
        self._verdicts = 0
        self.evidence = np.ones(streams)
        self.bet_against(range(streams), [baseline] * streams)

    def bet_against(self, streams: Iterable[int], baselines: Sequence[float]) -> None:
        """Take another baseline for some of the streams."""
        for stream, baseline in zip(streams, baselines, strict=True):
            self._on_accept[:, stream], self._on_reject[:, stream] = bet_factors(baseline, SMALLEST_DROP)

    def step(self, accepted: Verdicts) -> Verdicts:
        """See `Method`."""
        left = weight_left(self._verdicts + 1)
        self._sums += weight_left(self._verdicts) - left
        self._sums *= np.where(accepted, self._on_accept, self._on_reject)
        self._verdicts += 1
        self.evidence = self._weights @ self._sums + left
        return self.evidence >= self._alarm_at


class LearnedDropTests:
    """`DropTest` against `LearnedBaseline`, each with half of the error bound, many at once."""

    passes = False

    def __init__(self, streams: int, error_bound: float) -> None:
        self.tests = DropTests(streams, error_bound / 2)
        self.rates = np.zeros(streams)
        self._error_bound = error_bound / 2
        self._accepted = np.zeros(streams, dtype=int)
        self._verdicts = 0
        self._due = _AT_LEAST

    def step(self, accepted: Verdicts) -> Verdicts:
        """See `Method`."""
        alarms = np.zeros(len(accepted), dtype=bool)
        if self._verdicts >= _AT_LEAST:
            alarms = self.tests.step(accepted)
        self._verdicts += 1
        self._accepted += accepted
        if self._verdicts >= self._due:
            self._learn()
        return alarms

    def _learn(self) -> None:
        rates = [
            lower_bound(int(accepted), self._verdicts, self._error_bound, float(rate))
            for accepted, rate in zip(self._accepted, self.rates, strict=True)
        ]
        changed = np.flatnonzero(self.rates != rates)
        self.rates = np.array(rates)
        self.tests.bet_against(changed, [rates[stream] for stream in changed])
        self._due = next_look(self._verdicts)


class Cusums:
    """Page's CUSUM on the lattice of its steps."""

    passes = False

    def __init__(self, streams: int, threshold: int) -> None:
        self._threshold = threshold
        self._values = np.zeros(streams, dtype=int)

    def step(self, accepted: Verdicts) -> Verdicts:
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

    def step(self, accepted: Verdicts) -> Verdicts:
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
    streams, good, bad = 4, 3000, 1000
    source = np.random.default_rng(3)
    seen = np.vstack([source.random((good, streams)) < good_rate, source.random((bad, streams)) < good_rate - 0.2])
    configured, learned = DropTests(streams, error_bound, good_rate), LearnedDropTests(streams, error_bound)
    tests = [DropTest(smallest_drop=SMALLEST_DROP, error_bound=error_bound) for _ in range(streams)]
    learning = [DropTest(smallest_drop=SMALLEST_DROP, error_bound=error_bound / 2) for _ in range(streams)]
    baselines = [LearnedBaseline(error_bound / 2, _AT_LEAST) for _ in range(streams)]
    done = np.zeros((2, streams), dtype=bool)
    for accepted in seen:
        side_by_side = np.array([configured.step(accepted), learned.step(accepted)])
        for stream in range(streams):
            verdict, baseline = bool(accepted[stream]), baselines[stream]
            one_by_one = (
                tests[stream].update(verdict, good_rate),
                baseline.rate is not None and learning[stream].update(verdict, baseline.rate),
            )
            baseline.update(verdict)
            pairs = zip((tests[stream], learning[stream]), (configured, learned.tests), strict=True)
            for which, (one, many) in enumerate(pairs):
                if done[which, stream]:
                    continue
                same = np.isclose(one.evidence, many.evidence[stream], rtol=1e-9, atol=0)
                if not same or one_by_one[which] != side_by_side[which, stream]:
                    raise RuntimeError(f"stream {stream}: {one.evidence} by the program, {many.evidence[stream]} here")
                done[which, stream] = one_by_one[which]
    if not done.all():
        raise RuntimeError("a drop of 20 points was not found: nothing was compared at an alarm")
