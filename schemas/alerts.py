"""Alerts: the success rate of a subject dropped or recovered; and what makes later verdicts another matter."""

from typing import Literal

from schemas.base import Fraction, Measured, Name, Origin, Timestamp, Wire

AlertKind = Literal["trust_drop", "trust_recovery", "version_worse"]


class RejectedRecord(Wire):
    """A rejected record that contributed to an alert."""

    verdict_id: Name
    record_id: Name
    reason: str
    """The reason in the verdict. It may quote the response."""
    checked_at: Timestamp
    origin: Origin | None = None
    """Position of the record. It can be read there while its topic retains it."""
    verdict_origin: Origin | None = None
    """Position of the verdict; null if it is on no topic."""


class Change(Wire):
    """A part of a version that changed."""

    name: str
    """`checker_version`, `config_digest`, `judge`, or `metadata.` and a key."""
    before: str | None
    """Null if there was none."""
    after: str | None


_HAVE = {"document": "cite", "tenant": "are of tenant", "hour": "are of the hour", "judge": "are judged by"}


class Commonality(Wire):
    """What rejected outputs have in common, and accepted ones of the same series have less often."""

    name: Name
    """`document`, `metadata.` and a key, `tenant`, `hour`, `checker_version`, `config_digest` or `judge`."""
    value: str
    rejects_with: int
    rejects: int
    """All that were compared."""
    accepts_with: int
    accepts: int

    @property
    def line(self) -> str:
        """It in one sentence; quotes names that producers chose."""
        have = f"{_HAVE.get(self.name, f'have {self.name}')} {self.value}"
        return f"{self.rejects_with} of {self.rejects} rejects {have}; {self.accepts_with} of {self.accepts} accepts do"


class Alert(Wire):
    """A change in the success rate of one subject under one checker."""

    id: Name
    """Derived from the number of the alert and the verdict that raised it: the same if it is published twice."""
    kind: AlertKind
    """`version_worse`: the application's latest version has a lower success rate than the one before."""
    checker: Name
    source: Name
    model: Name
    raised_at: Timestamp
    baseline: Fraction
    """The expected success rate, less tolerance and allowance; the mean over `verdicts`, as it changes with the
    hours."""
    baseline_from: Literal["configured", "learned", "version"]
    """`learned`: from the subject's earlier verdicts. `version`: it is the success rate of the version before."""
    observed: Fraction
    """The success rate since the most likely moment of the change; of a version, since its first verdict."""
    observed_low: Fraction
    """Lower end of the 95% Wilson interval of `observed`."""
    observed_high: Fraction
    """Upper end of the 95% Wilson interval of `observed`."""
    verdicts: int
    """Number of verdicts that `observed` is computed from."""
    error_bound: Fraction
    """Upper bound on the probability that a subject whose success rate never dropped ever has an alert; if the baseline
    is learned, on the average over success rates; of a version, for large numbers of verdicts."""
    summary: str
    """The alert in one sentence."""
    tolerance: Fraction = 0.0
    """A drop up to this is none."""
    allowance: Fraction = 0.0
    """The part by which less is expected, as the subject's days differ."""
    changed: tuple[Change, ...] = ()
    """The parts that are others than when the baseline began."""
    difference: Measured | None = None
    """Of a version: `observed` less `baseline`, by an interval that holds at every look."""
    judge: str | None = None
    """The judge whose success rate it is; null where none was asked."""
    common: tuple[Commonality, ...] = ()
    """What the latest rejects have in common, the strongest first; at most 3. Empty if chance may explain it all."""
    rejected: tuple[RejectedRecord, ...] = ()
    """Rejected records that contributed to the alert, latest first; at most 10."""


class SeriesAnew(Wire):
    """A series started again, because its checker, its judge or its application changed.

    Verdicts under another checker or judge are not compared; a new version of the application is compared with all
    before it as well.
    """

    id: Name
    """The same if the message is published twice."""
    kind: Literal["series_anew"] = "series_anew"
    checker: Name
    source: Name
    model: Name
    raised_at: Timestamp
    changed: tuple[Change, ...]
    verdicts: int
    """Number of verdicts counted before the change."""
    ended_drop: Name | None
    """Id of the drop that was going on, and is not told of any more."""
    summary: str
    """The event in one sentence."""
