"""The forms of the judge's answers (paper, appendix A.2)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class SentenceReason(BaseModel):
    """What the judge says about one sentence."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentence: str
    reason: str


class Reasons(BaseModel):
    """DCE's answer: a reason a sentence, and one flag for all of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: list[SentenceReason]
    is_consistent: bool


class Marks(BaseModel):
    """AMC's answer: a mark a reason, each with why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: list[str]
    answer: list[Literal[-1, 1]]
