"""Questions to ask in tests of the model."""

import asyncio
from typing import Any

from pydantic import BaseModel

from models.prompts import quoted
from models.protocol import Message, Model, ModelUnavailable, Question, Reply

REFERENCE = "The board met on Monday. It approved the budget."


class Entry(Reply):
    sentence: str
    reason: str


class Reasons(Reply):
    reason: tuple[Entry, ...]
    is_consistent: bool


class Found(Reply):
    number: int
    reason: str
    holds: bool


class Findings(Reply):
    entries: tuple[Found, ...]


class Other(BaseModel):
    number: int


def question(*sentences: str, reference: str = REFERENCE, **changes: Any) -> Question[Reasons]:
    """A consistency question; `changes` are laid over its fields."""
    sentences = sentences or ("The board met on Monday.", "It approved nothing.")
    shown = quoted("\n".join(sentences))
    fields: dict[str, Any] = {
        "task": "consistency.summary",
        "prompt_version": "v1",
        "messages": (
            Message("system", "Compare."),
            Message("user", f"Sentences:\n{shown}\nReference:\n{quoted(reference)}"),
        ),
        "reply": Reasons,
        "complaint": lambda reply: None if len(reply.reason) == len(sentences) else "a sentence is missing or invented",
    }
    return Question(**{**fields, **changes})


async def until_answered(model: Model, asked: Question[Any]) -> None:
    """Ask as a worker does: again after the pause, while the model is away."""
    while True:
        try:
            await model.ask(asked)
        except ModelUnavailable as unavailable:
            await asyncio.sleep(unavailable.retry_after)
        else:
            return
