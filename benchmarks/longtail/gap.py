"""How soon the gap between head and tail shows a drop in the tail, and how often chance shows one.

Head and tail are answered right with the same probability for 400 probes, then the tail falls; answers are independent
of each other, and the seeds are fixed. After each probe from there on the interval is looked at: that of 95% which is
exposed, and that of 99.9% which the alert asks for. Runs go side by side in numpy; that they agree with `GapWindow` is
checked first.
"""

import numpy as np
import numpy.typing as npt

from benchmarks.running import CannotRun
from benchmarks.tables import table
from checkers.longtail.probe_metrics import WINDOW, GapWindow

_Z = 1.96
_ALERT = 1.68
"""As many times the exposed interval's reach as deploy/prometheus/rules/probes.yml asks for."""

_SOON = 2 * WINDOW
"""Probes within which a drop should show."""

_LONG = 4000
_LEVELS = (0.95, 0.9, 0.8, 0.7)
_DROPS = (0.05, 0.1, 0.15, 0.2)

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]

_SHOWN = 0.9
"""Share of drops of ten points from 0.95 that should show within 400 probes."""


def run(runs: int) -> bool:
    """Simulate and print; False if drops of ten points show too seldom."""
    _check_agreement()
    print(f"Gap above its interval after a drop of the tail, {runs:,} runs each\n")
    rows, kept = [], True
    for level in _LEVELS:
        for drop in _DROPS:
            gap, lower = _simulated(level, level - drop, _SOON, runs)
            shown = _first(lower > 0)
            alerted = _first(gap - _ALERT * (gap - lower) > 0)
            rows.append([f"{level:.2f}", f"{drop * 100:.0f}", *_told(shown, _SOON), _share(alerted, _SOON)])
            if (level, drop) == (0.95, 0.1):
                kept = bool((shown <= _SOON).mean() >= _SHOWN)
    header = ["accuracy before", "drop, points", f"shown within {_SOON} probes", "median probes"]
    print(table([*header, f"alert within {_SOON}"], rows))
    print(f"\nWithout a drop: runs in which the interval is above 0 at any time, {runs:,} runs each\n")
    rows = []
    for level in _LEVELS:
        gap, lower = _simulated(level, level, _LONG, runs)
        shown, alerted = _first(lower > 0), _first(gap - _ALERT * (gap - lower) > 0)
        rows.append(
            [f"{level:.2f}", *(_share(found, within) for found in (shown, alerted) for within in (_SOON, _LONG))]
        )
    print(
        table(
            ["accuracy", *(f"{what} within {within:,}" for what in ("shown", "alert") for within in (_SOON, _LONG))],
            rows,
        )
    )
    return kept


def _simulated(head: float, tail: float, probes: int, runs: int) -> tuple[_Floats, _Floats]:
    """The gap and the lower end of its interval after each pair of probes from the change on, a row a run."""
    draws = np.random.default_rng([round(head * 1000), round(tail * 1000), probes])
    count = WINDOW + probes // 2
    heads = draws.random((runs, count)) < head
    tails = draws.random((runs, count)) < np.where(np.arange(count) < WINDOW, head, tail)
    return _gaps(_accuracy(heads), _accuracy(tails))


def _accuracy(right: _Bools) -> _Floats:
    sums = np.cumsum(right, axis=1, dtype=np.float64)
    found: _Floats = (sums[:, WINDOW:] - sums[:, :-WINDOW]) / WINDOW
    return found


def _gaps(head: _Floats, tail: _Floats) -> tuple[_Floats, _Floats]:
    gap = head - tail
    reach = np.hypot(head - _wilson(head, -1), _wilson(tail, 1) - tail)
    return gap, gap - reach


def _wilson(rate: _Floats, side: int) -> _Floats:
    square = _Z * _Z / WINDOW
    found: _Floats = (rate + square / 2 + side * _Z * np.sqrt(rate * (1 - rate) / WINDOW + square / (4 * WINDOW))) / (
        1 + square
    )
    return found


def _first(beyond: _Bools) -> _Floats:
    """The number of probes until the first of each row, infinite if there is none."""
    return np.where(beyond.any(axis=1), 2.0 * (beyond.argmax(axis=1) + 1), np.inf)


def _told(first: _Floats, within: int) -> list[str]:
    median = float(np.median(first))
    return [_share(first, within), f"{median:.0f}" if np.isfinite(median) else "-"]


def _share(first: _Floats, within: int) -> str:
    return f"{(first <= within).mean():.1%}"


def _check_agreement() -> None:
    """Raise CannotRun unless the figures here are those of `GapWindow`."""
    draws = np.random.default_rng(1)
    heads, tails = (draws.random((1, WINDOW + 50)) < rate for rate in (0.9, 0.8))
    gaps, lowers = _gaps(_accuracy(heads), _accuracy(tails))
    window = GapWindow()
    for number in range(WINDOW + 50):
        for side, right in (("head", heads), ("tail", tails)):
            window.add(side, f"{side}{number}", bool(right[0, number]))
        if number >= WINDOW:
            found = window.gap
            here = (gaps[0, number - WINDOW], lowers[0, number - WINDOW])
            if found is None or not np.allclose(found[:2], here):
                raise CannotRun(f"GapWindow has {found} after {number} pairs, the simulation {here}")
