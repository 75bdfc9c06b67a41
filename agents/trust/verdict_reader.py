"""Reading the fields of a verdict that the monitor needs."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from schemas import Cascade, Origin
from schemas.base import Name, Timestamp

MAX_REASON = 500
"""Code points of a rejected verdict's reason that are kept for an alert."""


class SeriesKey(NamedTuple):
    """A series: the verdicts of one checker on one subject."""

    source: str
    model: str
    checker: str

    def encoded(self) -> bytes:
        """Key of a message; names hold no control characters."""
        return "\x1f".join(self).encode()


Version: TypeAlias = Mapping[str, str]
"""What makes two verdicts comparable, by the name of each part: the checker's version, digest and judge, and what the
record's metadata told of the application's."""

_MAX_PART = 256
"""Code points of a part that are compared, and told in an event."""


class NotAVerdict(Exception):
    """The message is no verdict of its topic."""


class ReadVerdict(BaseModel):
    """The fields of a verdict that the monitor needs; the evidence can be a hundred times as long."""

    model_config = ConfigDict(frozen=True)

    id: Name
    record_id: Name
    checker: Name
    checker_version: Name
    config_digest: Name
    judge: str
    cascade: Cascade | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    source: Name
    model: Name
    outcome: Literal["accept", "reject"]
    reason: str
    origin: Origin | None = None
    position: Origin | None = None
    """Of the verdict itself; whoever read the message adds it."""
    checked_at: Timestamp
    occurred_at: Timestamp | None = None

    @property
    def key(self) -> SeriesKey:
        return SeriesKey(self.source, self.model, self.checker)

    @property
    def moment(self) -> datetime:
        """When the output was produced; when it was checked, if its verdict is of a version that did not tell."""
        return self.occurred_at or self.checked_at

    @property
    def version(self) -> Version:
        version = {
            "checker_version": self.checker_version,
            "config_digest": self.config_digest,
            # Either judge of a cascade may have decided: that is no change.
            "judge": " > ".join(self.cascade.judges if self.cascade else (self.judge,))[:_MAX_PART],
        }
        for name, value in self.metadata.items():
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            version[f"metadata.{name}"[:_MAX_PART]] = text[:_MAX_PART]
        return version


_VERDICT = TypeAdapter(ReadVerdict)


def read_verdict(value: bytes | None, outcome: Literal["accept", "reject"]) -> ReadVerdict:
    """The verdict of a message on the topic of `outcome`.

    Raises:
        NotAVerdict: it is none, or says another outcome.
    """
    try:
        verdict = _VERDICT.validate_json(value or b"")
    except ValidationError as error:
        # Not its text: it quotes the message.
        raise NotAVerdict(f"{error.error_count()} fault(s) in it") from None
    if verdict.outcome != outcome:
        raise NotAVerdict(f"outcome {verdict.outcome} on the topic of {outcome}")
    return verdict


def id_in(headers: Iterable[tuple[str, Any]]) -> str | None:
    """The verdict's id from the CloudEvents headers, without reading the message."""
    for name, value in headers:
        if name == "ce_id":
            # Kafka allows a header without a value.
            return str(value or b"", "utf-8", "replace") or None
    return None
