"""Tool calls for tests of their checker, and a stub that finds a value supported where it stands in what was said."""

from typing import Any

from schemas import ToolCall
from tests.support.stub_request import StubRequest

BOOK = {
    "name": "book_boat",
    "description": "Books a boat.",
    "parameters": {
        "type": "object",
        "properties": {
            "boat": {"type": "string", "description": "Name of the boat"},
            "day": {"type": "string", "format": "date"},
            "people": {"type": "integer", "minimum": 1},
            "sails": {"type": "string", "enum": ["small", "large"], "default": "small"},
        },
        "required": ["boat", "day"],
        "additionalProperties": False,
    },
}


def call(**fields: Any) -> ToolCall:
    """A call that is right in all respects, but for what `fields` change."""
    known: dict[str, Any] = {
        "kind": "tool_call",
        "id": "t-1",
        "source": "harbour",
        "model": "acme-agent-2",
        "name": "book_boat",
        "arguments": {"boat": "Elster", "day": "2026-07-04"},
        "tools": [BOOK],
        "prompt": "I would like the Elster on 2026-07-04.",
    }
    return ToolCall.model_validate(known | fields)


def listens(request: StubRequest) -> str:
    """A judge that supports values that stand in the passages, and a failure where the response says `sorry`."""
    if request.kind == "reason":
        return '{"reason": "something else was said"}'
    if request.kind == "informs":
        return "yes"
    if request.kind == "entails" and not request.reference.startswith("The user says"):
        failed = "sorry" in request.reference.lower()
        return "yes" if failed == ("could not" in request.quotes["Second text"]) else "no"
    lines = [line for text in request.sentences for line in text.splitlines()]
    values = [line.rpartition(": ")[2].rstrip(".") for line in lines]
    return "yes" if all(value in request.reference for value in values) else "no"
