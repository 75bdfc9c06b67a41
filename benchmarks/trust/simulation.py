"""Simulated verdicts, with and without a drop, and when the methods that watch them raise alarms."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.trust.methods import Method, Verdicts

GOOD = 0.9
DROPS = (0.05, 0.1, 0.2)
AFTER = (200, 1000, 3000, 10_000, 50_000)
"""Good verdicts before the drop."""
AN_HOUR = 10
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


def simulate(methods: Mapping[str, Method], streams: int, verdicts: int) -> tuple[dict[str, int], DelayTable]:
    """Streams with a false alarm by method, and the delays. An alarm before the drop leaves a stream out."""
    alarmed = {name: np.zeros(streams, dtype=bool) for name in methods}
    delays: dict[tuple[float, int], dict[str, Delays]] = {}
    for n, accepted in enumerate(islice(independent(GOOD)(np.random.default_rng(1), streams), verdicts), start=1):
        for name, method in methods.items():
            alarmed[name] |= method.step(accepted, n // AN_HOUR)
        if n in AFTER:
            counted = {
                name: np.full(streams, True) if method.passes else ~alarmed[name] for name, method in methods.items()
            }
            for drop in DROPS:
                source = np.random.default_rng([2, n, round(drop * 100)])
                delays[drop, n] = _after_a_drop(copy.deepcopy(dict(methods)), counted, drop, n, source)
    return {name: int(which.sum()) for name, which in alarmed.items()}, delays


def _after_a_drop(
    methods: dict[str, Method], counted: Mapping[str, Verdicts], drop: float, after: int, source: np.random.Generator
) -> dict[str, Delays]:
    waiting = {name: which.copy() for name, which in counted.items()}
    found = {name: np.zeros(len(which), dtype=int) for name, which in counted.items()}
    streams = len(next(iter(counted.values())))
    for n, accepted in enumerate(islice(independent(GOOD - drop)(source, streams), HORIZON), start=1):
        for name in [name for name, which in waiting.items() if which.any()]:
            now = methods[name].step(accepted, (after + n) // AN_HOUR) & waiting[name]
            found[name][now] = n
            waiting[name] &= ~now
        if not any(which.any() for which in waiting.values()):
            break
    return {name: Delays(found[name][found[name] > 0], int(waiting[name].sum())) for name in methods}
