"""The success rates of an application's versions."""

from pydantic import Field

from schemas.base import Fraction, Measured, Name, Timestamp, Wire


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
