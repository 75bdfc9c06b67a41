"""Verdicts that come in runs: false alarms and delays by autocorrelation, with it taken into account and without.

A figure is wrong if there are more false alarms than the documentation states: the promised ones at a lag-one
autocorrelation of 0 to 0.3, where each verdict depends on the one before alone, and for all rates without any.
"""

import copy
from itertools import islice

import numpy as np

from benchmarks.tables import table
from benchmarks.trust.drops import ERROR_BOUND
from benchmarks.trust.methods import DropTests, Verdicts, Watchers
from benchmarks.trust.simulation import Delays, Traffic, batches, latent, repeating, swinging

_VERDICTS = 10_000
_AFTER = 5000
_HORIZON = 20_000
_DROP = 0.1
_DELAYED = 0.9
"""The rate from which a drop is looked for."""

_CHAINS = [(rate, share) for rate in (0.7, 0.9, 0.98) for share in (0.0, 0.1, 0.2, 0.3)]

_RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999)

_OTHERS = {
    "independent, between 0.90 and 0.98 in turns of 1,000": swinging(0.9, 0.98, 1000),
    "hidden autoregression of 0.5 (correlation 0.25)": latent(0.9, 0.5),
    "hidden autoregression of 0.9 (correlation 0.67)": latent(0.9, 0.9),
    "batches of 20, three in ten share a fate (0.09 within)": batches(0.9, 20, 0.3),
    "batches of 20, all share a fate": batches(0.9, 20, 1.0),
}
"""Traffic at 0.9 or more that a chain does not describe."""


class _Alone:
    """The drop test without what the verdict before says."""

    def __init__(self, streams: int, rate: float) -> None:
        self._tests = DropTests(streams, ERROR_BOUND)
        self._rates = np.full(streams, rate)

    def step(self, accepted: Verdicts) -> Verdicts:
        """Take a verdict of each stream; which of them have an alarm now."""
        return self._tests.step(accepted, self._rates)


def run(streams: int) -> bool:
    """Simulate and print; whether the bounds are kept."""
    kept = True
    rows = []
    for number, (rate, share) in enumerate(_CHAINS):
        alone, given, learned, estimate = _false_alarms(rate, repeating(rate, share), [8, number], streams)
        kept &= given <= ERROR_BOUND and learned <= ERROR_BOUND
        both = (Watchers(streams, ERROR_BOUND, [rate]), Watchers(streams, ERROR_BOUND))
        delays = [_delays(each, share, streams) if rate == _DELAYED else None for each in both]
        shown = [f"{each:.1%}" for each in (alone, given, learned)]
        rows.append([rate, share, *shown, f"{estimate:.2f}", *(each and str(each) for each in delays)])
    print(f"Streams of {_VERDICTS:,} verdicts with a false alarm (promised: 1.0%), estimate, and delay of a drop")
    print(f"of 10 points after {_AFTER:,}; each verdict is the one before it again with a probability of `repeats`\n")
    header = [
        "rate",
        "repeats",
        "test alone",
        "configured",
        "learned",
        "estimated",
        "delay, configured",
        "delay, learned",
    ]
    print(table(header, rows))
    rows = []
    for number, rate in enumerate(_RATES):
        watchers = Watchers(streams, ERROR_BOUND)
        alarmed = np.zeros(streams, dtype=bool)
        for accepted in islice(repeating(rate, 0.0)(np.random.default_rng([7, number]), streams), _VERDICTS):
            alarmed |= watchers.step(accepted)
        kept &= alarmed.mean() <= ERROR_BOUND
        rows.append([rate, f"{alarmed.mean():.1%}"])
    print("\nFalse alarms of a learned baseline by rate, independent verdicts\n")
    print(table(["rate", "streams"], rows))
    print("\nTraffic that a chain does not describe: no promise\n")
    rows = []
    for number, (name, traffic) in enumerate(_OTHERS.items()):
        alone, given, learned, estimate = _false_alarms(0.9, traffic, [9, number], streams)
        rows.append([name, *(f"{each:.1%}" for each in (alone, given, learned)), f"{estimate:.2f}"])
    print(table(["traffic", "test alone", "configured", "learned", "estimated"], rows))
    return kept


def _false_alarms(rate: float, traffic: Traffic, seed: list[int], streams: int) -> tuple[float, float, float, float]:
    """The shares of the test alone, with a configured and with a learned baseline; and the mean estimate."""
    alone = _Alone(streams, rate)
    given, learned = Watchers(streams, ERROR_BOUND, [rate]), Watchers(streams, ERROR_BOUND)
    alarmed = np.zeros((3, streams), dtype=bool)
    for accepted in islice(traffic(np.random.default_rng(seed), streams), _VERDICTS):
        alarmed |= np.array([alone.step(accepted), given.step(accepted), learned.step(accepted)])
    first, second, third = alarmed.mean(axis=1)
    return float(first), float(second), float(third), float(learned.autocorrelation.mean())


def _delays(watchers: Watchers, share: float, streams: int) -> Delays:
    alarmed = np.zeros(streams, dtype=bool)
    for accepted in islice(repeating(_DELAYED, share)(np.random.default_rng(10), streams), _AFTER):
        alarmed |= watchers.step(accepted)
    waiting, watching = ~alarmed, copy.deepcopy(watchers)
    found = np.zeros(streams, dtype=int)
    dropped = repeating(_DELAYED - _DROP, share)(np.random.default_rng(11), streams)
    for n, accepted in enumerate(islice(dropped, _HORIZON), start=1):
        now = watching.step(accepted) & waiting
        found[now] = n
        waiting &= ~now
        if not waiting.any():
            break
    return Delays(found[found > 0], int(waiting.sum()))
