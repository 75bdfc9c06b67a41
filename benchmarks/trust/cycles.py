"""Success rates that go up and down by the clock or not, with nothing wrong: false alarms, and delays all the same.

Ten verdicts an hour, each independent of the others. A figure is wrong if what the documentation recommends for a
traffic raises more false alarms than promised.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from agents.trust.baseline import SLOTS, Cycle, slot_of
from benchmarks.tables import table
from benchmarks.trust.drops import ERROR_BOUND
from benchmarks.trust.methods import Watchers
from benchmarks.trust.simulation import Delays

_AN_HOUR = 10
_A_WEEK = 168 * _AN_HOUR
_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
_WEEKS = 24
_HORIZON = 3 * _A_WEEK

Rate = Callable[[int], float]


def moment(n: int) -> datetime:
    """When the verdict of that number is made."""
    return _MONDAY + timedelta(hours=n // _AN_HOUR)


def _weekly(n: int) -> float:
    return 0.95 if moment(n).weekday() < 5 else 0.88


def _daily(n: int) -> float:
    return 0.95 if 8 <= moment(n).hour < 20 else 0.85


def _wave(n: int) -> float:
    return 0.9 + 0.05 * math.sin(2 * math.pi * moment(n).hour / 24)


def _blocks(n: int) -> float:
    return 0.95 if n // 500 % 2 == 0 else 0.85


@dataclass(frozen=True, slots=True)
class Case:
    """A traffic, and how it is watched."""

    traffic: str
    rate: Rate
    cycle: Cycle | None = None
    given: Sequence[float] | None = None
    tolerance: float = 0.0
    recommended: bool = True
    drop: float = 0.1

    @property
    def settings(self) -> str:
        """As one writes them."""
        said = []
        if self.given is not None:
            said.append("rate = [...]")
        if self.cycle is not None:
            said.append(f'cycle = "{self.cycle}"')
        if self.tolerance:
            said.append(f"tolerance = {self.tolerance:g}")
        return ", ".join(said) or "none"


_WEEK = "0.95 on weekdays, 0.88 at weekends"
_DAY = "0.95 by day, 0.85 by night"
_WAVES = "a daily wave from 0.85 to 0.95"
_TURNS = "0.95 and 0.85 in turns of 500, not by the clock"

CASES = (
    Case(_WEEK, _weekly, recommended=False),
    Case(_WEEK, _weekly, "hour_of_week"),
    Case(_WEEK, _weekly, "day_of_week"),
    Case(_WEEK, _weekly, "day_of_week", given=(0.95,) * 5 + (0.88,) * 2),
    Case(_WEEK, _weekly, tolerance=0.07, drop=0.2),
    Case(_DAY, _daily, recommended=False),
    Case(_DAY, _daily, "hour_of_day"),
    Case(_DAY, _daily, "hour_of_week"),
    Case(_WAVES, _wave, recommended=False),
    Case(_WAVES, _wave, "hour_of_day"),
    Case(_TURNS, _blocks, recommended=False),
    Case(_TURNS, _blocks, tolerance=0.05, recommended=False, drop=0.2),
    Case(_TURNS, _blocks, tolerance=0.1, drop=0.2),
)


def run(streams: int) -> bool:
    """Simulate and print; whether the bounds are kept."""
    kept, rows = True, []
    for number, case in enumerate(CASES):
        source = np.random.default_rng([5, number])
        watchers = Watchers(streams, ERROR_BOUND, case.given, slots=SLOTS[case.cycle], tolerance=case.tolerance)
        alarmed = np.zeros(streams, dtype=bool)
        delays = []
        for n in range(_WEEKS * _A_WEEK):
            alarmed |= watchers.step(source.random(streams) < case.rate(n), slot_of(moment(n), case.cycle))
            if n + 1 in (2 * _A_WEEK, 8 * _A_WEEK):
                delays.append(_delays(case, copy.deepcopy(watchers), ~alarmed, n + 1))
        if case.recommended:
            kept &= alarmed.mean() <= ERROR_BOUND
        found = [str(each) if case.recommended else "" for each in delays]
        rows.append([case.traffic, case.settings, f"{alarmed.mean():.1%}", f"{case.drop * 100:.0f} points", *found])
    print(
        f"Streams of {_WEEKS * _A_WEEK:,} verdicts (24 weeks at {_AN_HOUR} an hour) with a false alarm; promised: 1.0%"
    )
    print(f"Delay in verdicts: mean (90th percentile) of those found within {_HORIZON:,}\n")
    header = ["success rate", "settings", "false alarms", "drop", "delay after 2 weeks", "after 8 weeks"]
    print(table(header, rows))
    return kept


def _delays(case: Case, watchers: Watchers, waiting: np.ndarray, first: int) -> Delays:
    source = np.random.default_rng([6, first])
    found = np.zeros(len(waiting), dtype=int)
    for n in range(first, first + _HORIZON):
        accepted = source.random(len(waiting)) < case.rate(n) - case.drop
        now = watchers.step(accepted, slot_of(moment(n), case.cycle)) & waiting
        found[now] = n - first + 1
        waiting = waiting & ~now
        if not waiting.any():
            break
    return Delays(found[found > 0], int(waiting.sum()))
