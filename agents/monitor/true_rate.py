"""The corrected success rate, and the judge's agreement with people: verdicts of all, corrected by the labels of some.

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
import random
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from schemas import Measured

STORED: Final = ConfigDict(extra="forbid", allow_inf_nan=False)
SHOWN_FROM: Final = 30  # Labels from which the rate is shown; the sequence is asymptotic.
_ALPHA: Final = 0.05  # Probability that any look misses the rate.
_RARER: Final = 0.5  # Weight of one more label of the rarer kind: while few were seen, the variance looks too small.
_RHO2: Final = 0.488  # Makes the sequence narrowest at some 300 labels.
_DRAWS: Final = 400


class Sums(BaseModel):
    """The verdicts of one stratum and the labels of those that were drawn, as a few sums.

    Where routing takes a share p of some records, a verdict on one of them stands for 1/p records. A label weighs 1/pi,
    where pi is p times the probability that its verdict was drawn. `unsure` counts as half a good one and half a bad
    one. A drawn verdict has a label with a probability of pi times the share that is answered.
    """

    model_config = STORED

    verdicts: int = Field(default=0, ge=0)
    beyond: float = 0.0  # Records that the verdicts stand for beyond those that were checked: the sum of 1/p - 1.
    unseen: float = 0.0  # Sum of (1 - p)/p squared: how far chance may move what the verdicts stand for.
    asked: int = Field(default=0, ge=0)
    labels: int = Field(default=0, ge=0)  # Drawn verdicts that have a label.
    weight: float = 0.0  # Sum of 1/pi.
    good: float = 0.0  # Sum of y/pi; y is 1 for a good one.
    squares: float = 0.0  # Sum of 1/pi squared.
    good_squares: float = 0.0  # Sum of y/pi squared.
    unseen_weight: float = 0.0  # Sum of (1 - p)/(p pi).
    unseen_good: float = 0.0  # Sum of y (1 - p)/(p pi).

    def count(self, share: float = 1.0) -> None:
        """Count a verdict on a record of which routing takes this share."""
        self.verdicts += 1
        self.beyond += 1 / share - 1
        self.unseen += (1 - share) / share**2

    def add(self, good: float, drawn: float, times: int = 1, *, share: float = 1.0) -> None:
        """Count a label, or take it back with `times` -1: its record was checked by chance `share`, then `drawn`."""
        probability = drawn * share
        weight = times / probability
        self.labels += times
        self.weight += weight
        self.good += good * weight
        self.squares += weight / probability
        self.good_squares += good * weight / probability
        self.unseen_weight += (1 / share - 1) * weight
        self.unseen_good += (1 / share - 1) * good * weight
        if not self.labels:
            # No rounding stays behind.
            self.weight = self.good = self.squares = self.good_squares = self.unseen_weight = self.unseen_good = 0.0

    @property
    def traffic(self) -> float:
        """Records that the verdicts stand for, including those that routing skipped."""
        return self.verdicts + self.beyond

    @property
    def answered(self) -> float:
        """The share of those asked for that have a label; 1 before any is asked for."""
        return min(1.0, self.labels / self.asked) if self.asked else 1.0

    @property
    def unit(self) -> float:
        """The weight of a label: of unlike ones the heavy ones count more, as what they stand for was seen least."""
        return self.squares / self.weight if self.labels else 0.0

    @property
    def mean(self) -> float:
        """The share of good ones, as if one good and one bad label had been there before."""
        return (self.good + self.unit) / (self.weight + 2 * self.unit) if self.labels else 0.5

    @property
    def effective(self) -> float:
        """Labels that are worth as much, if all weighed the same."""
        return self.weight**2 / self.squares if self.labels else 0.0


def merged(parts: Iterable[Sums]) -> Sums:
    """The sums of all together."""
    each = tuple(parts)
    return Sums.model_construct(**{name: sum(getattr(one, name) for one in each) for name in Sums.model_fields})


class EstimatedRate(NamedTuple):
    """A success rate with its 95% interval at every look."""

    estimate: float
    low: float
    high: float
    alone: float  # Half the width that as many labels would have without a judge.
    variance: float  # That which comes from which records were checked and which verdicts drawn.

    @property
    def measured(self) -> Measured:
        return Measured(estimate=self.estimate, low=self.low, high=self.high)


def corrected_rate(strata: Collection[Sums]) -> EstimatedRate | None:
    """The rate over all verdicts of the strata; None while there are too few labels."""
    labels = sum(each.labels for each in strata)
    if labels < SHOWN_FROM or any(each.labels < min(5, each.verdicts) for each in strata):
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
    return EstimatedRate(estimate, min(low, estimate), max(high, estimate), (alone_high - alone_low) / 2, variance)


def reach(variance: float, scale: float, error: float = _ALPHA) -> float:
    """Half the sequence's width, narrowest at a variance of 10 / `scale`; any look misses with probability `error`."""
    return math.sqrt((variance + 1 / scale) * (math.log1p(variance * scale) - 2 * math.log(error)))


