"""Alerts: trust in a subject dropped, or came back."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Name, Timestamp, Wire
from schemas.origins import Origin

AlertKind = Literal["trust_drop", "trust_recovery"]

Rate = Annotated[float, Field(ge=0, le=1)]


class RejectedRecord(Wire):
    """A rejected record that drove an alert."""

    verdict_id: Name
    record_id: Name
    reason: str
    """The verdict's, which may quote the response."""
    checked_at: Timestamp
    origin: Origin | None = None
    """Where the record stands, to be read again while its topic keeps it."""


class Alert(Wire):
    """A change in the success rate of one subject under one checker."""

    id: Name
    """Deterministic: the subject, the checker, and which of its alerts it is; told twice it is the same."""
    kind: AlertKind
    checker: Name
    source: Name
    model: Name
    raised_at: Timestamp
    baseline: Rate
    """The success rate that was configured or learned."""
    baseline_from: Literal["configured", "learned"]
    observed: Rate
    """The success rate since the most likely moment of the change."""
    observed_low: Rate
    """Lower end of its 95% Wilson interval."""
    observed_high: Rate
    """Upper end."""
    verdicts: int
    """How many verdicts `observed` rests on."""
    error_bound: Rate
    """How likely at most a subject whose trust never dropped has an alert, however long it is watched."""
    summary: str
    """A sentence for a person."""
    rejected: tuple[RejectedRecord, ...] = ()
    """The rejected records that drove it, the latest first; at most as many as are configured."""
