"""Dead letters: what could not be read or judged, with all that is needed to bring it back."""

import base64
import hashlib
from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from schemas.base import Name, Timestamp, Wire
from schemas.ids import content_id
from schemas.origins import Origin

DeadLetterReason = Literal[
    "empty",
    "not_utf8",
    "not_json",
    "not_an_object",
    "duplicate_key",
    "bad_number",
    "too_deep",
    "oversized",
    "unknown_kind",
    "invalid_record",
    "checker_failed",
    "undeliverable",
]


class DeadLetter(Wire):
    """A message that no checker could take, kept for replay."""

    id: Name
    """Deterministic: the message's place and the reason; a redelivered message gives the same."""
    reason: DeadLetterReason
    detail: str
    """What was wrong, where, and what is allowed."""
    origin: Origin
    checker: Name
    """Whose reading failed; a fault of the message itself is found by every checker alike."""
    payload_base64: str
    """The message's bytes; only its beginning where `truncated`."""
    payload_bytes: int
    """Length of the whole message."""
    payload_sha256: str
    truncated: bool = False
    """The message was too long to keep whole; it is still at `origin` while its topic retains it."""
    key_base64: str | None = None
    failed_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))

    @classmethod
    def of(
        cls,
        payload: bytes | None,
        *,
        reason: DeadLetterReason,
        detail: str,
        origin: Origin,
        checker: str,
        keep_bytes: int,
        key: bytes | None = None,
    ) -> "DeadLetter":
        """A dead letter for `payload`, of which at most `keep_bytes` are carried along."""
        body = payload or b""
        return cls(
            id=content_id("dead", [origin.topic, origin.partition, origin.offset, reason]),
            reason=reason,
            detail=detail[:2000].encode("utf-8", "replace").decode("utf-8"),
            origin=origin,
            checker=checker,
            payload_base64=base64.b64encode(body[:keep_bytes]).decode("ascii"),
            payload_bytes=len(body),
            payload_sha256=hashlib.sha256(body).hexdigest(),
            truncated=len(body) > keep_bytes,
            key_base64=None if key is None else base64.b64encode(key[:1024]).decode("ascii"),
        )

    @property
    def payload(self) -> bytes:
        """The bytes that were kept."""
        return base64.b64decode(self.payload_base64)
