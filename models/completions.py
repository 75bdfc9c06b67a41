"""Completions: the documents of chat endpoints, told in one form, whatever their gateways make of them."""

from dataclasses import dataclass
from typing import Any

from models.faults import Transient

_BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})
"""Finish reasons of gateways, and of DeepSeek, where the model did not come to an end."""


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
    logprobs: Any = None
    """The log-probabilities as they came; None if there are none."""
    others: tuple["Completion", ...] = ()
    """The further completions of a request for several; their tokens are counted with the first."""

    @property
    def characters(self) -> int:
        """The characters of all of them."""
        return len(self.content or "") + sum(one.characters for one in self.others)


def completion_of(choice: Any) -> Completion:
    """One of a document's choices, without its tokens; raises what a document of another shape raises."""
    reason = str(choice.get("finish_reason") or "")
    if reason in _BROKEN_OFF:
        raise Transient("the endpoint broke its reply off")
    message = choice.get("message")
    if message is None and reason.startswith("content_filter"):
        message = {}
    return Completion(
        content=_text(message.get("content")),
        finish_reason=reason,
        refused=bool(message.get("refusal")),
        called_tools=bool(message.get("tool_calls") or message.get("function_call")),
        prompt_tokens=0,
        completion_tokens=0,
        logprobs=choice.get("logprobs"),
    )


def status_in(error: object) -> int:
    """The status that an error inside a success tells; a failure of the endpoint's if it tells none."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    return int(code) if code.isdecimal() and 400 <= int(code) < 600 else 500


def _text(content: object) -> str | None:
    """A message's text, which some gateways give in parts, with thought among them."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content if isinstance(content, str) else None


def token_count(usage: Any, name: str) -> int:
    """A number of tokens that a document tells; 0 if it tells none."""
    value = usage.get(name)
    return value if isinstance(value, int) else 0
