"""Improvements: what became of a rejected response when it was rewritten and checked again."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from schemas.base import Name, Text, Timestamp, Wire
from schemas.evidence import SentenceFinding
from schemas.origins import Origin
from schemas.verdicts import Outcome, Share, Usage

ImprovementStatus = Literal["improved", "not_improved", "not_tried"]
"""`improved`: the last check accepts every sentence. `not_improved`: the writer answered, and yet some stayed
inconsistent, or the check of what it wrote did not come to an end. `not_tried`: the record is gone or has nothing to be
rewritten by, or the writer gave no usable answer at all."""


class SentenceChange(Wire):
    """A sentence that was rewritten; all others are as they were, byte for byte."""

    before: Text
    after: Text
    """Empty where the sentence was taken out, and with it the list marker and the white space that held it apart."""
    start: int
    """Offset of `before` in the response of the round before, in code points."""
    end: int
    reason: str
    """The writer's."""


class ImprovementRound(Wire):
    """One round of reasons, rewriting and checking again (DCR, section 3.3)."""

    response: Text
    """The whole response after this round."""
    changes: tuple[SentenceChange, ...]
    outcome: Outcome
    """The re-check's."""
    score: Share | None
    """The re-check's; null where it abstained."""
    consistent_share: Share | None
    """The paper's score of the re-check; 1 ends the rounds."""
    findings: tuple[SentenceFinding, ...] = ()
    """The re-check's, sentence by sentence."""


class Improvement(Wire):
    """What became of a rejected response."""

    id: Name
    """Deterministic: the verdict, the improver and its configuration."""
    verdict_id: Name
    """The verdict that rejected it."""
    record_id: Name
    checker: Name
    improver: Name
    improver_version: Name
    config_digest: Name
    status: ImprovementStatus
    before: Text | None
    """The response that was rejected; null where its record is gone."""
    after: Text | None
    """The last round's response; null where nothing was rewritten."""
    score_before: Share | None
    score_after: Share | None
    rounds: tuple[ImprovementRound, ...] = ()
    inconsistent: tuple[SentenceFinding, ...] = ()
    """What stayed inconsistent, by the last check that decided something: in `after`, or in `before` where there is no
    `after`. Empty where that check could not decide."""
    reason: str
    """A sentence for a person."""
    usage: Usage
    """Of rewriting and checking again together."""
    source: Name
    model: Name
    """The subject."""
    writer: str
    """The model that rewrote."""
    judge: str
    """The judge of the re-check; empty where nothing was checked again."""
    prompt_versions: dict[str, str] = Field(default_factory=dict)
    """The digests of the writer's templates, by name."""
    origin: Origin | None = None
    """Where the record stands."""
    improved_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
