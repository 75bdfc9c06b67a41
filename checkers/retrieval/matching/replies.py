"""The form of a judge's answer about stored texts."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Direction(BaseModel):
    """Whether one text follows from the other."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    follows: bool


class TextReply(BaseModel):
    """What the judge says about one stored text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    """Its place in the list, from 1."""
    text_to_query: Direction
    query_to_text: Direction


class Replies(BaseModel):
    """An entry a stored text; none from a judge that grades, whose grades say it all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: list[TextReply]

    @model_validator(mode="before")
    @classmethod
    def _of_grades(cls, given: Any) -> Any:
        """What a grading judge makes of every question, sentences with reasons, is not this question's form."""
        if isinstance(given, dict) and given.keys() == {"reason", "is_consistent"}:
            return {"texts": []}
        return given
