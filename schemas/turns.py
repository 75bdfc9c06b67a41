"""What was said before in a session, as later records of it are compared with it."""

from schemas.base import Name, Text, Wire

_MOST_RESPONSE, _MOST_PROMPT = 2000, 500
"""Code points that are kept of a turn's texts: state and evidence stay small, however long an output is."""

MOST_TURNS = 20
"""Turns of a session that may be kept."""


class Turn(Wire):
    """An earlier output of a session, with the prompt that it answered."""

    record_id: Name
    prompt: Text | None = None
    """The first 500 code points."""
    response: Text
    """The first 2,000 code points."""

    @classmethod
    def cut(cls, record_id: str, prompt: str | None, response: str) -> "Turn":
        """The turn of an output of any length."""
        return cls(record_id=record_id, prompt=prompt and prompt[:_MOST_PROMPT], response=response[:_MOST_RESPONSE])
