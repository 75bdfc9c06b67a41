"""Agreement of judge and people, weighted to the traffic rather than to what was drawn."""

import random
from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from agents.monitor.label_series import LabelKey, LabelSeries, measured
from agents.monitor.true_rate import Rate, Sums, missing
from schemas import Calibration, Measured, StratumStanding, content_id

_DRAWS: Final = 400

_ANSWERED: Final = 0.8
"""Below this share of answers it is told what those that are missing could change."""


class Interval(NamedTuple):
    """An estimate with its 95% credible interval."""

    estimate: float
    low: float
    high: float


class Agreement(NamedTuple):
    """The worth of the judge's verdicts."""

    kappa: Interval
    """Cohen's: 1 is always right, 0 is chance."""
    sensitivity: Interval
    """The share of good outputs that it accepts."""
    specificity: Interval
    """The share of bad outputs that it rejects."""


def agreement(accepted: Sums, rejected: Sums, seed: str) -> Agreement | None:
    """From what the judge accepted and what it rejected; None without a label of either.

    Each stratum's share of good ones is drawn from what its labels leave possible. The same seed gives the same draws.
    """
    if not accepted.labels or not rejected.labels:
        return None
    accepts = accepted.traffic / (accepted.traffic + rejected.traffic)
    rng = random.Random(seed)  # noqa: S311 - no secret
    found = [_measures(accepts, _draw(accepted, rng), _draw(rejected, rng)) for _ in range(_DRAWS)]
    seen = _measures(accepts, accepted.good / accepted.weight, rejected.good / rejected.weight)
    columns = zip(*found, strict=True)
    return Agreement(*(_interval(each, sorted(values)) for each, values in zip(seen, columns, strict=True)))


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


def _interval(estimate: float, draws: list[float]) -> Interval:
    low, high = (draws[round(share * (len(draws) - 1))] for share in (0.025, 0.975))
    return Interval(estimate, min(low, estimate), max(high, estimate))


def calibration_of(key: LabelKey, series: LabelSeries, now: datetime) -> Calibration:
    """Make the calibration: what people's labels say of the judge."""
    strata = series.outcomes
    standings = tuple(
        StratumStanding(
            stratum=name,
            verdicts=each.verdicts,
            asked=each.asked,
            labels=each.labels,
            good=each.good / each.weight if each.labels else 0.0,
            answered=each.answered,
        )
        for name, each in strata.items()
    )
    verdicts, rate = sum(each.verdicts for each in standings), series.rate()
    agreed = agreement(strata["accept"], strata["reject"], key.encoded().decode())
    unanswered = rate is not None and any(each.answered < _ANSWERED for each in standings)
    return Calibration(
        **key._asdict(),
        id=content_id("cal", [*key, verdicts, series.labels, now.isoformat()]),
        updated_at=now,
        verdicts=verdicts,
        labels=series.labels,
        agreed=series.agreed,
        judge_rate=strata["accept"].traffic / sum(each.traffic for each in strata.values()) if verdicts else 0.0,
        rate=measured(rate),
        labels_alone=None if rate is None else rate.alone,
        missing=_range(rate, strata.values()) if unanswered and rate is not None else None,
        kappa=agreed and _of(agreed.kappa),
        sensitivity=agreed and _of(agreed.sensitivity),
        specificity=agreed and _of(agreed.specificity),
        strata=standings,
        pairs=series.pairs,
        pairs_agreed=series.pairs_agreed,
        disagreements=tuple(series.disagreements),
        alarm_below=series.alarm.below,
        alarm_evidence=series.alarm.rate.evidence,
        fallen=series.alarm.fallen,
    )


def _of(interval: Interval) -> Measured:
    return Measured(**interval._asdict())


def _range(rate: Rate, strata: Collection[Sums]) -> Measured:
    low, high = missing(strata)
    return Measured(estimate=rate.estimate, low=min(low, rate.estimate), high=max(high, rate.estimate))
