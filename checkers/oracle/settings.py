"""Settings of the models that may be asked: the judge, and the subjects under test."""

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from checkers.oracle.local.settings import LocalSettings

Structured = Literal["auto", "json_schema", "json_object", "none"]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CacheSettings(_Settings):
    """How many answers are kept in memory, and for how long."""

    entries: int = Field(default=4096, ge=0)
    """Answers kept, the least recently used go first; 0 keeps none, identical questions under way are still joined."""
    ttl_seconds: float = Field(default=3600.0, gt=0)


class BreakerSettings(_Settings):
    """When an endpoint counts as down, and how often it is tried then."""

    failures: int = Field(default=10, ge=1)
    """Failures in a row, with no success between, that open the breaker."""
    cooldown_seconds: float = Field(default=1.0, gt=0)
    """From opening to the first trial call; doubled after every trial that fails."""
    max_cooldown_seconds: float = Field(default=30.0, gt=0)


class EndpointSettings(_Settings):
    """What every model behind an endpoint has."""

    base_url: str | None = None
    """Up to and including `/v1`, as the `openai` package takes it."""
    model: str | None = None
    api_key: SecretStr | None = None
    """None for endpoints that need none."""
    concurrency: int = Field(default=64, ge=1, le=4096)
    """Requests under way at once."""
    requests_per_second: float | None = Field(default=None, gt=0)
    timeout_seconds: float = Field(default=20.0, gt=0)
    """For one attempt."""
    deadline_seconds: float = Field(default=25.0, gt=0)
    """For a whole question: waiting for a place, retries and the repair turn included."""
    max_attempts: int = Field(default=4, ge=1, le=20)
    """Of one turn, where what went wrong can pass by itself."""
    structured: Structured = "auto"
    """How the reply's form is asked for; `auto` begins with `json_schema` and steps down where that is refused."""
    max_tokens: int | None = Field(default=4096, ge=1)
    """Of one reply; None leaves it to the endpoint."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """None leaves it out, for models that take none."""
    seed: int | None = None
    prompt_price: float = Field(default=0.0, ge=0)
    """Of a million prompt tokens, in any currency."""
    completion_price: float = Field(default=0.0, ge=0)
    """Of a million completion tokens, in the same currency."""
    record_to: Path | None = None
    """A file to which every exchange and answer is appended."""
    replay_from: Path | None = None
    """A file so recorded, for the backend `replay`."""
    cache: CacheSettings = CacheSettings()
    breaker: BreakerSettings = BreakerSettings()

    @field_validator("base_url")
    @classmethod
    def _is_a_base_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected a URL such as https://api.openai.com/v1")
        if parts.username or parts.password:
            raise ValueError("credentials do not belong in the URL; put the key in api_key")
        if parts.path.rstrip("/").endswith("/chat/completions"):
            raise ValueError("expected the URL before /chat/completions, such as https://api.openai.com/v1")
        return value.rstrip("/")

    def _check_backend(self, backend: str) -> None:
        needed = {"openai": ("base_url", "model"), "replay": ("replay_from",)}.get(backend, ())
        missing = [name for name in needed if not getattr(self, name)]
        if missing:
            raise ValueError(
                f"backend is {backend!r}, but {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set; "
                f"this backend needs {' and '.join(needed)}"
            )


class JudgeSettings(EndpointSettings):
    """The model that judges."""

    backend: Literal["local", "openai", "replay"] = "local"
    local: LocalSettings = LocalSettings()

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        self._check_backend(self.backend)
        return self


class SubjectSettings(EndpointSettings):
    """A model under test, to be asked by the checkers that need its own answers."""

    backend: Literal["openai", "replay"] = "openai"

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        self._check_backend(self.backend)
        return self
