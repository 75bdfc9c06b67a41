"""What an endpoint says with an error status: its words, its codes, and what they tell of filters and windows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_READ = 2000
_PAYLOAD_TOO_LARGE = 413

_FILTERED = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "data_inspection_failed"}
)
"""Codes of Azure OpenAI, OpenAI and Alibaba."""
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
"""Codes of OpenAI, Azure OpenAI and llama.cpp."""
_SAID_TOO_LONG = re.compile(
    r"(?:exceed|long|larg|greater|beyond)\w*[^.]{0,80}context[ _](?:length|window|size|limit)|"
    r"context[ _](?:length|window|size|limit)[^.]{0,40}exceed|(?:prompt|input|context) (?:is )?too long|"
    r"reduce the length|too many (?:input )?tokens",
    re.IGNORECASE,
)

_N = r"(\d[\d,]*)"
_WINDOWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"context (?:length|window|size)(?: is| of)?(?: only)? \(?{_N}(?: tokens|\))",  # OpenAI, vLLM, llama.cpp
        rf"context window of {_N}",  # llama-cpp-python
        rf"configured limit of {_N} tokens",  # Azure OpenAI
        rf"context limit: \d+ \+ \d+ > {_N}",  # Anthropic
        rf"> {_N} maximum",  # Anthropic
        rf"with {_N} maximum context length",  # Mistral
        rf"maximum number of tokens allowed \({_N}\)",  # Google
        rf"maximum prompt length is {_N}",  # xAI
        rf"Limit {_N}, Requested",  # Groq, with 413: so much a minute is less than the question
        rf"`max_new_tokens` must be <= {_N}",  # TGI
    )
)
_PROMPTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\({_N} in the (?:messages|prompt)",
        rf"(?:resulted in|the prompt is|contains) {_N} tokens",
        rf"(?:passed|has|least) {_N} input tokens",
        rf"(?:request|requested tokens|input length|input token count) \({_N}(?: tokens)?\)",
        rf"too long: {_N} tokens",
        rf"context limit: {_N} \+",
        rf"request contains {_N} tokens",
        rf"Given: {_N} `inputs` tokens",
    )
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response."""

    status: int | None = None
    message: str = ""
    parameter: str = ""
    """The parameter of the request that it is about, if it names one."""
    codes: frozenset[str] = frozenset()
    window: int | None = None
    """The model's window in tokens, if it is told."""
    prompt_tokens: int | None = None
    """Tokens of the question, if they are told."""

    @property
    def is_filtered(self) -> bool:
        """True if a content filter kept the question back."""
        return not self.codes.isdisjoint(_FILTERED)

    @property
    def is_too_long(self) -> bool:
        """True if the question is longer than the model's window."""
        return not self.is_filtered and (
            self.status == _PAYLOAD_TOO_LARGE
            or self.window is not None
            or self.has_code_of_window
            or _SAID_TOO_LONG.search(self.message) is not None
        )

    @property
    def has_code_of_window(self) -> bool:
        """True if a code says so: some servers send it with a status of their own failures."""
        return not self.codes.isdisjoint(_TOO_LONG)


NOTHING_SAID = Refusal()


def read_refusal(status: int, error: object) -> Refusal:
    """What an error body says, in any of the forms that endpoints give it; a body of another form is its text."""
    body = error[0] if isinstance(error, list) and error else error
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return _of_message(status, str(body)[:_READ])
    said = body.get("message") or body.get("detail") or body.get("error") or ""
    parameter = body.get("param")
    message = str(said)[:_READ]
    return _of_message(
        status,
        message,
        parameter=parameter if isinstance(parameter, str) else "",
        codes=frozenset(_codes(body)),
        window=_number(body.get("n_ctx")),
        prompt_tokens=_number(body.get("n_prompt_tokens")),
    )


def _of_message(
    status: int,
    message: str,
    *,
    parameter: str = "",
    codes: frozenset[str] = frozenset(),
    window: int | None = None,
    prompt_tokens: int | None = None,
) -> Refusal:
    window = window or _first(_WINDOWS, message)
    if window is not None:
        prompt_tokens = prompt_tokens or _first(_PROMPTS, message)
    return Refusal(status, message, parameter, codes, window, prompt_tokens)


def _codes(body: Mapping[str, Any]) -> Iterator[str]:
    inner = body.get("innererror")
    for part in (body, inner if isinstance(inner, dict) else {}):
        for name in ("code", "type"):
            code = part.get(name)
            if isinstance(code, str):
                yield code


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _first(patterns: tuple[re.Pattern[str], ...], message: str) -> int | None:
    for pattern in patterns:
        if found := pattern.search(message):
            return int(found[1].replace(",", "")) or None
    return None
