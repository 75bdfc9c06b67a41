"""The messages to a model and from it, read from the attributes of its call."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import orjson

LeftOut: TypeAlias = Literal[
    "other",
    "own",
    "context",
    "no_content",
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


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    id: str
    """Empty if it has none."""
    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned."""

    id: str
    """Of its call; empty if it is not known."""
    value: Any
    failed: bool | None = None
    """None if it does not say."""

    @property
    def text(self) -> str:
        return as_text(self.value)


@dataclass(slots=True)
class Message:
    """One message of a conversation."""

    role: str
    texts: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    """Responses of tools."""
    calls: list[Call] = field(default_factory=list)
    """Calls of tools."""
    call_id: str = ""
    """Of the message of a tool: the call that it answers."""
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


def _calls(values: Iterable[Any]) -> Iterator[Call]:
    """Calls in the forms of OpenAI, Anthropic, OpenInference and OpenTelemetry; those without a name are left out."""
    for value in values:
        # OpenInference wraps each call, and OpenAI's API what is called.
        inner = _object(_object(value).get("tool_call", value))
        said = _object(inner.get("function", inner))
        given: Any = next((said[name] for name in ("arguments", "input", "args") if said.get(name) is not None), {})
        if isinstance(name := said.get("name"), str):
            yield Call(str(inner.get("id") or ""), name, given if isinstance(given, dict) else as_text(given))


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
    calls = inner.get("tool_calls") or []
    # Laid out flat, they are numbered.
    calls = _in_order(calls) if isinstance(calls, dict) else _listed(calls)
    call_id = str(inner.get("tool_call_id") or inner.get("id") or "")
    message = Message(_ROLES.get(role, role), calls=list(_calls(calls)), call_id=call_id)
    for name in ("parts", "contents", "content"):
        if (content := inner.get(name)) is not None:
            _add(message, content)
            break
    return message


def _add(message: Message, content: Any) -> None:
    if isinstance(content, dict) and "type" not in content:
        content = _in_order(content)
    for part in _listed(content):
        if isinstance(part, str):
            _say(message, part)
            continue
        # OpenInference wraps each part once more.
        inner = _object(_object(part).get("message_content", part))
        match inner.get("type"):
            case "text" | "input_text" | "output_text":
                text = inner.get("content", inner.get("text"))
                if not isinstance(text, str):
                    raise NotTaken("unreadable")
                _say(message, text)
            case "tool_call_response" | "tool_result":
                value = inner.get("response", inner.get("result", inner.get("content")))
                failed = inner.get("is_error", inner.get("isError"))
                call_id = str(inner.get("id") or inner.get("tool_use_id") or message.call_id)
                message.results.append(Result(call_id, value, failed if isinstance(failed, bool) else None))
            case "tool_call" | "tool_use":
                message.calls += _calls([inner])
            case "reasoning" | "thinking" | "compaction":
                pass
            case _:
                message.other = True


def _say(message: Message, text: str) -> None:
    if message.role == "tool":
        message.results.append(Result(message.call_id, text))
    else:
        message.texts.append(text)
