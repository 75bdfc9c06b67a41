"""The messages about a series: the calibration, and the alert on its true rate."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from agents.labels.agreement import Interval, agreement
from agents.labels.bet import ERROR
from agents.labels.rate import Rate, missing
from agents.labels.series import Series
from agents.labels.sums import Sums
from schemas import Calibration, Measured, StratumStanding, TrueRateAlert, TrueRateCause, content_id

_ANSWERED: Final = 0.8
"""Below this share of answers it is told what those that are missing could change."""


class SeriesId(NamedTuple):
    """Labels of one of these say nothing about another."""

    source: str
    model: str
    checker: str
    config_digest: str
    rubric_version: str

    def encoded(self) -> bytes:
        """Key of a message; names hold no control characters."""
        return "\x1f".join(self).encode()


def calibration_of(key: SeriesId, series: Series, now: datetime) -> Calibration:
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
        rate=_measured(rate),
        labels_alone=None if rate is None else rate.alone,
        missing=_range(rate, strata.values()) if unanswered and rate is not None else None,
        kappa=agreed and _of(agreed.kappa),
        sensitivity=agreed and _of(agreed.sensitivity),
        specificity=agreed and _of(agreed.specificity),
        strata=standings,
        pairs=series.pairs,
        pairs_agreed=series.pairs_agreed,
        disagreements=tuple(series.disagreements),
        alarm_below=series.watch.below,
        alarm_evidence=series.watch.rate.evidence,
        fallen=series.watch.fallen,
    )


def alert_of(key: SeriesId, series: Series, cause: TrueRateCause, number: int, now: datetime) -> TrueRateAlert:
    """The alert with that number of the series."""
    below, judge_rate = series.watch.below or 0.0, series.traffic.accepted
    is_below = f"is below {below:.1%}"
    said = {
        "model": f"{is_below}, and the judge accepts less as well: the model got worse",
        "judge_blind": f"{is_below} while the judge accepts as much as before: it does not see what people see",
        "judge_or_traffic": f"is still above {below:.1%}, though the judge accepts less: it or the traffic changed",
        "unknown": f"{is_below}; too little is known of the judge yet to say whether it sees that",
        "recovery": f"is above {below:.1%} again",
    }[cause]
    told = series.disagreements[::-1]
    return TrueRateAlert(
        id=content_id("alert", [*key, number, "true_rate"]),
        cause=cause,
        source=key.source,
        model=key.model,
        checker=key.checker,
        config_digest=key.config_digest,
        raised_at=now,
        below=below,
        rate=_measured(series.rate()),
        judge_rate=min(1.0, judge_rate),
        labels=series.labels,
        error_bound=ERROR,
        disagreements=tuple(told),
        summary=(
            f"The true success rate of {key.model} at {key.source} {said}. {key.checker} accepted {judge_rate:.1%} of "
            f"the last {series.traffic.counted} outputs; {series.labels} have a label."
        ),
    )


def _measured(rate: Rate | None) -> Measured | None:
    return None if rate is None else Measured(estimate=rate.estimate, low=rate.low, high=rate.high)


def _of(interval: Interval) -> Measured:
    return Measured(**interval._asdict())


def _range(rate: Rate, strata: Collection[Sums]) -> Measured:
    low, high = missing(strata)
    return Measured(estimate=rate.estimate, low=min(low, rate.estimate), high=max(high, rate.estimate))
