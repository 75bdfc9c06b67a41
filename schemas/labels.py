"""Labels: who is asked about a verdict, what people answer, and what follows for the judge's success rate."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import Field, model_validator

from schemas.alerts import Commonality
from schemas.base import Fraction, Measured, Name, Origin, Share, Text, Timestamp, Wire, content_id

TrueRateCause = Literal["model", "judge_blind", "judge_or_traffic", "recovery"]

_VALUES: Final = {"good": 1.0, "unsure": 0.5, "bad": 0.0}


class RateEstimate(Wire):
    """A success rate as an estimate."""

    rate: Fraction
    variance: float = Field(gt=0)


class VersionRate(Wire):
    """The success rate of one version of the application, and how it differs from the one before."""

    version: dict[str, str]
    """The record's metadata under the keys of `records.version_metadata`, by `metadata.` and the key."""
    first_at: Timestamp
    """When its first verdict was given."""
    verdicts: int
    """Accepts and rejects; abstentions do not count."""
    labels: int
    """Verdicts with a person's label."""
    judged: RateEstimate
    """The share of accepts."""
    labelled: RateEstimate | None
    """The true rate by people's labels; null below 30 of them, or five of either outcome."""
    traffic: dict[str, dict[str, int]]
    """Number of verdicts by `kind` of record."""
    change: Measured | None = None
    """The rate less that of the version before, by labels where both have enough; the 95% interval holds at every look.
    Null of the first version, and while either has less than 30 verdicts."""
    unlike: tuple[Name, ...] = ()
    """Parts of `traffic` in which the version before differs, so that `change` may come from there."""


class ReviewRequest(Wire):
    """A verdict that people are asked about."""

    id: Name
    """Derived from the verdict, the rubric and the reason: the same if the request is published twice."""
    verdict_id: Name
    record_id: Name
    source: Name
    model: Name
    checker: Name
    config_digest: Name
    """That of the verdict: labels of one configuration say nothing of another."""
    version: dict[str, str] = Field(default_factory=dict)
    """That of the verdict: the parts by which it compares with others."""
    outcome: Literal["accept", "reject"]
    score: Fraction
    stratum: Name
    """Verdicts of one stratum are drawn alike: the outcome, and in it the `low` or the `high` half of the scores."""
    inclusion_probability: Share | None
    """The probability that the verdict was drawn with; null of a complaint."""
    share: Share = 1.0
    """That of the verdict."""
    reason: Literal["sample", "second_opinion", "complaint"]
    """`second_opinion`: another person than for the request before. `complaint`: asked about by name, not drawn; what
    is said of it never counts for the rate."""
    rubric_version: Name
    """By which rules people are to label."""
    origin: Origin | None
    """Position of the record."""
    asked_at: Timestamp
    expires_at: Timestamp
    """A later label is not counted any more."""
    terms: tuple[float, float, float, float] | None
    """The worth of the label for the alarm on the true rate: if bad, if good, at least and at most; null of a
    complaint."""

    @property
    def drawn_with(self) -> float | None:
        """The probability that its record was checked, and the verdict drawn then; None of a complaint."""
        return None if self.inclusion_probability is None else self.share * self.inclusion_probability


class Label(Wire):
    """A person's word on a verdict's output. Of several by one person with one rubric the highest `rank` counts.

    The key of the message is that of the request.
    """

    verdict_id: Name
    source: Name
    model: Name
    annotator: Name
    """Who says so: a name or a pseudonym, the same each time."""
    label: Literal["good", "bad", "unsure"]
    """Whether the output is good, whatever the judge says; `unsure` counts as half good."""
    kind: Literal["expert", "user", "reaction"] = "expert"
    """Only those of experts count for the rate: others are not drawn."""
    rubric_version: Name = "1"
    note: Text | None = None
    span: Text | None = None
    """The part of the output that is at fault."""
    labelled_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
    withdrawn: bool = False
    """True: this person takes back what was said before; `label` then counts for nothing."""
    id: str = Field(default="", max_length=256)
    """Derived from the rest if absent."""

    @model_validator(mode="after")
    def _identified(self) -> "Label":
        if not self.id:
            said = "withdrawn" if self.withdrawn else self.label
            content = [self.verdict_id, self.annotator, self.rubric_version, said, self.labelled_at.isoformat()]
            self.__dict__["id"] = content_id("lab", content)
        return self

    @property
    def value(self) -> float | None:
        """1 if good, 0 if bad; None if it was taken back."""
        return None if self.withdrawn else _VALUES[self.label]

    @property
    def rank(self) -> tuple[datetime, bool, float]:
        """The order of labels by one person, whichever comes first."""
        return self.labelled_at, self.withdrawn, 0.0 if self.withdrawn else _VALUES[self.label]


