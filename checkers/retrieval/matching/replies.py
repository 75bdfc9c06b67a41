"""The form of a judge's answer about stored texts."""

from pydantic import BaseModel, ConfigDict


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
    """An entry a stored text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: list[TextReply]
