"""Improvements: rejected responses, rewritten and checked again."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from schemas.base import Fraction, Name, Origin, Text, Timestamp, Wire
from schemas.evidence import SentenceFinding
from schemas.verdicts import Outcome, Usage

ImprovementStatus = Literal["improved", "not_improved", "not_tried"]
"""`improved`: the last check accepts every sentence. `not_improved`: the writer answered, but some sentences stayed
inconsistent or the check of the rewritten response abstained. `not_tried`: the record is gone, has no reference to
rewrite it by, or the writer gave no usable answer."""


class SentenceChange(Wire):
    """A sentence that was rewritten. All other sentences are unchanged, byte for byte."""

    before: Text
    after: Text
    """Empty if the sentence was removed, together with its list marker and the white space before it."""
    start: int
    """Offset of `before` in the response of the previous round, in code points."""
    end: int
    """Offset behind `before`, in code points."""
    reason: str
    """The writer's reason."""


class ImprovementRound(Wire):
    """One round of rewriting and checking again (DCR, section 3.3)."""

    response: Text
    """The whole response after this round."""
    changes: tuple[SentenceChange, ...]
    outcome: Outcome
    """Outcome of the re-check."""
    score: Fraction | None
    """Score of the re-check; null if it abstained."""
    consistent_share: Fraction | None
    """The paper's score of the re-check. A score of 1 ends the rounds."""
    findings: tuple[SentenceFinding, ...] = ()
    """Findings of the re-check, sentence by sentence."""


class Improvement(Wire):
    """The result of improving a rejected response."""

    id: Name
    """Derived from the verdict, the improver and its configuration: the same after redelivery."""
    verdict_id: Name
    """The verdict that rejected it."""
    record_id: Name
    checker: Name
    improver: Name
    improver_version: Name
    config_digest: Name
    status: ImprovementStatus
    before: Text | None
    """The rejected response; null if its record is gone."""
    after: Text | None
    """The response of the last round; null if nothing was rewritten."""
    score_before: Fraction | None
    score_after: Fraction | None
    rounds: tuple[ImprovementRound, ...] = ()
    inconsistent: tuple[SentenceFinding, ...] = ()
    """Sentences that the last check found inconsistent: of `after`, or of `before` if `after` is null. Empty if that
    check abstained."""
    reason: str
    """The result in one sentence."""
    usage: Usage
    """Cost of rewriting and checking again."""
    source: Name
    model: Name
    """The subject: the model whose output was rejected."""
    writer: str
    """Name of the model that rewrote."""
    judge: str
    """Name of the judge of the re-check; empty if nothing was checked again."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    """Digests of the writer's prompt templates by name."""
    origin: Origin | None = None
    """Position of the record."""
    improved_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
