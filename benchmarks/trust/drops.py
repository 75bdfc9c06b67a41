"""The drop test's delays and false alarms: simulated verdicts, fixed seeds.

A good model accepts 0.9, each verdict independent of the others, ten an hour. The baseline is configured, or learned.

The streams run side by side in numpy; that the recursion agrees with the program's `Watch` is checked first.

A figure is wrong if there are more false alarms than promised, or if a drop takes a learned baseline more than twice as
long as a configured one, from 1,000 verdicts on for 20 points, 3,000 for 10 and 50,000 for 5.
"""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.cli.common import CannotRun
from benchmarks.tables import table
from benchmarks.trust.methods import Verdicts, Watchers, check_agreement
from checkers.intervals import wilson

GOOD = 0.9
DROPS = (0.05, 0.1, 0.2)
AFTER = (200, 1000, 3000, 10_000, 50_000)
"""Good verdicts before the drop."""
AN_HOUR = 10
HORIZON = 20_000
"""Verdicts after a drop; not found within them is missed."""

ERROR_BOUND = 0.01
"""The promised probability that a stream ever has a false alarm."""

OF_CONFIGURED = 2.0
"""The delay of a learned baseline, at most, as a multiple of a configured one's."""

_LEARNED_FROM = {0.05: 50_000, 0.1: 3000, 0.2: 1000}
"""By drop: the verdicts from which that holds. After fewer the verdicts learned do not hold enough evidence."""

CONFIGURED, LEARNED = "configured", "learned"

_MISSED = 0.02
"""Share of drops not found within the horizon, at most."""


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
"""By drop and moment, and by baseline."""


def run(streams: int, verdicts: int) -> bool:
    """Simulate and print; whether the bounds are kept."""
    if verdicts < max(AFTER):
        raise CannotRun(f"--verdicts must be {max(AFTER)} or more, the moment of the latest drop")
    check_agreement()
    baselines = {CONFIGURED: Watchers(streams, ERROR_BOUND, GOOD), LEARNED: Watchers(streams, ERROR_BOUND)}
    alarms, delays = simulate(baselines, streams, verdicts)
    kept = _print_false_alarms(alarms, streams, verdicts)
    return _print_delays(delays) and kept


def _print_false_alarms(alarms: Mapping[str, int], streams: int, verdicts: int) -> bool:
    print(f"False alarms: streams of {verdicts:,} verdicts at {GOOD} with at least one\n")
    rows = []
    for name, count in alarms.items():
        low, high = wilson(count, streams)
        share = [f"{count / streams:.1%}", f"{low:.1%} to {high:.1%}", f"{ERROR_BOUND:.1%}"]
        rows.append([name, f"{count} of {streams:,}", *share])
    print(table(["baseline", "streams", "share", "95% interval", "promised"], rows))
    return all(count <= ERROR_BOUND * streams for count in alarms.values())


def _print_delays(delays: DelayTable) -> bool:
    print(f"\nDelay in verdicts: mean (90th percentile) of those found within {HORIZON:,}\n")
    rows, kept = [], True
    for (drop, after), by_baseline in sorted(delays.items()):
        configured, learned = by_baseline[CONFIGURED], by_baseline[LEARNED]
        times = learned.mean / configured.mean
        if after >= _LEARNED_FROM[drop]:
            kept &= times <= OF_CONFIGURED and learned.missed <= _MISSED * (learned.missed + len(learned.found))
        rows.append([f"{drop * 100:.0f} points", f"{after:,}", str(configured), str(learned), f"{times:.2f}"])
    print(table(["drop", "after", CONFIGURED, LEARNED, "learned / configured"], rows))
    print(f"\nbounds: learned / configured at most {OF_CONFIGURED},")
    print(f"and at most {_MISSED:.0%} missed, from 1,000 verdicts on for 20 points, 3,000 for 10, 50,000 for 5")
    return kept


def simulate(watchers: Mapping[str, Watchers], streams: int, verdicts: int) -> tuple[dict[str, int], DelayTable]:
    """Streams with a false alarm by baseline, and the delays. An alarm before the drop leaves a stream out."""
    alarmed = {name: np.zeros(streams, dtype=bool) for name in watchers}
    delays: dict[tuple[float, int], dict[str, Delays]] = {}
    good = np.random.default_rng(1)
    for n in range(1, verdicts + 1):
        accepted = good.random(streams) < GOOD
        for name, each in watchers.items():
            alarmed[name] |= each.step(accepted, n // AN_HOUR)
        if n in AFTER:
            counted = {name: ~which for name, which in alarmed.items()}
            for drop in DROPS:
                source = np.random.default_rng([2, n, round(drop * 100)])
                delays[drop, n] = _after_a_drop(copy.deepcopy(dict(watchers)), counted, drop, n, source)
    return {name: int(which.sum()) for name, which in alarmed.items()}, delays


def _after_a_drop(
    watchers: dict[str, Watchers], counted: Mapping[str, Verdicts], drop: float, after: int, source: np.random.Generator
) -> dict[str, Delays]:
    waiting = {name: which.copy() for name, which in counted.items()}
    found = {name: np.zeros(len(which), dtype=int) for name, which in counted.items()}
    streams = len(next(iter(counted.values())))
    for n in range(1, HORIZON + 1):
        accepted = source.random(streams) < GOOD - drop
        for name in [name for name, which in waiting.items() if which.any()]:
            now = watchers[name].step(accepted, (after + n) // AN_HOUR) & waiting[name]
            found[name][now] = n
            waiting[name] &= ~now
        if not any(which.any() for which in waiting.values()):
            break
    return {name: Delays(found[name][found[name] > 0], int(waiting[name].sum())) for name in watchers}
