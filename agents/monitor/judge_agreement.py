"""Agreement of judge and people, weighted to the traffic rather than to what was drawn."""

import random
from datetime import datetime
from typing import Final, NamedTuple

from agents.monitor.label_series import LabelKey, LabelSeries
from agents.monitor.true_rate import Sums, missing
from schemas import Calibration, Measured, StratumEstimate, content_id

_DRAWS: Final = 400
_ANSWERED: Final = 0.8  # Below this share of answers it is told what those that are missing could change.


class Agreement(NamedTuple):
    """The worth of the judge's verdicts, each with its 95% credible interval."""

    kappa: Measured  # Cohen's: 1 is always right, 0 is chance.
    sensitivity: Measured  # The share of good outputs that it accepts.
    specificity: Measured  # The share of bad outputs that it rejects.


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


def _interval(estimate: float, draws: list[float]) -> Measured:
    low, high = (draws[round(share * (len(draws) - 1))] for share in (0.025, 0.975))
    return Measured(estimate=estimate, low=min(low, estimate), high=max(high, estimate))


def calibration_of(key: LabelKey, series: LabelSeries, now: datetime) -> Calibration:
    """Make the calibration: what people's labels say of the judge."""
    sums, rate = series.outcomes, series.rate()
    strata = tuple(
        StratumEstimate(
            stratum=name,
            good=each.good / each.weight if each.labels else 0.0,
            **{field: getattr(each, field) for field in ("verdicts", "asked", "labels", "answered")},
        )
        for name, each in sums.items()
    )
    verdicts = sum(each.verdicts for each in strata)
    agreed = agreement(sums["accept"], sums["reject"], "\x1f".join(key))
    unanswered = any(each.answered < _ANSWERED for each in strata)
    return Calibration(
        **key._asdict(),
        id=content_id("cal", [*key, verdicts, series.labels, now.isoformat()]),
        updated_at=now,
        verdicts=verdicts,
        labels=series.labels,
        agreed=series.agreed,
        judge_rate=sums["accept"].traffic / sum(each.traffic for each in sums.values()) if verdicts else 0.0,
        rate=rate and rate.measured,
        labels_alone=rate and rate.alone,
        missing=rate and missing(sums.values(), rate.estimate) if unanswered else None,
        **(dict.fromkeys(Agreement._fields) if agreed is None else agreed._asdict()),
        strata=strata,
        pairs=series.pairs,
        pairs_agreed=series.pairs_agreed,
        disagreements=tuple(series.disagreements),
        alarm_below=series.alarm.below,
        alarm_evidence=series.alarm.rate.evidence,
        fallen=series.alarm.fallen,
    )
