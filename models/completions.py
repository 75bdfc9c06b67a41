"""Completions: the documents of chat endpoints, in one form for all gateways."""

from dataclasses import dataclass
from typing import Any

from models.faults import Transient
from schemas import Usage

_BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})
"""Finish reasons of gateways, and of DeepSeek, where the model did not come to an end."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, and how it ended."""

    content: str | None
    finish_reason: str = ""
    refused: bool = False
    called_tools: bool = False
    logprobs: Any = None
    """The log-probabilities as they came; None if there are none."""


def completions_of(document: Any, count: int) -> tuple[tuple[Completion, ...], Usage]:
    """At most so many completions of a response, which has one at least, and the tokens that it counts (or 0).

    Raises:
        Transient: the model did not come to an end.
        AttributeError, LookupError, TypeError, ValueError: it is something else.
    """
    usage = document.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    prompt, written, cached = (number if isinstance(number, int) else 0 for number in numbers)
    first, *others = document["choices"][:count]
    counted = Usage(prompt_tokens=prompt, completion_tokens=written, cached_tokens=min(cached, prompt))
    return (_of_choice(first), *map(_of_choice, others)), counted


def _of_choice(choice: Any) -> Completion:
    reason = str(choice.get("finish_reason") or "")
    if reason in _BROKEN_OFF:
        raise Transient("the endpoint broke its reply off")
    message = choice.get("message")
    if message is None and reason.startswith("content_filter"):
        message = {}
    tools = message.get("tool_calls") or message.get("function_call")
    text = message.get("content")
    if isinstance(text, list):
        # Some gateways give it in parts, with thought among them.
        text = "".join(part["text"] for part in text if part["type"] == "text")
    content = text if isinstance(text, str) else None
    return Completion(content, reason, bool(message.get("refusal")), bool(tools), choice.get("logprobs"))
