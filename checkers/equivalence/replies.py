"""The forms of a model's answers about sentences and phrases."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from schemas.base import Text


class EquivalenceReply(BaseModel):
    """Whether two texts mean the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    explanation: Text
    answer: Literal["yes", "no"]


class PhraseReply(EquivalenceReply):
    """Whether two phrases could mean the same."""

    @model_validator(mode="before")
    @classmethod
    def _of_grades(cls, given: Any) -> Any:
        """What a grading judge makes of every question, sentences with reasons, is not this question's form."""
        if isinstance(given, dict) and given.keys() == {"reason", "is_consistent"}:
            return {"explanation": "", "answer": "yes" if given["is_consistent"] is True else "no"}
        return given


class ParaphrasesReply(BaseModel):
    """A sentence in other words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paraphrases: list[Text]
