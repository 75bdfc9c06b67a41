"""How soon the drop test finds a drop, and how often it raises a false alarm: simulated verdicts, fixed seeds.

A good model accepts 0.9, each verdict independent of the others. Beside the drop test, with a configured and with a
learned baseline, stand a rule that fires while the success rate of the last five minutes is below 0.85, at one and at
ten verdicts a second, and a CUSUM that is made for a drop of ten points and tuned to the false alarms that the test
promises: its threshold is computed on the lattice of its values, not found by trial.

The streams run side by side in numpy, with the weights, factors and bounds of the program itself; that the recursion
agrees with `DropTest` and `LearnedBaseline` is checked first.

A figure is wrong if there are more false alarms than promised, or a drop of ten points takes more than 1.5 times as
long as with the CUSUM.
"""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.running import CannotRun
from benchmarks.tables import table
from benchmarks.trust.methods import (
    Cusums,
    DropTests,
    LearnedDropTests,
    Method,
    Windows,
    check_agreement,
    cusum_false_alarms,
    tuned_threshold,
)
from benchmarks.trust.picture import draw
from benchmarks.trust.simulation import AFTER, GOOD, HORIZON, DelayTable, batches, repeating, simulate, swinging
from checkers.intervals import wilson

ERROR_BOUND = 0.01
"""What is promised: a false alarm ever."""

OF_THE_CUSUM = 1.5
"""The delay for a drop of ten points, at most, as a multiple of the CUSUM's."""

_OTHER_TRAFFIC = {
    "independent, between 0.90 and 0.98 in turns of 1,000": (True, swinging(0.9, 0.98, 1000)),
    "one in ten repeats the one before (correlation 0.1)": (False, repeating(GOOD, 0.1)),
    "three in ten repeat the one before (correlation 0.3)": (False, repeating(GOOD, 0.3)),
    "batches of 20, three in ten share a fate (0.09 within)": (False, batches(GOOD, 20, 0.3)),
    "batches of 20, all share a fate": (False, batches(GOOD, 20, 1.0)),
}
"""By what it is: whether the promise covers it, and how it is made."""


def run(streams: int, verdicts: int, pictures: Path) -> bool:
    """Simulate, print, draw; whether the bounds are kept."""
    if verdicts < max(AFTER):
        raise CannotRun(f"--verdicts must be {max(AFTER)} or more, the moment of the latest drop")
    check_agreement(GOOD, ERROR_BOUND)
    threshold = tuned_threshold(GOOD, verdicts, ERROR_BOUND)
    computed = cusum_false_alarms(threshold, GOOD, verdicts)
    print(f"CUSUM: a false alarm within {verdicts:,} verdicts with a computed probability of {computed:.2%}\n")
    methods: dict[str, Method] = {
        "drop test": DropTests(streams, ERROR_BOUND, GOOD),
        "drop test, learned": LearnedDropTests(streams, ERROR_BOUND),
        "CUSUM for 10 points": Cusums(streams, threshold),
        "5 min, 1/s": Windows(streams, 300),
        "5 min, 10/s": Windows(streams, 3000),
    }
    alarms, delays = simulate(methods, streams, verdicts)
    kept = _print_false_alarms(alarms, streams, verdicts)
    kept &= _print_delays(delays)
    _print_other_traffic(streams, verdicts, threshold)
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
        rows.append([f"{drop * 100:.0f} points", f"{after:,}", *map(str, by_method.values()), f"{ratio:.2f}"])
    print(table(["drop", "after", *names, "drop test / CUSUM"], rows))
    print(f"\nthe bound on the ratio is {OF_THE_CUSUM} for 10 points")
    return kept


def _print_other_traffic(streams: int, verdicts: int, threshold: int) -> None:
    print("\nOther traffic that accepts 0.9 or more on the whole: share of streams with a false alarm\n")
    rows = []
    for number, (name, (covered, traffic)) in enumerate(_OTHER_TRAFFIC.items()):
        methods: list[Method] = [DropTests(streams, ERROR_BOUND, GOOD), Cusums(streams, threshold)]
        alarmed = [np.zeros(streams, dtype=bool) for _ in methods]
        for accepted in islice(traffic(np.random.default_rng([4, number]), streams), verdicts):
            for place, method in enumerate(methods):
                alarmed[place] |= method.step(accepted)
        rows.append([name, "yes" if covered else "no", *(f"{which.mean():.1%}" for which in alarmed)])
    print(table(["traffic", "covered by the promise", "drop test", "CUSUM for 10 points"], rows))
