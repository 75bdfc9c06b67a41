"""Verdicts: what a checker decided about a record, and what that cost."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.base import Name, Timestamp, Wire
from schemas.evidence import Evidence
from schemas.origins import Origin

Outcome = Literal["accept", "reject", "abstain"]
OUTCOMES: tuple[Outcome, ...] = ("accept", "reject", "abstain")

Share = Annotated[float, Field(ge=0, le=1)]


class Usage(Wire):
    """What a check cost."""

    calls: int = 0
    """Questions that reached the judge's endpoint, repeats after a failure included."""
    cached: int = 0
    """Questions answered from the cache or by an identical question already under way."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """Wall time of the whole check."""
    cost: float = 0.0
    """In the currency of the configured prices."""

    def __add__(self, other: "Usage") -> "Usage":
        """What both cost together; `seconds` add up, also of what ran side by side."""
        return Usage(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
            cost=self.cost + other.cost,
        )


class Verdict(Wire):
    """One checker's decision about one record."""

    id: Name
    """Deterministic: record, checker and configuration; a redelivered record gives the same."""
    record_id: Name
    checker: Name
    checker_version: Name
    config_digest: Name
    outcome: Outcome
    score: Share | None
    """0 to 1; null when abstaining."""
    error_bound: Share | None = None
    reason: str
    """A sentence for a person."""
    evidence: Evidence
    usage: Usage
    source: Name
    model: Name
    """The subject."""
    judge: str
    origin: Origin | None = None
    """Where the record stood; null for one that did not come from a topic."""
    checked_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))

    @model_validator(mode="after")
    def _score_unless_abstaining(self) -> "Verdict":
        if (self.score is None) != (self.outcome == "abstain"):
            raise ValueError(f"outcome {self.outcome!r} with score {self.score!r}: abstain, and only abstain, has none")
        return self