def valid_labels(labels: Iterable[Label]) -> dict[str, Label]:
    """The label of each annotator that counts, of those on one verdict by one rubric."""
    last: dict[str, Label] = {}
    for each in labels:
        if each.annotator not in last or last[each.annotator].rank <= each.rank:
            last[each.annotator] = each
    return {annotator: each for annotator, each in last.items() if not each.withdrawn}


class StratumEstimate(Wire):
    """The verdicts of one stratum, and their labels."""

    stratum: Name
    verdicts: int
    asked: int
    labels: int
    good: Fraction
    """The share of good ones, by the labels weighted by how they were drawn."""
    answered: Fraction
    """Labels over requests."""


class Calibration(Wire):
    """The outcome of people's labels for one checker with one configuration on one subject."""

    id: Name
    source: Name
    model: Name
    checker: Name
    config_digest: Name
    rubric_version: Name
    updated_at: Timestamp
    verdicts: int
    """Accepts and rejects counted; abstentions are not."""
    labels: int
    """Drawn verdicts with a label."""
    agreed: int
    """Those of `labels` on which people and the judge say the same; they are drawn unevenly, `kappa` is not."""
    judge_rate: Fraction
    """The share of accepts, where a verdict counts for the records that it stands for."""
    rate: Measured | None
    """The true success rate; the interval holds at every look. Null below 30 labels, or five in a stratum."""
    labels_alone: float | None
    """Half the width that the interval would have without a judge."""
    missing: Measured | None = None
    """The rate if all unanswered requests were bad, and if all were good; null where 80% are answered everywhere."""
    kappa: Measured | None
    """Cohen's kappa, weighted to the traffic."""
    sensitivity: Measured | None
    """The share of good outputs that are accepted."""
    specificity: Measured | None
    """The share of bad outputs that are rejected."""
    strata: tuple[StratumEstimate, ...]
    pairs: int
    """Verdicts that two people labelled."""
    pairs_agreed: int
    """Those on which they say the same: no judge agrees with people more than they with each other."""
    disagreements: tuple[Name, ...]
    """Ids of the last verdicts that people do not agree with; at most 20."""
    alarm_below: float | None
    """The true rate that the alarm is about; null while it is learned."""
    alarm_evidence: float
    """Share of the way to the alarm: 1 raises it."""
    fallen: bool
    """True from an alarm to the recovery."""
    versions: tuple[VersionRate, ...] = ()
    """The application's versions, in the order of their first verdicts; at most five, those with the latest ones."""


class TrueRateAlert(Wire):
    """The true success rate of a subject fell, or only what the judge says of it."""

    id: Name
    kind: Literal["true_rate"] = "true_rate"
    cause: TrueRateCause
    """`model`: both rates fell. `judge_blind`: the true one alone. `judge_or_traffic`: the judge's alone. `unknown`:
    the true one, before the judge's was known. `recovery`: the true rate is back."""
    checker: Name
    source: Name
    model: Name
    config_digest: Name
    raised_at: Timestamp
    below: Fraction
    """The true rate is, or is not, below this."""
    rate: Measured | None
    """The true rate since the series began, which falls later than the alarm."""
    judge_rate: Fraction
    """The share of accepts among the last 1,000 verdicts."""
    labels: int
    error_bound: Fraction
    """Upper bound on the probability that a rate which is never below ever raises this."""
    disagreements: tuple[Name, ...]
    """Ids of the last verdicts that people do not agree with."""
    common: tuple[Commonality, ...] = ()
    """As of an `Alert`."""
    summary: str
    """The alert in one sentence."""
