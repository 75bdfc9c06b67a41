"""Traffic in which nothing is wrong, at so many verdicts an hour for eight weeks, with no setting made; then a drop.

A figure is wrong if more streams than promised have a false alarm from the second week on.
"""

import copy
import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from agents.monitor.baseline import WEEK, Floats
from benchmarks.tables import table
from benchmarks.trust.drops import ERROR_BOUND, Delays
from benchmarks.trust.methods import Watchers

_WEEKS = 8
_HORIZON_WEEKS = 2
_DROP = 0.1

Rates: TypeAlias = Iterator[Floats | float]
"""The success rates of all streams, by verdict."""
Traffic: TypeAlias = Callable[[np.random.Generator, int, int], Rates]
"""Makes the rates of so many streams, with so many verdicts an hour."""


def _by_hour(rate: Callable[[int], float]) -> Traffic:
    def rates(source: np.random.Generator, streams: int, an_hour: int) -> Rates:
        hour = 0
        while True:
            yield from [rate(hour)] * an_hour
            hour += 1

    return rates


def _wave(points: float) -> Traffic:
    return _by_hour(lambda hour: 0.92 + points * math.sin(2 * math.pi * hour / 24))


def _days(source: np.random.Generator, streams: int, an_hour: int) -> Rates:
    while True:
        day = np.clip(0.9 + 0.02 * source.standard_normal(streams), 0, 1)
        yield from [day] * (24 * an_hour)


def _sessions(length: int, low: float, high: float) -> Traffic:
    """Spells of that length on average; the rate of a fifth of them is low."""

    def rates(source: np.random.Generator, streams: int, an_hour: int) -> Rates:
        now = np.where(source.random(streams) < 0.2, low, high)
        while True:
            yield now
            another = np.where(source.random(streams) < 0.2, low, high)
            now = np.where(source.random(streams) < 1 / length, another, now)

    return rates


def _batches(source: np.random.Generator, streams: int, an_hour: int) -> Rates:
    while True:
        fate = source.random(streams) < 0.9
        for _ in range(20):
            yield np.where(source.random(streams) < 0.3, fate, 0.9)


CASES: dict[str, Traffic] = {
    "0.9 always": _by_hour(lambda _: 0.9),
    "0.95 on weekdays, 0.88 at weekends": _by_hour(lambda hour: 0.95 if hour // 24 % 7 < 5 else 0.88),
    "a daily wave of 5 points": _wave(0.05),
    "a daily wave of 3 points": _wave(0.03),
    "each day its own rate, sd 2 points": _days,
    "sessions of 3, a fifth 0.62, others 0.97": _sessions(3, 0.62, 0.97),
    "sessions of 5, the same": _sessions(5, 0.62, 0.97),
    "sessions of 10, the same": _sessions(10, 0.62, 0.97),
    "sessions of 30, a fifth 0.8, others 0.925": _sessions(30, 0.8, 0.925),
    "batches of 20, three in ten share a fate": _batches,
}


def run(streams: int) -> bool:
    """Simulate and print; whether the bound is kept."""
    kept, rows = True, []
    for number, (name, traffic) in enumerate(CASES.items()):
        for an_hour in (10, 30, 100) if name.startswith("a daily") else (10, 100):
            source = np.random.default_rng([5, number, an_hour])
            watchers = Watchers(streams, ERROR_BOUND)
            rates = traffic(source, streams, an_hour)
            first, later = np.zeros((2, streams), dtype=bool)
            for hour in range(_WEEKS * WEEK):
                for _ in range(an_hour):
                    drops = watchers.step(source.random(streams) < next(rates), hour)
                    (later if hour >= WEEK else first)[drops] = True
            kept &= later.mean() <= ERROR_BOUND
            found = _delays(copy.deepcopy(watchers), rates, source, an_hour)
            rows.append([name, an_hour, f"{first.mean():.1%}", f"{later.mean():.1%}", str(found)])
    print(
        f"{streams} streams of {_WEEKS} weeks with a false alarm in the first week, whose alerts say that it could be"
    )
    print("the time of day, and from the second week on; delay of a drop of 10 points after these weeks, in verdicts:")
    print(f"mean (90th percentile) of those found within {_HORIZON_WEEKS} weeks\n")
    print(table(["success rate", "verdicts an hour", "first week", "later", "delay"], rows))
    return kept


def _delays(watchers: Watchers, rates: Rates, source: np.random.Generator, an_hour: int) -> Delays:
    waiting = ~watchers.dropped
    found = np.zeros(len(waiting), dtype=int)
    for n in range(_HORIZON_WEEKS * WEEK * an_hour):
        accepted = source.random(len(waiting)) < next(rates) - _DROP
        now = watchers.step(accepted, _WEEKS * WEEK + n // an_hour) & waiting
        found[now] = n + 1
        waiting &= ~now
        if not waiting.any():
            break
    return Delays(found[found > 0], int(waiting.sum()))
