"""Alerts: trust in a subject dropped."""

from typing import Literal

from schemas.base import Name, Timestamp, Wire


class Alert(Wire):
    """A drop in the success rate of one subject under one checker."""

    id: Name
    kind: Literal["trust_drop"]
    checker: Name
    source: Name
    model: Name
    raised_at: Timestamp
    baseline: float
    """The success rate that was promised or learned, 0 to 1."""
    observed: float
    """The success rate since the change, 0 to 1."""
    verdicts: int
    """How many verdicts the alert rests on."""
    summary: str
    rejected: tuple[Name, ...] = ()
    """Ids of the rejected verdicts that drove it, the latest first."""
