"""The messages to a model and from it, read from the attributes of its call."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import ValidationError

from schemas.records import Tool, has_failed
from streams.otlp.names import TOOL_DEFINITIONS

SkipReason: TypeAlias = Literal[
    "other", "own", "context", "no_content", "not_text", "truncated", "unreadable", "invalid", "oversized"
]
"""Why an item became no record. `other`: no call of a model. `own`: assay's. `context`: documents, kept for the calls
of their trace. `not_text`: a picture, a file, sound."""

_LEVELS = 12
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""LangChain's names and Gemini's."""

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""OpenAI's name, Anthropic's and MCP's."""

_NUMBER = re.compile("[0-9]{1,6}")


class NotTaken(Exception):
    """The item becomes no record."""

    def __init__(self, reason: SkipReason) -> None:
        self.reason: SkipReason = reason


class ToolPart(NamedTuple):
    """A call of a tool with its arguments, or its result; the id ties them, and is empty if there is none."""

    id: str
    text: str
    name: str = ""
    failed: Any = None


@dataclass(slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: str
    texts: list[str] = field(default_factory=list)
    results: list[ToolPart] = field(default_factory=list)
    calls: list[ToolPart] = field(default_factory=list)
    call_id: str = ""  # Of the message of a tool: the call that it answers.
    other: bool = False  # True if it has parts that are no text.

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def messages_of(attributes: Mapping[str, Any], names: Iterable[str]) -> list[ChatMessage]:
    """The messages under the first of `names` that has any; raises `NotTaken` if they are cut off, or no messages."""
    return [_message(each) for each in _listed(next(filter(None, found_under(attributes, names)), []))]


def found_under(attributes: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    """What is under each of `names`, as one value or laid out flat; raises as `messages_of`."""
    for name in names:
        value = attributes.get(name)
        yield structured(value) if value is not None else _unflattened(attributes, name)


def structured(value: Any) -> Any:
    """The value that an attribute holds, or the JSON in it."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        # What ends too early was cut by a limit on attributes.
        raise NotTaken("truncated" if value and error.pos >= len(value) else "unreadable") from None


def _unflattened(attributes: Mapping[str, Any], name: str) -> list[Any]:
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
    message = ChatMessage("")
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


def _message(value: Any) -> ChatMessage:
    inner = _object(_object(value).get("message", value))
    role = str(inner.get("role", "")).lower()
    message = ChatMessage(_ROLES.get(role, role), call_id=str(inner.get("tool_call_id") or inner.get("id") or ""))
    calls = inner.get("tool_calls") or []
    # Laid out flat, they are numbered.
    for call in _in_order(calls) if isinstance(calls, dict) else _listed(calls):
        _add_call(message, call)
    contents = (inner.get(name) for name in ("parts", "contents", "content"))
    _add(message, next((content for content in contents if content is not None), []))
    return message


def _add(message: ChatMessage, content: Any) -> None:
    if isinstance(content, dict) and "type" not in content:
        content = _in_order(content)
    for part in _listed(content):
        given = {"type": "text", "text": part} if isinstance(part, str) else _object(part)
        # OpenInference wraps each part once more.
        inner = _object(given.get("message_content", given))
        match inner.get("type"):
            case "text" | "input_text" | "output_text":
                text = inner.get("content", inner.get("text"))
                if not isinstance(text, str):
                    raise NotTaken("unreadable")
                if message.role == "tool":
                    message.results.append(ToolPart(message.call_id, text))
                else:
                    message.texts.append(text)
            case "tool_call_response" | "tool_result":
                text = as_text(inner.get("response", inner.get("result", inner.get("content"))))
                id_ = inner.get("id") or inner.get("tool_use_id") or message.call_id
                message.results.append(ToolPart(str(id_), text, "", inner.get("is_error", inner.get("isError"))))
            case "tool_call" | "tool_use":
                _add_call(message, inner)
            case "reasoning" | "thinking" | "compaction":
                pass
            case _:
                message.other = True


def _add_call(message: ChatMessage, value: Any) -> None:
    """Add a call in the form of OpenAI, Anthropic, OpenInference or OpenTelemetry, unless it has no name."""
    inner = _object(_object(value).get("tool_call", value))
    said = _object(inner.get("function", inner))
    given: Any = next((said[name] for name in ("arguments", "input", "args") if said.get(name) is not None), {})
    if isinstance(name := said.get("name"), str):
        message.calls.append(ToolPart(str(inner.get("id") or ""), as_text(given), name))


def tools_of(attributes: Mapping[str, Any]) -> list[Tool]:
    """The tools that a model's call could call; those that are described in no known form are left out."""
    with suppress(NotTaken):
        found: Any = next(filter(None, found_under(attributes, TOOL_DEFINITIONS)), [])
        return [tool for each in _listed(found) if (tool := _tool(each))]
    return []


def _tool(value: Any) -> Tool | None:
    with suppress(AttributeError, KeyError, NotTaken, TypeError, ValidationError):
        # OpenInference has the whole definition as JSON, OpenAI's API one level down.
        for name in ("tool", "json_schema", "function"):
            value = structured(value.get(name, value))
        schema = structured(next((value[name] for name in _SCHEMAS if name in value), None))
        return Tool(name=value["name"], description=value.get("description"), parameters=schema)
    return None


def failures(said: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The fields of each call in `said` that failed and was not repeated with success."""
    calls = {call.id: call for message in said for call in message.calls}
    results = [result for message in said for result in message.results if result.id in calls]
    last = {calls[result.id].name: result for result in results}
    return [
        {"name": name, "arguments": calls[result.id].text, "result": result.text, "is_error": True}
        for name, result in last.items()
        if (has_failed(result.text) if result.failed is None else result.failed)
    ]
