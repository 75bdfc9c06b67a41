"""Settings of the store."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from store.redaction import compiled

ALLOWED = "allowed are `sqlite:///FILE` and `postgresql://USER@HOST/DATABASE`"


class StoreSettings(BaseModel):
    """Where the archivist keeps verdicts, evidence, alerts, improvements and labels, and for how long."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    url: str | None = None
    """`sqlite:///verdicts.db` (relative; four slashes: absolute) or `postgresql://user@host/database`."""
    days: float = Field(default=30.0, gt=0)
    """Days until verdicts are deleted; rejected and labelled ones, labels, alerts and improvements after six times as
    long."""
    gigabytes: float = Field(default=10.0, gt=0)
    """Size above which the oldest verdicts are deleted."""
    records: bool = False
    """Keep the records, too: prompts, responses and contexts."""
    redact: tuple[str, ...] = ()
    """Patterns (RE2) of what is redacted in all texts before anything is written."""

    @field_validator("url")
    @classmethod
    def _sqlite_or_postgresql(cls, value: str | None) -> str | None:
        if value is None or value.startswith("postgresql://"):
            return value
        if value.startswith("sqlite:///") and not value.endswith(("/", ":memory:")):
            return value
        raise ValueError(ALLOWED)

    @field_validator("redact")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            compiled(pattern)
        return value
