"""The forms of a model's answers about sentences and phrases."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from schemas.base import Text


class EquivalenceReply(BaseModel):
    """Whether two sentences mean, or two phrases could mean, the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    explanation: Text
    answer: Literal["yes", "no"]


class ParaphrasesReply(BaseModel):
    """A sentence in other words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paraphrases: list[Text]