def missing(strata: Collection[Sums], estimate: float) -> Measured:
    """The rate if all that was asked for and not answered were bad, and if all were good, round the estimate."""
    traffic = max(1.0, sum(each.traffic for each in strata))
    low = sum(each.traffic * each.mean * each.answered for each in strata) / traffic
    high = low + sum(each.traffic * (1 - each.answered) for each in strata) / traffic
    return Measured(estimate=estimate, low=min(low, estimate), high=max(high, estimate))


def _of_routing(strata: Iterable[Sums], rate: float) -> float:
    """The variance that comes from which records routing took, next to that of which verdicts were drawn."""
    total = 0.0
    for each in strata:
        apart, mean = each.mean - rate, each.mean
        residuals = (each.unseen_good - mean * each.unseen_weight) / (each.answered or 1.0)
        total += each.unseen * apart**2 + 2 * apart * residuals
    return total


def _interval(rate: float, labels: float, variance: float) -> tuple[float, float]:
    edge = 1 / (labels + 2)
    middle = min(1 - edge, max(edge, rate))
    logit = math.log(middle / (1 - middle))
    half = reach(variance, labels**2 * _RHO2) / (middle * (1 - middle))
    low, high = (1 / (1 + math.exp(-min(30.0, max(-30.0, each)))) for each in (logit - half, logit + half))
    return low, high


def agreement(accepted: Sums, rejected: Sums, seed: str) -> tuple[Measured, Measured, Measured] | None:
    """The worth of the judge's verdicts: Cohen's kappa, sensitivity and specificity, with 95% credible intervals.

    From what the judge accepted and what it rejected; None without a label of either. Each stratum's share of good ones
    is drawn from what its labels leave possible. The same seed gives the same draws.
    """
    if not accepted.labels or not rejected.labels:
        return None
    accepts = accepted.traffic / (accepted.traffic + rejected.traffic)
    rng = random.Random(seed)  # noqa: S311 - no secret
    found = [_measures(accepts, _draw(accepted, rng), _draw(rejected, rng)) for _ in range(_DRAWS)]
    seen = _measures(accepts, accepted.good / accepted.weight, rejected.good / rejected.weight)
    kappa, sensitivity, specificity = map(_credible, seen, map(sorted, zip(*found, strict=True)))
    return kappa, sensitivity, specificity


def _draw(each: Sums, rng: random.Random) -> float:
    share = each.good / each.weight
    return rng.betavariate(each.effective * share + 0.5, each.effective * (1 - share) + 0.5)


def _measures(accepts: float, good: float, missed: float) -> tuple[float, float, float]:
    """Kappa, sensitivity and specificity, from the share of accepts, and of good ones among them and the rejects."""
    right, wrong = accepts * good, (1 - accepts) * (1 - missed)
    rate = right + (1 - accepts) * missed
    chance = accepts * rate + (1 - accepts) * (1 - rate)
    # Where nothing is good, or nothing bad, there is nothing to be missed.
    kappa = (right + wrong - chance) / (1 - chance) if chance < 1 else 1.0
    return kappa, right / rate if rate else 1.0, wrong / (1 - rate) if rate < 1 else 1.0


def _credible(estimate: float, draws: list[float]) -> Measured:
    low, high = (draws[round(share * (len(draws) - 1))] for share in (0.025, 0.975))
    return Measured(estimate=estimate, low=min(low, estimate), high=max(high, estimate))
