"""The forms of the judge's answers when triplets are made."""

from pydantic import BaseModel, ConfigDict, Field


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PositiveReply(_Reply):
    """The same in other words."""

    rewording: str = Field(min_length=1)


class BackTranslationReply(_Reply):
    """Almost the same words, and something else."""

    change: str
    rewording: str = Field(min_length=1)


class InferenceReply(_Reply):
    """A passage with the evidence for a claim, and without it."""

    context: str = Field(min_length=1)
    without_evidence: str = Field(min_length=1)


class QualityReply(_Reply):
    """Whether a triplet is what it is meant to be."""

    reason: str
    positive_holds: bool
    negative_differs: bool
    well_formed: bool
