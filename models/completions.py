"""Completions: the documents of chat endpoints, in one form for all gateways."""

from dataclasses import dataclass
from typing import Any

import orjson

from models.faults import Transient

_BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})
"""Finish reasons of gateways, and of DeepSeek, where the model did not come to an end."""


class NoCompletion(ValueError):
    """A document that is none."""


class ErrorInside(Exception):
    """A document that reports an error, as some gateways answer with status 200."""

    def __init__(self, error: Any) -> None:
        super().__init__()
        self.error = error
        code = str(error.get("code")) if isinstance(error, dict) else ""
        self.status = int(code) if code.isdecimal() and 400 <= int(code) < 600 else 500
        """The status that it gives; else a failure of the endpoint."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of one exchange."""

    content: str | None
    finish_reason: str
    """Empty if there is none."""
    refused: bool
    """True if the reply's field for refusals is set."""
    called_tools: bool
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    """Those of the prompt that the endpoint had read before."""
    logprobs: Any = None
    """The log-probabilities as they came; None if there are none."""
    others: tuple["Completion", ...] = ()
    """The further completions of a request for several; their tokens are counted with the first."""

    @property
    def characters(self) -> int:
        """The characters of all of them."""
        return len(self.content or "") + sum(one.characters for one in self.others)


def read_completion(data: bytes, count: int = 1) -> Completion:
    """The completion that a response brought, with as many others as were asked for.

    Raises:
        ErrorInside: it reports an error.
        Transient: the model did not come to an end.
        NoCompletion: it is something else.
    """
    try:
        document = orjson.loads(data)
        if document.get("error") and not document.get("choices"):
            raise ErrorInside(document["error"])
        usage = document.get("usage") or {}
        others = tuple(_of_choice(choice, {}) for choice in document["choices"][1:count])
        return _of_choice(document["choices"][0], usage, others)
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError):
        raise NoCompletion from None


def _of_choice(choice: Any, usage: Any, others: tuple[Completion, ...] = ()) -> Completion:
    reason = str(choice.get("finish_reason") or "")
    if reason in _BROKEN_OFF:
        raise Transient("the endpoint broke its reply off")
    message = choice.get("message")
    if message is None and reason.startswith("content_filter"):
        message = {}
    details = usage.get("prompt_tokens_details") or {}
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("cached_tokens")]
    prompt_tokens, completion_tokens, cached_tokens = (number if isinstance(number, int) else 0 for number in counts)
    return Completion(
        content=_text(message.get("content")),
        finish_reason=reason,
        refused=bool(message.get("refusal")),
        called_tools=bool(message.get("tool_calls") or message.get("function_call")),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cached_tokens=min(cached_tokens, prompt_tokens),
        logprobs=choice.get("logprobs"),
        others=others,
    )


def _text(content: object) -> str | None:
    """A message's text, which some gateways give in parts, with thought among them."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content if isinstance(content, str) else None
