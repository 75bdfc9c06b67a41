"""Questions to a model for a verdict and its replies, from lines of a recording."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson


class Exchange(NamedTuple):
    """One question with its reply."""

    task: str
    model: str
    messages: tuple[tuple[str, str], ...]
    """Roles and texts, in order; empty for a model that takes no messages."""
    reply: str


def exchange_of(line: Mapping[str, Any]) -> Exchange:
    """The exchange of a recorded line, which may be an endpoint's or only how a request ended."""
    request = line.get("request") or {}
    told = request.get("messages") or (
        [{"role": "prompt", "content": request["prompt"]}] if "prompt" in request else []
    )
    messages = tuple((str(one.get("role", "")), _text(one.get("content", ""))) for one in told)
    return Exchange(str(line.get("task", "")), str(line.get("judge", "")), messages, _reply(line))


def _reply(line: Mapping[str, Any]) -> str:
    if line.get("type") == "exchange":
        raw = line.get("response")
        return str(line.get("error") or "nothing came back") if raw is None else "\n".join(_choices(raw)) or raw
    return _text(next((line[part] for part in ("reply", "samples", "grades", "detail") if part in line), ""))


def _choices(raw: str) -> Iterator[str]:
    """The texts of a completion; none if it is of another form."""
    try:
        choices = orjson.loads(raw)["choices"]
        texts = [one["message"]["content"] if "message" in one else one["text"] for one in choices]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return
    yield from (text for text in texts if isinstance(text, str))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
