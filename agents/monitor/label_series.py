"""One series: the verdicts of one checker with one configuration on one subject, and people's labels of some."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from pydantic import BaseModel, Field

from agents.monitor.baseline import BATCH, SHORT_KEPT, SHORT_PRIOR, BatchMeans
from agents.monitor.outcomes import RecentVerdicts, SeriesOutcome
from agents.monitor.rate_alarm import ERROR, LEARNED_AT, RateAlarm, Terms
from agents.monitor.sampling import OUTCOMES, Traffic, allocation, mean_of, of_outcome, outcome_of
from agents.monitor.true_rate import STORED, EstimatedRate, Sums, agreement, corrected_rate, missing
from agents.monitor.versions import VersionCount, counted, ids_of, rates
from agents.routing import sample_point
from schemas import Calibration, TrueRateAlert, content_id
from schemas.labels import StratumEstimate, TrueRateCause

_DISAGREEMENTS: Final = 20
_HALF: Final = 0.5
_ANSWERED: Final = 0.8  # Below this share of answers the calibration says what the missing ones could change.


class LabelKey(NamedTuple):
    """Labels of one of these say nothing about another."""

    source: str
    model: str
    checker: str
    config_digest: str
    rubric_version: str


class Draw(NamedTuple):
    """A verdict that was drawn for review."""

    stratum: str
    probability: float
    terms: Terms
    share: float = 1.0  # Share of the records that routing takes by the rule that took this one.
    version: str = ""  # The application's, by its id.


class LabelSeries(BaseModel):
    """A series, as it is stored."""

    model_config = STORED

    strata: dict[str, Sums] = Field(default_factory=dict)
    traffic: Traffic = Field(default_factory=Traffic)
    # Labels' shares by stratum. They change where the series is stored, so that a replay draws the same verdicts.
    allocation: dict[str, float] = Field(default_factory=dict)
    alarm: RateAlarm = Field(default_factory=RateAlarm)
    pairs: int = 0  # Verdicts that a second person labelled.
    pairs_agreed: int = 0  # Those of `pairs` on which both say the same.
    agreed: int = 0  # Labelled verdicts on which people and the judge say the same.
    disagreements: list[str] = Field(default_factory=list)  # Ids of the last verdicts that people do not agree with.
    versions: list[VersionCount] = Field(default_factory=list)  # Those with the latest verdicts, the last one's last.
    scatter: BatchMeans = Field(default_factory=lambda: BatchMeans(BATCH, SHORT_PRIOR, SHORT_KEPT))  # As in `Baseline`.
    recent: RecentVerdicts = Field(default_factory=RecentVerdicts)
    alerts: int = 0  # Raised so far.

    def count(self, outcome: SeriesOutcome, budget: float) -> Draw | None:
        """Count a verdict; returns how it was drawn, or None if it was not. `budget`: draws an hour."""
        self.recent.add(outcome.accepted, outcome.attributes)
        stratum = self.traffic.stratum(outcome.outcome, outcome.score)
        self.traffic.add(stratum, outcome.checked_at.timestamp(), outcome.share)
        self.strata.setdefault(stratum, Sums()).count(outcome.share)
        self.alarm.verdict(accepted=outcome.accepted)
        self.scatter.add(float(outcome.accepted))
        self.scatter.close(self.traffic.accepted * (1 - self.traffic.accepted))
        chances = self.traffic.chances(self.allocation, budget)
        drawn = sample_point("review", outcome.verdict_id) < chances[stratum]
        if len(ids := ids_of(outcome.version)) > 1:
            self.versions = counted(self.versions, outcome, ids, drawn=drawn)
        return self.draw(stratum, chances, outcome.share) if drawn else None

    def draw(self, stratum: str, chances: Mapping[str, float], share: float = 1.0) -> Draw:
        """Draw a verdict of `stratum`, where each stratum's verdicts have these chances."""
        self.strata[stratum].asked += 1
        traffic = self.traffic
        of_outcomes = {outcome: sums.mean for outcome, sums in self.outcomes.items()}
        means = {name: mean_of(self.strata, name, of_outcomes[outcome_of(name)]) for name in chances}
        records = {name: traffic.shares[name] + traffic.beyond.get(name, 0.0) for name in means}
        base = sum(records[name] * mean for name, mean in means.items()) / traffic.stands_for
        drawn = sum(traffic.shares[name] * chance for name, chance in chances.items())

        def term(name: str, share: float, good: float) -> float:
            return base + drawn / chances[name] / (share * traffic.stands_for) * (good - means[name])

        # What a label could be worth at most must not depend on which verdict was drawn.
        lowest = min(term(name, traffic.least, 0.0) for name in means)
        highest = max(term(name, traffic.least, 1.0) for name in means)
        terms = (term(stratum, share, 0.0), term(stratum, share, 1.0), lowest, highest)
        return Draw(stratum, chances[stratum], terms, share)

    def label(
        self, verdict_id: str, draw: Draw, before: float | None, good: float | None, *, again: bool = False
    ) -> TrueRateCause | None:
        """Put a label in the place of the one `before`, where None is no label; returns what it raises.

        A verdict is bet on once, not `again`, as later labels are not independent of the first.
        """
        sums, outcome = self.strata.setdefault(draw.stratum, Sums()), outcome_of(draw.stratum)
        self.disagreements = [each for each in self.disagreements if each != verdict_id]
        counts = [sums, *(each.strata[outcome] for each in self.versions if each.ids[-1] == draw.version)]
        if before is not None:
            for each in counts:
                each.add(before, draw.probability, -1, share=draw.share)
            self.agreed -= _agrees(outcome, before)
        if good is None:
            return None
        cause = self.alarm.label(good, draw.terms) if before is None and not again else None
        for each in counts:
            each.add(good, draw.probability, share=draw.share)
        self.agreed += _agrees(outcome, good)
        if good != _HALF and not _agrees(outcome, good):
            self.disagreements = [*self.disagreements, verdict_id][-_DISAGREEMENTS:]
        return cause

    def settle(self) -> None:
        """Let the labels so far decide about the next draws and alarms."""
        self.allocation = allocation(self.strata, self.traffic.shares)
        if self.labels >= LEARNED_AT and self.alarm.judge_below is None and (rate := self.rate()) is not None:
            self.alarm.learn(rate.low, self.traffic.accepted, self.traffic.counted)

    @property
    def outcomes(self) -> dict[str, Sums]:
        """The sums by outcome."""
        return {outcome: of_outcome(self.strata, outcome) for outcome in OUTCOMES}

    @property
    def labels(self) -> int:
        return sum(each.labels for each in self.strata.values())

    def rate(self) -> EstimatedRate | None:
        """The true success rate since the series began."""
        return corrected_rate(self.outcomes.values())


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
    kappa, sensitivity, specificity = agreed or (None, None, None)
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
        kappa=kappa,
        sensitivity=sensitivity,
        specificity=specificity,
        strata=strata,
        pairs=series.pairs,
        pairs_agreed=series.pairs_agreed,
        disagreements=tuple(series.disagreements),
        alarm_below=series.alarm.below,
        alarm_evidence=series.alarm.rate.evidence,
        fallen=series.alarm.fallen,
        versions=rates(series.versions, series.scatter.divisor),
    )


