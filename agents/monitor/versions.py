"""One version of an application against another: the difference of their success rates, and whether traffic is alike.

The difference has an interval that holds at every look (`checkers.intervals.sequence`). It is asymptotic: its coverage
from 30 verdicts on is simulated (`python -m benchmarks.versions`). To each version's verdicts two accepts and two
rejects are added for the variance, which few verdicts make too small (Agresti & Caffo, American Statistician 54, 2000).

A release may come with other questions. So the verdicts by kind, tenant and, over several applications, source are
tested for homogeneity, by the Bayes factor of two mixes against one (Gunel & Dickey, "Bayes factors for independence in
contingency tables", Biometrika 61, 1974). Averaged over the mixes there may be it is a test martingale if both
versions have the same, so by Ville's inequality it is ever above 1/0.01 with a probability of at most 1%.
"""

import math
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.true_rate import Sums, corrected
from checkers.intervals import sequence
from schemas import Measured, VersionRate

MOST: Final = 5  # Versions that are counted side by side; the one that was longest without a verdict makes room.
COMPARED_FROM: Final = 30  # Verdicts that each version needs.
APART: Final = 0.05
"""The share of verdicts by which mixes must differ to be unlike: that much moves a rate by five points at most."""

_ALIKE_ERROR: Final = 0.01  # Probability that mixes which are the same are ever called unlike.
_VALUES: Final = 16  # Of a part of the traffic, that are told apart; the rarest beyond them count as one.
_ADDED: Final = 2

Traffic = dict[str, dict[str, int]]


def count_traffic(traffic: Traffic, outcome: SeriesOutcome) -> None:
    """Count an outcome in the traffic of its version, in bounded memory."""
    tenant = "" if outcome.tenant is None else f"{zlib.crc32(outcome.tenant.encode()) % _VALUES:x}"
    for part, value in (("kind", outcome.kind or ""), ("tenant", tenant)):
        values = traffic.setdefault(part, {})
        named = value if value in values or len(values) < _VALUES else ""
        values[named] = values.get(named, 0) + 1


def judged_rate(
    version: Mapping[str, str], first_at: datetime, counts: tuple[int, int], traffic: Traffic, dispersion: float
) -> VersionRate:
    """The rate of a version by the judge; `counts` are its verdicts and accepts. `dispersion` divides evidence."""
    verdicts, accepted = counts
    return VersionRate(
        version=dict(version),
        first_at=first_at,
        verdicts=verdicts,
        rate=accepted / verdicts,
        variance=dispersion * rate_variance(verdicts, accepted),
        traffic=traffic,
    )


def rate_variance(number: float, good: float) -> float:
    """The variance of a rate of so many."""
    rate = (good + _ADDED) / (number + 2 * _ADDED)
    return rate * (1 - rate) / number


def true_rate(version: Mapping[str, str], first_at: datetime, strata: Collection[Sums]) -> VersionRate | None:
    """The rate of a version by people's labels; None while there are too few."""
    if (found := corrected(strata)) is None:
        return None
    verdicts = sum(each.verdicts for each in strata)
    # That of which verdicts were drawn, and of which outputs there were at all.
    return VersionRate(
        version=dict(version),
        first_at=first_at,
        verdicts=verdicts,
        labels=sum(each.labels for each in strata),
        rate=found.estimate,
        variance=found.variance + rate_variance(found.traffic, found.estimate * found.traffic),
    )


def change(before: VersionRate, after: VersionRate, error: float = 0.05) -> Measured | None:
    """The later rate less the earlier one, at every look; None where either has too few verdicts."""
    if min(before.verdicts, after.verdicts) < COMPARED_FROM:
        return None
    estimate = after.rate - before.rate
    low, high = sequence(estimate, before.variance + after.variance, error)
    return Measured(estimate=estimate, low=max(-1.0, low), high=min(1.0, high))


def unlike(before: VersionRate, after: VersionRate) -> tuple[str, ...]:
    """The parts of the traffic in which two versions differ."""
    parts = sorted(before.traffic.keys() | after.traffic.keys())
    return tuple(
        part for part in parts if _differ(before.traffic.get(part, {}), after.traffic.get(part, {}), len(parts))
    )


def each_with_change(rates: Sequence[VersionRate]) -> tuple[VersionRate, ...]:
    """The versions, given in their order, each compared with the one before."""
    return tuple(
        after
        if before is None
        else after.model_copy(update={"change": change(before, after), "unlike": unlike(before, after)})
        for before, after in zip([None, *rates], rates, strict=False)
    )


def merged_rate(rates: Sequence[VersionRate], version: Mapping[str, str]) -> VersionRate:
    """One rate for several series or versions, each by its verdicts."""
    verdicts = sum(each.verdicts for each in rates)
    traffic: Traffic = {}
    for each in rates:
        for part, values in each.traffic.items():
            traffic[part] = dict(Counter(traffic.get(part, {})) + Counter(values))
    return VersionRate(
        version=dict(version),
        first_at=min(each.first_at for each in rates),
        verdicts=verdicts,
        labels=sum(each.labels for each in rates),
        rate=min(1.0, sum(each.verdicts * each.rate for each in rates) / verdicts),
        variance=sum(each.verdicts**2 * each.variance for each in rates) / verdicts**2,
        traffic=traffic,
    )


def _differ(before: Mapping[str, int], after: Mapping[str, int], parts: int) -> bool:
    """True if two mixes differ, beyond chance and by enough to matter; of so many `parts` that are looked at."""
    both = Counter(before) + Counter(after)
    named = [value for value, _ in both.most_common(_VALUES)]
    mixes = [[*(mix.get(value, 0) for value in named)] for mix in (before, after)]
    for mix, whole in zip(mixes, (before, after), strict=True):
        mix.append(sum(whole.values()) - sum(mix))
    first, second = mixes
    sizes = sum(first), sum(second)
    if not all(sizes):
        return False
    apart = sum(abs(one / sizes[0] - other / sizes[1]) for one, other in zip(first, second, strict=True)) / 2
    pooled = [one + other for one, other in zip(first, second, strict=True)]
    evidence = _log_likelihood(first) + _log_likelihood(second) - _log_likelihood(pooled)
    return apart >= APART and evidence >= math.log(parts / _ALIKE_ERROR)


def _log_likelihood(mix: Sequence[int]) -> float:
    """Of a mix whose shares were drawn evenly by value: a Dirichlet with one verdict altogether (Perks)."""
    each = 1 / (_VALUES + 1)
    return sum(math.lgamma(number + each) - math.lgamma(each) for number in mix if number) - math.lgamma(sum(mix) + 1)
