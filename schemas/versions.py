"""Versions: the success rates of an application's versions, each with its difference to the one before."""

from pydantic import Field

from schemas.base import Fraction, Measured, Name, Timestamp, Wire


class VersionRate(Wire):
    """The verdicts on one version of the application."""

    version: dict[str, str]
    """The record's metadata under the keys of `records.version_metadata`, by `metadata.` and the key."""
    first_at: Timestamp
    """When its first verdict was given."""
    verdicts: int
    """Accepts and rejects counted; abstentions are not."""
    labels: int = 0
    """Verdicts with a person's label; 0 where `rate` is the judge's."""
    rate: Fraction
    """The success rate: the judge's, or the true one by people's labels."""
    variance: float = Field(gt=0)
    """That of `rate` as an estimate; larger where verdicts fail together."""
    traffic: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Number of verdicts by `kind` of record, and by `tenant`, whose names are hashed to 16 values."""
    change: Measured | None = None
    """The rate less that of the version before; the 95% interval holds at every look. Null of the first version, and
    while either has less than 30 verdicts."""
    unlike: tuple[Name, ...] = ()
    """Parts of `traffic` in which the version before differs, so that `change` may come from there."""


class VersionRates(Wire):
    """The success rates of the versions of one subject under one checker, by the judge."""

    id: Name
    source: Name
    model: Name
    checker: Name
    updated_at: Timestamp
    versions: tuple[VersionRate, ...]
    """Those with the latest verdicts, in the order of their first ones; at most five."""
