"""The `otlp` section of the configuration."""

import os
from typing import Annotated, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, field_validator, model_validator

from streams.otlp import names
from streams.settings import SettingsSection

ENVIRONMENT = "env"
_VARIABLE = "OTEL_EXPORTER_OTLP_"


def _variable(name: str) -> str | None:
    return os.environ.get(f"{_VARIABLE}{name}") or None


def _logs_of(endpoint: str) -> str:
    return f"{endpoint.rstrip('/')}/v1/logs"


class OtlpSettings(SettingsSection):
    """OpenTelemetry: calls of models from applications' spans and log records, and verdicts back as events."""

    topics: dict[Literal["spans", "logs"], Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    """Topics to which a collector's Kafka exporter writes `spans` and `logs`; each is read by an agent."""
    contexts: Literal["documents", "prompt"] = "documents"
    """What a response is checked against: retrieved documents of the trace, else tool results. `prompt`: without both,
    the instructions and earlier user messages."""
    attributes: dict[names.Field, tuple[str, ...]] = Field(default_factory=dict)
    """Your own attributes, read first, by the record's field: `tenant = ["acme.customer"]`."""
    endpoint: str | None = None
    """URL of an OTLP/HTTP endpoint to which verdicts are sent as events (`/v1/logs` is added). `env`: OpenTelemetry's
    own variables."""
    explanations: bool = True
    """Send reasons, which may quote responses."""

    @field_validator("endpoint")
    @classmethod
    def _is_plain(cls, value: str | None) -> str | None:
        if value is None or value == ENVIRONMENT:
            return value
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
            credentials = f"with `env`, credentials are read from {_VARIABLE}HEADERS"
            raise ValueError(f"expected a URL such as http://127.0.0.1:4318; {credentials}")
        return value

    @property
    def logs_url(self) -> str | None:
        """Where events are posted to; None if they are not."""
        if self.endpoint == ENVIRONMENT:
            own, shared = _variable("LOGS_ENDPOINT"), _variable("ENDPOINT")
            return own or (shared and _logs_of(shared))
        return self.endpoint and _logs_of(self.endpoint)

    @property
    def request_headers(self) -> dict[str, str]:
        """Headers of each request: those of the variables, with percent codes decoded."""
        given = _variable("LOGS_HEADERS") or _variable("HEADERS") or "" if self.endpoint == ENVIRONMENT else ""
        pairs = [pair.partition("=") for pair in given.split(",") if "=" in pair]
        return {name.strip().lower(): unquote(value.strip()) for name, _, value in pairs}

    @model_validator(mode="after")
    def _has_environment(self) -> Self:
        if self.endpoint == ENVIRONMENT:
            if self.logs_url is None:
                raise ValueError(f"endpoint is {ENVIRONMENT!r}, and {_VARIABLE}ENDPOINT is not set")
            protocol = _variable("LOGS_PROTOCOL") or _variable("PROTOCOL") or "http/protobuf"
            if protocol != "http/protobuf":
                raise ValueError(f"{_VARIABLE}PROTOCOL is {protocol!r}; only http/protobuf is spoken")
        return self
