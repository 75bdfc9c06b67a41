"""Simulated verdicts, with and without a drop, and when the methods that watch them raise alarms."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.trust.methods import Method, Verdicts

GOOD = 0.9
DROPS = (0.05, 0.1, 0.2)
AFTER = (200, 1000, 3000, 10_000, 50_000)
"""Good verdicts before the drop."""
HORIZON = 20_000
"""Verdicts after a drop; not found within them is missed."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Verdicts from a drop to its alarm."""

    found: NDArray[np.int_]
    missed: int

    @property
    def mean(self) -> float:
        """The mean of those found; NaN where none was."""
        return float(self.found.mean()) if len(self.found) else math.nan

    def __str__(self) -> str:
        if not len(self.found):
            return f"all {self.missed} missed"
        cell = f"{self.mean:,.0f} ({np.percentile(self.found, 90):,.0f})"
        return f"{cell}, {self.missed} missed" if self.missed else cell


DelayTable = Mapping[tuple[float, int], Mapping[str, Delays]]
"""By drop and moment, and by method."""

Traffic = Callable[[np.random.Generator, int], Iterator[Verdicts]]


def independent(rate: float) -> Traffic:
    """Each verdict by itself."""

    def verdicts(source: np.random.Generator, streams: int) -> Iterator[Verdicts]:
        while True:
            yield source.random(streams) < rate

    return verdicts


def swinging(low: float, high: float, period: int) -> Traffic:
    """Each verdict by itself, the rate low and high in turns."""

    def verdicts(source: np.random.Generator, streams: int) -> Iterator[Verdicts]:
        while True:
            for rate in (low, high):
                for _ in range(period):
                    yield source.random(streams) < rate

    return verdicts


def repeating(rate: float, share: float) -> Traffic:
    """Each verdict is the one before it again with a probability of `share`, which is the correlation of neighbours."""

    def verdicts(source: np.random.Generator, streams: int) -> Iterator[Verdicts]:
        last = source.random(streams) < rate
        while True:
            yield last
            last = np.where(source.random(streams) < share, last, source.random(streams) < rate)

    return verdicts


def latent(rate: float, memory: float) -> Traffic:
    """A hidden autoregression of order one, with that correlation of neighbours, accepts while it is below a level."""

    def verdicts(source: np.random.Generator, streams: int) -> Iterator[Verdicts]:
        level = NormalDist().inv_cdf(rate)
        hidden = source.standard_normal(streams)
        while True:
            yield hidden < level
            hidden = memory * hidden + math.sqrt(1 - memory**2) * source.standard_normal(streams)

    return verdicts


def batches(rate: float, size: int, share: float) -> Traffic:
    """Batches in which a verdict is with a probability of `share` the batch's fate, and by itself otherwise."""

    def verdicts(source: np.random.Generator, streams: int) -> Iterator[Verdicts]:
        while True:
            fate = source.random(streams) < rate
            for _ in range(size):
                yield np.where(source.random(streams) < share, fate, source.random(streams) < rate)

    return verdicts


def simulate(methods: Mapping[str, Method], streams: int, verdicts: int) -> tuple[dict[str, int], DelayTable]:
    """Streams with a false alarm by method, and the delays. An alarm before the drop leaves a stream out."""
    alarmed = {name: np.zeros(streams, dtype=bool) for name in methods}
    delays: dict[tuple[float, int], dict[str, Delays]] = {}
    for n, accepted in enumerate(islice(independent(GOOD)(np.random.default_rng(1), streams), verdicts), start=1):
        for name, method in methods.items():
            alarmed[name] |= method.step(accepted)
        if n in AFTER:
            counted = {
                name: np.full(streams, True) if method.passes else ~alarmed[name] for name, method in methods.items()
            }
            for drop in DROPS:
                source = np.random.default_rng([2, n, round(drop * 100)])
                delays[drop, n] = _after_a_drop(copy.deepcopy(dict(methods)), counted, drop, source)
    return {name: int(which.sum()) for name, which in alarmed.items()}, delays


def _after_a_drop(
    methods: dict[str, Method], counted: Mapping[str, Verdicts], drop: float, source: np.random.Generator
) -> dict[str, Delays]:
    waiting = {name: which.copy() for name, which in counted.items()}
    found = {name: np.zeros(len(which), dtype=int) for name, which in counted.items()}
    streams = len(next(iter(counted.values())))
    for n, accepted in enumerate(islice(independent(GOOD - drop)(source, streams), HORIZON), start=1):
        for name in [name for name, which in waiting.items() if which.any()]:
            now = methods[name].step(accepted) & waiting[name]
            found[name][now] = n
            waiting[name] &= ~now
        if not any(which.any() for which in waiting.values()):
            break
    return {name: Delays(found[name][found[name] > 0], int(waiting[name].sum())) for name in methods}