def alert_of(key: LabelKey, series: LabelSeries, cause: TrueRateCause, now: datetime) -> TrueRateAlert:
    """The series' next alert."""
    series.alerts += 1
    below, judge_rate = series.alarm.below or 0.0, series.traffic.accepted
    is_below = f"is below {below:.1%}"
    said = {
        "model": f"{is_below}, and the judge accepts less as well: the model got worse",
        "judge_blind": f"{is_below} while the judge accepts as much as before: it does not see what people see",
        "judge_or_traffic": f"is still above {below:.1%}, though the judge accepts less: it or the traffic changed",
        "recovery": f"is above {below:.1%} again",
    }[cause]
    names, rate = key._asdict(), series.rate()
    del names["rubric_version"]
    return TrueRateAlert(
        **names,
        id=content_id("alert", [*key, series.alerts, "true_rate"]),
        cause=cause,
        raised_at=now,
        below=below,
        rate=rate and rate.measured,
        judge_rate=min(1.0, judge_rate),
        labels=series.labels,
        error_bound=ERROR,
        disagreements=tuple(series.disagreements[::-1]),
        common=() if cause == "recovery" else series.recent.common(),
        summary=(
            f"The true success rate of {key.model} at {key.source} {said}. {key.checker} accepted {judge_rate:.1%} of "
            f"the last {series.traffic.counted} outputs; {series.labels} have a label."
        ),
    )


def _agrees(outcome: str, good: float) -> bool:
    """True if people say the same as the judge; unsure is neither."""
    return good > _HALF if outcome == "accept" else good < _HALF
