"""Settings of the models that may be asked: the judge, and the subjects under test."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import unquote_plus, urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, WrapValidator, field_validator, model_validator
from pydantic import ValidatorFunctionWrapHandler as Handler

BUNDLED_JUDGE = "bundled"
NAMED_JUDGES = ("factcg", "hhem-2.1", "minicheck-flan-t5-large")
NLI = "nli:"  # before the name of a cross-encoder

Omit = Literal["omit"]  # leave the parameter out of requests: TOML and environment variables know no null
OMIT: Omit = "omit"

SECRET_PARAMETER = re.compile(
    r"(?<=[?&])(?P<name>[^=&#\s]*(?:key|token|secret|signature|sig|password|code))=(?P<value>[^&#\s]+)", re.IGNORECASE
)
"""A parameter of an address that holds a key, by its name."""

_SHORTEST_SECRET = 8  # shorter values of headers, such as `true`, are not keys, and appear in harmless messages
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADERS_OF_THE_CLIENT = frozenset({"connection", "content-length", "content-type", "transfer-encoding"})
_FIELDS_OF_REQUESTS = frozenset({"messages", "n", "stream", "logprobs", "top_logprobs", "response_format"})
_FIELDS_OF_REQUESTS |= {"model", "max_tokens", "max_completion_tokens", "temperature"}
_OF_A_CHAT = ("base_url", "model")
_NEEDED = {"openai": _OF_A_CHAT, "cascade": _OF_A_CHAT, "service": ("base_url",), "replay": ("recording",)}


def _or_omit(what: str) -> WrapValidator:
    """One message in place of one for each alternative."""

    def validated(value: object, handler: Handler) -> object:
        try:
            return handler(value)
        except ValueError:
            raise ValueError(f"should be {what}, or 'omit'") from None

    return WrapValidator(validated)


class EndpointSettings(BaseModel):
    """The settings of every model behind an endpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    base_url: str | None = None
    """URL of an OpenAI-compatible API without the final `/chat/completions`; needed with `openai` and `cascade`. A
    query is sent with every request. With the backend `service`, the whole URL."""
    model: str | None = None
    """Name of the model at the endpoint; needed with `openai` and `cascade`. With `llama`, a GGUF file, or
    OWNER/REPOSITORY/FILE.gguf@COMMIT of the Hugging Face hub; Qwen2.5-1.5B-Instruct unless set."""
    api_key: SecretStr | None = None
    """The endpoint's key, sent as `Authorization: Bearer`; never shown."""
    concurrency: int = Field(default=64, ge=1, le=1000)
    """Concurrent requests to the endpoint at most."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Time limit of one request. A question with its retries may take 1.25 times as long, a record 2.5 times, without
    waiting."""
    max_tokens: Annotated[Annotated[int, Field(ge=1)] | Omit, _or_omit("a whole number from 1")] = 4096
    """Tokens of one reply at most, thinking included. `omit` sends no limit."""
    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | Omit, _or_omit("a number from 0 up to 2")] = 0.0
    """Sampling temperature. `omit` sends none."""
    context_tokens: int | None = Field(default=None, ge=256)
    """The model's window: tokens of a question and its reply together; learned from refusals if not set. Set it for an
    endpoint that cuts silently, such as Ollama."""
    extra_headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Further headers of every request; their values are never shown. `authorization` replaces `api_key`."""
    extra_body: dict[str, JsonValue] = Field(default_factory=dict)
    """Further fields of every request, such as `reasoning_effort` or `seed`. Recordings show them."""
    prices: dict[Literal["prompt", "cached", "completion"], Annotated[float, Field(ge=0)]] = {}
    """Prices of a million tokens: `prompt`, `completion`, and `cached` for prompt tokens from the endpoint's cache."""
    recording: Path | None = None
    """File to which every exchange with the endpoint is appended; the backend `replay` answers from it."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not appear in a log, message or recording, the longest first."""
        values = [value.get_secret_value() for value in self.extra_headers.values()]
        found = SECRET_PARAMETER.finditer(str(self.base_url))
        values += [value for one in found for value in (one["value"], unquote_plus(one["value"]))]
        # An endpoint may repeat a key without the `Bearer` before it.
        parts = {part for value in values for part in (value, *value.split()) if len(part) >= _SHORTEST_SECRET}
        key = self.api_key.get_secret_value() if self.api_key else ""
        return tuple(sorted(parts | {key} - {""}, key=len, reverse=True))

    def cost_of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """The price of so many tokens; `cached_tokens` are those of the prompt that the endpoint had in its cache."""
        price = self.prices.get("prompt", 0.0)
        saved = cached_tokens * (price - self.prices.get("cached", price))
        return (prompt_tokens * price + completion_tokens * self.prices.get("completion", 0.0) - saved) / 1_000_000

    @field_validator("base_url")
    @classmethod
    def _is_a_base_url(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "")
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("expected a URL such as https://api.openai.com/v1")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong in the URL; put the key in api_key")
        if parts.path.rstrip("/").endswith("/chat/completions"):
            raise ValueError("expected the URL before /chat/completions, such as https://api.openai.com/v1")
        return value and value.rstrip("/")

    @field_validator("extra_headers")
    @classmethod
    def _are_headers(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, content in value.items():
            text = content.get_secret_value()
            if not _HEADER.fullmatch(name) or name.lower() in _HEADERS_OF_THE_CLIENT:
                raise ValueError(f"{name!r} is no name of a header, or one that the client sets")
            if not (text.isascii() and text.isprintable()) or text != text.strip():
                raise ValueError(f"the value of {name} must be printable ASCII without white space around it")
        return value

    @field_validator("extra_body")
    @classmethod
    def _are_further_fields(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in value.keys() & _FIELDS_OF_REQUESTS:
            raise ValueError(f"{name} cannot be set here: it has its own setting, or assay decides on it")
        return value

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.api_key and any(name.lower() == "authorization" for name in self.extra_headers):
            raise ValueError("api_key and extra_headers.authorization are both set; an endpoint takes one of them")
        backend = getattr(self, "backend", "")
        needed = _NEEDED.get(backend, ())
        if missing := [name for name in needed if not getattr(self, name)]:
            lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set"
            raise ValueError(f"backend is {backend!r}, but {lacks}; this backend needs {' and '.join(needed)}")
        return self


class LocalSettings(BaseModel):
    """The model of the backend `local`."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    judge: str = BUNDLED_JUDGE
    """`bundled`, `factcg`, `hhem-2.1`, `minicheck-flan-t5-large`, or `nli:NAME` (`nli:NAME@COMMIT`): a cross-encoder of
    the Hugging Face hub, or a folder."""

    @field_validator("judge")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value in (BUNDLED_JUDGE, *NAMED_JUDGES):
            return value
        if value.startswith(NLI) and value.removeprefix(NLI).partition("@")[0].strip():
            return value
        allowed = ", ".join((BUNDLED_JUDGE, *NAMED_JUDGES))
        raise ValueError(f"{value!r} is no judge; there are {allowed}, and {NLI}NAME for a cross-encoder")


class JudgeSettings(EndpointSettings):
    """The model that judges."""

    backend: Literal["local", "openai", "llama", "cascade", "replay"] = "local"
    """`local`: a model in this process; `openai`: an OpenAI-compatible endpoint; `llama`: a model file, by llama.cpp;
    `cascade`: the local judge, then an endpoint; `replay`: recorded exchanges."""
    local: LocalSettings = LocalSettings()
    """Which model the backend `local` uses."""
    form: Literal["auto", "short", "list", "paper"] = "auto"
    """The form in which an endpoint is asked whether passages support an answer (consistency.md). `auto`: the self-test
    chooses."""
    threshold: float | None = None
    """Log-odds of a yes from which on a sentence counts as supported; found by the self-test if not set."""
    require_self_test: bool = False
    """Do not start with a model that is right on less than 75% of its self-test."""
    currency: str = Field(default="USD", pattern=r"^[A-Za-z]{2,8}$")
    """Currency of the prices, a label of the metrics on cost."""


class SubjectSettings(EndpointSettings):
    """A model under test, to be asked by the checkers that need its own answers."""

    backend: Literal["openai", "service", "replay"] = "openai"
    """`openai`: an OpenAI-compatible endpoint; `service`: JSON by POST to `base_url`, without a prompt; `replay`:
    recorded exchanges."""
