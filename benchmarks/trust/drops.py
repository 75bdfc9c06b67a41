"""The drop test's delays and false alarms: simulated verdicts, fixed seeds.

A good model accepts 0.9, each verdict independent of the others, ten an hour. Beside the drop test, with a configured
and with a learned baseline, stand a rule that fires while the success rate of the last five minutes is below 0.85, at
one and at ten verdicts a second, and a CUSUM that is made for a drop of ten points and tuned to the false alarms that
the test promises: its threshold is computed on the lattice of its values, not found by trial.

The streams run side by side in numpy; that the recursion agrees with the program's `Watch` is checked first.

A figure is wrong if there are more false alarms than promised, if a drop of ten points takes more than twice as long as
with the CUSUM, or if a drop takes a learned baseline more than twice as long as a configured one, from 1,000 verdicts
on for 20 points, 3,000 for 10 and 50,000 for 5.
"""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.running import CannotRun
from benchmarks.tables import table
from benchmarks.trust.methods import (
    Cusums,
    Method,
    Watchers,
    Windows,
    check_agreement,
    cusum_false_alarms,
    tuned_threshold,
)
from benchmarks.trust.picture import draw
from benchmarks.trust.simulation import AFTER, GOOD, HORIZON, DelayTable, simulate
from checkers.intervals import wilson

ERROR_BOUND = 0.01
"""The promised probability that a stream ever has a false alarm."""

OF_THE_CUSUM = 2.0
"""The delay for a drop of ten points, at most, as a multiple of the CUSUM's."""

OF_CONFIGURED = 2.0
"""The delay of a learned baseline, at most, as a multiple of a configured one's."""

_LEARNED_FROM = {0.05: 50_000, 0.1: 3000, 0.2: 1000}
"""By drop: the verdicts from which that holds. After fewer the verdicts learned do not hold enough evidence."""

_MISSED = 0.02
"""Share of drops not found within the horizon, at most."""


def run(streams: int, verdicts: int, pictures: Path) -> bool:
    """Simulate, print, draw; whether the bounds are kept."""
    if verdicts < max(AFTER):
        raise CannotRun(f"--verdicts must be {max(AFTER)} or more, the moment of the latest drop")
    check_agreement()
    threshold = tuned_threshold(GOOD, verdicts, ERROR_BOUND)
    computed = cusum_false_alarms(threshold, GOOD, verdicts)
    print(f"CUSUM: a false alarm within {verdicts:,} verdicts with a computed probability of {computed:.2%}\n")
    methods: dict[str, Method] = {
        "drop test": Watchers(streams, ERROR_BOUND, GOOD),
        "drop test, learned": Watchers(streams, ERROR_BOUND),
        "CUSUM for 10 points": Cusums(streams, threshold),
        "5 min, 1/s": Windows(streams, 300),
        "5 min, 10/s": Windows(streams, 3000),
    }
    alarms, delays = simulate(methods, streams, verdicts)
    kept = _print_false_alarms(alarms, streams, verdicts)
    kept &= _print_delays(delays)
    picture = draw(alarms, delays, streams, ERROR_BOUND, pictures / "drops.svg")
    print(f"\npicture: {picture}")
    return kept


def _print_false_alarms(alarms: Mapping[str, int], streams: int, verdicts: int) -> bool:
    print(f"False alarms: streams of {verdicts:,} verdicts at {GOOD} with at least one\n")
    rows = []
    for name, count in alarms.items():
        low, high = wilson(count, streams)
        promised = f"{ERROR_BOUND:.1%}" if name.startswith(("drop", "CUSUM")) else None
        rows.append([name, f"{count} of {streams:,}", f"{count / streams:.1%}", f"{low:.1%} to {high:.1%}", promised])
    print(table(["method", "streams", "share", "95% interval", "promised or tuned to"], rows))
    return all(count <= ERROR_BOUND * streams for name, count in alarms.items() if name.startswith("drop"))


def _print_delays(delays: DelayTable) -> bool:
    print(f"\nDelay in verdicts: mean (90th percentile) of those found within {HORIZON:,}\n")
    names = list(next(iter(delays.values())))
    rows, kept = [], True
    for (drop, after), by_method in sorted(delays.items()):
        ratio = by_method["drop test"].mean / by_method["CUSUM for 10 points"].mean
        if drop == 0.1:
            kept &= ratio <= OF_THE_CUSUM
        learned = by_method["drop test, learned"]
        times = learned.mean / by_method["drop test"].mean
        if after >= _LEARNED_FROM[drop]:
            kept &= times <= OF_CONFIGURED and learned.missed <= _MISSED * (learned.missed + len(learned.found))
        ratios = [f"{ratio:.2f}", f"{times:.2f}"]
        rows.append([f"{drop * 100:.0f} points", f"{after:,}", *map(str, by_method.values()), *ratios])
    print(table(["drop", "after", *names, "drop test / CUSUM", "learned / drop test"], rows))
    print(
        f"\nbounds: drop test / CUSUM at most {OF_THE_CUSUM} (10 points); learned / drop test at most {OF_CONFIGURED},"
    )
    print(f"and at most {_MISSED:.0%} missed, from 1,000 verdicts on for 20 points, 3,000 for 10, 50,000 for 5")
    return kept
