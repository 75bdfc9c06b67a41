"""The `otlp` section of the configuration."""

from ipaddress import ip_address
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from streams.otlp import names
from streams.settings import SettingsSection


class OtlpSettings(SettingsSection):
    """OpenTelemetry: calls of models from applications' spans and log records, and verdicts back as events."""

    listen: str | None = None
    """`HOST:PORT`, such as `127.0.0.1:4318`, on which an agent of the worker receives `POST /v1/traces` and
    `/v1/logs`. An address that other machines can reach needs `token`."""
    token: SecretStr | None = Field(default=None, min_length=16)
    """Token that requests must carry (`Authorization: Bearer …`), of 16 characters or more; never shown."""
    spans_topic: str | None = Field(default=None, min_length=1)
    """Topic that a collector's Kafka exporter writes spans to, such as `otlp_spans`; it is read by an agent."""
    logs_topic: str | None = Field(default=None, min_length=1)
    """Topic that it writes log records to, such as `otlp_logs`."""
    contexts: Literal["documents", "prompt"] = "documents"
    """Texts that a response is checked against: retrieved documents of the same trace, else responses of tools. With
    `prompt`, where there are neither, the system's instructions and what was said before the last question."""
    attributes: dict[names.Field, tuple[str, ...]] = Field(default_factory=dict)
    """Attributes of your own that are looked at first, by the record's field: `tenant = ["acme.customer"]`."""
    endpoint: str | None = None
    """URL of an OTLP/HTTP endpoint, such as `http://127.0.0.1:4318`, to which verdicts are sent as events
    (`/v1/logs` is added); they are sent by an agent."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Headers of these requests, such as `authorization`; never shown."""
    explanations: bool = True
    """Send the reason of a verdict as well; it may quote the response."""

    @field_validator("listen")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        host, _, port = (value or "").rpartition(":")
        if value is not None and not (host and port.isdecimal() and 0 < int(port) < 65536):
            raise ValueError("expected HOST:PORT, such as 127.0.0.1:4318")
        return value

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        host, _, port = (self.listen or "").rpartition(":")
        return host.strip("[]"), int(port)

    @field_validator("endpoint")
    @classmethod
    def _is_plain(cls, value: str | None) -> str | None:
        if value is not None:
            parts = urlsplit(value)
            if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
                raise ValueError("expected a URL such as http://127.0.0.1:4318; credentials belong in otlp.headers")
        return value

    @property
    def logs_url(self) -> str:
        """Where events are posted to."""
        return f"{(self.endpoint or '').rstrip('/')}/v1/logs"

    @model_validator(mode="after")
    def _guarded(self) -> Self:
        if self.listen and self.token is None and not _is_loopback(self.address[0]):
            raise ValueError(f"other machines can reach {self.listen}: set token as well")
        return self


def _is_loopback(host: str) -> bool:
    try:
        return bool(ip_address(host).is_loopback)
    except ValueError:
        return host == "localhost"
