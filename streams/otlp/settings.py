"""The `otlp` section of the configuration."""

from typing import Literal

from pydantic import Field

from streams.otlp import names
from streams.settings import SettingsSection


class OtlpSettings(SettingsSection):
    """OpenTelemetry: calls of models from applications' spans and log records, and verdicts back as events."""

    contexts: Literal["documents", "prompt"] = "documents"
    """Texts that a response is checked against: retrieved documents of the same trace, else responses of tools. With
    `prompt`, where there are neither, the system's instructions and what was said before the last question."""
    attributes: dict[names.Field, tuple[str, ...]] = Field(default_factory=dict)
    """Attributes of your own that are looked at first, by the record's field: `tenant = ["acme.customer"]`."""
    attribute_length_limit: int | None = Field(default=None, ge=1)
    """The applications' `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT`, if it is set: a text of that length was cut off, and is
    not checked."""
