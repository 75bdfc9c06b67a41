"""The messages to a model and from it, read from the attributes of its call."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import orjson

LeftOut: TypeAlias = Literal[
    "other",
    "own",
    "context",
    "no_content",
    "tool_call",
    "not_text",
    "truncated",
    "unreadable",
    "invalid",
    "oversized",
]
"""Why an item became no record. `other`: no call of a model. `own`: assay's. `context`: documents, kept for the calls
of their trace. `not_text`: a picture, a file, sound."""

_LEVELS = 12
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""LangChain's names and Gemini's."""

_NUMBER = re.compile("[0-9]{1,6}")


class NotTaken(Exception):
    """The item becomes no record."""

    def __init__(self, reason: LeftOut) -> None:
        super().__init__(reason)
        self.reason: LeftOut = reason


@dataclass(slots=True)
class Message:
    """One message of a conversation."""

    role: str
    texts: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    """Responses of tools."""
    calls: bool = False
    """True if it calls tools."""
    other: bool = False
    """True if it has parts that are no text."""

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def messages_of(attributes: Mapping[str, Any], names: Sequence[str]) -> list[Message]:
    """The messages under the first of `names` that has any, as one value or laid out flat.

    Raises:
        NotTaken: they are cut off, or no messages.
    """
    for name in names:
        value = attributes.get(name)
        found = structured(value) if value is not None else unflattened(attributes, name)
        if found:
            return [_message(each) for each in _listed(found)]
    return []


def structured(value: Any) -> Any:
    """The value that an attribute holds, or the JSON in it."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        # What ends too early was cut by a limit on attributes.
        raise NotTaken("truncated" if value and error.pos >= len(value) else "unreadable") from None


def unflattened(attributes: Mapping[str, Any], name: str) -> list[Any]:
    """The list that attributes such as `name.0.text` lay out."""
    root: dict[str, Any] = {}
    prefix = f"{name}."
    for key, value in attributes.items():
        if key.startswith(prefix):
            *steps, last = key[len(prefix) :].split(".", _LEVELS)
            inner = root
            for step in steps:
                inner = inner.setdefault(step, {})
                if not isinstance(inner, dict):
                    raise NotTaken("unreadable")
            inner[last] = value
    return _in_order(root)


def parts_text(value: Any) -> list[str]:
    """The texts of a list of parts, such as the system's instructions."""
    message = Message("")
    _add(message, structured(value))
    return message.texts


def as_text(value: Any) -> str:
    """The value if it is a text, else its JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        raise NotTaken("unreadable") from None


def _in_order(numbered: Mapping[str, Any]) -> list[Any]:
    return [numbered[key] for key in sorted(filter(_NUMBER.fullmatch, numbered), key=int)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotTaken("unreadable")
    return value


def _message(value: Any) -> Message:
    inner = _object(_object(value).get("message", value))
    role = str(inner.get("role", "")).lower()
    message = Message(_ROLES.get(role, role), calls=bool(inner.get("tool_calls")))
    for name in ("parts", "contents", "content"):
        if (content := inner.get(name)) is not None:
            _add(message, content)
            break
    return message


def _add(message: Message, content: Any) -> None:
    if isinstance(content, dict) and "type" not in content:
        content = _in_order(content)
    for part in _listed(content):
        kind, said = ("text", part) if isinstance(part, str) else _part(_object(part))
        match kind:
            case "text":
                (message.results if message.role == "tool" else message.texts).append(said)
            case "result":
                message.results.append(said)
            case "call":
                message.calls = True
            case "other":
                message.other = True


def _part(part: dict[str, Any]) -> tuple[str, str]:
    # OpenInference wraps each part once more.
    part = _object(part.get("message_content", part))
    match part.get("type"):
        case "text" | "input_text" | "output_text":
            text = part.get("content", part.get("text"))
            if not isinstance(text, str):
                raise NotTaken("unreadable")
            return "text", text
        case "tool_call_response" | "tool_result":
            return "result", as_text(part.get("response", part.get("result", part.get("content"))))
        case "tool_call" | "tool_use":
            return "call", ""
        case "reasoning" | "thinking" | "compaction":
            return "unsaid", ""
        case _:
            return "other", ""
