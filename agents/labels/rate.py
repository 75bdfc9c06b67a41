"""The corrected success rate: the judge's verdicts of all, corrected by the labels of some.

Doubly robust by stratum (Robins, Rotnitzky & Zhao, JASA 89, 1994): each verdict counts for the mean of the labels of
its stratum, and the verdicts with a label for what they differ from it, over the probability pi that they were drawn:

    theta = sum_s N_s/N m_s + 1/N sum_labelled (y - m_s) / pi

N counts the records that the verdicts stand for, 1/p each where routing takes a share p, and pi is the probability of
being checked and then drawn. It is right whatever the judge is worth and whichever verdicts were drawn more often, as
long as pi was known. The interval is an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas,
"Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024): it holds at
every look, not at one chosen beforehand. It is taken on the logit scale, as rates lie near 1.
"""

import math
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from agents.labels.sums import Sums

SHOWN_FROM: Final = 30
"""Labels from which the rate is shown; the sequence is asymptotic."""

_ALPHA: Final = 0.05
"""Probability that any look misses the rate."""

_RARER: Final = 0.5
"""Weight of one more label of the rarer kind in a stratum. While few were seen, the variance is told too small,
and the rate too high."""

_RHO2: Final = 0.488
"""Makes the sequence narrowest at some 300 labels."""


class Rate(NamedTuple):
    """A success rate with its 95% interval at every look."""

    estimate: float
    low: float
    high: float
    alone: float
    """Half the width that as many labels would have without a judge."""

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def corrected_rate(strata: Collection[Sums]) -> Rate | None:
    """The rate over all verdicts of the strata; None while there are too few labels."""
    labels = sum(each.labels for each in strata)
    if labels < SHOWN_FROM or not all(each.enough for each in strata):
        return None
    traffic = sum(each.traffic for each in strata)
    estimate = variance = 0.0
    for each in strata:
        share, unit, mean = each.answered or 1.0, each.unit / (each.answered or 1.0), each.mean
        estimate += each.traffic * mean + (each.good - mean * each.weight) / share
        # Of (1 - pi) / pi squared; pi is what the draw and the answers make together.
        all_ = each.squares / share**2 - each.weight / share
        good = each.good_squares / share**2 - each.good / share
        variance += good * (1 - mean) ** 2 + (all_ - good) * mean**2
        variance += unit**2 * (2 * mean * (1 - mean) + _RARER * max(mean, 1 - mean) ** 2)
    estimate = min(1.0, max(0.0, estimate / traffic))
    variance = (max(0.0, variance) + max(0.0, _of_routing(strata, estimate))) / traffic**2
    # As many labels that weigh the same as others of their stratum.
    worth = sum(each.effective for each in strata)
    alone = estimate * (1 - estimate) / worth * (1 - labels / traffic)
    low, high = _interval(estimate, worth, variance)
    alone_low, alone_high = _interval(estimate, worth, alone)
    return Rate(estimate, min(low, estimate), max(high, estimate), (alone_high - alone_low) / 2)


def missing(strata: Collection[Sums]) -> tuple[float, float]:
    """The rate if all that was asked for and not answered were bad, and if all were good."""
    traffic = max(1.0, sum(each.traffic for each in strata))
    low = sum(each.traffic * each.mean * each.answered for each in strata) / traffic
    return low, low + sum(each.traffic * (1 - each.answered) for each in strata) / traffic


def _of_routing(strata: Iterable[Sums], rate: float) -> float:
    """The variance that comes from which records routing took, beside that of which verdicts were drawn."""
    total = 0.0
    for each in strata:
        apart, mean = each.mean - rate, each.mean
        residuals = (each.unseen_good - mean * each.unseen_weight) / (each.answered or 1.0)
        total += each.unseen * apart**2 + 2 * apart * residuals
    return total


def _interval(rate: float, labels: float, variance: float) -> tuple[float, float]:
    edge = 1 / (labels + 2)
    middle = min(1 - edge, max(edge, rate))
    spread = labels**2 * variance * _RHO2
    half = math.sqrt(2 * (spread + 1) / (labels**2 * _RHO2) * math.log(math.sqrt(spread + 1) / _ALPHA))
    logit, reach = math.log(middle / (1 - middle)), half / (middle * (1 - middle))
    return _share(logit - reach), _share(logit + reach)


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-min(30.0, max(-30.0, logit))))
