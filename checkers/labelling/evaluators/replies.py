"""The forms of the labeller's answers."""

from pydantic import BaseModel, ConfigDict


class CriterionReason(BaseModel):
    """What the labeller says about one criterion."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: int
    """Its number in the rubric, from 1."""
    reason: str
    holds: bool


class LabelReply(BaseModel):
    """A label with reasons."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reasons: list[CriterionReason]
    label: str


class PickReply(BaseModel):
    """The datapoint that matches, out of those shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    choice: int
    """Its number, from 1."""


class GenerateReply(BaseModel):
    """A datapoint of the labeller's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    datapoint: str
    """The text, or the JSON of a datapoint that is none."""
