"""Dead letters: messages that could not be read, checked or delivered, with all that a replay needs."""

import base64
import hashlib
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from schemas.base import DeadLetterReason, Name, Origin, Timestamp, Wire, content_id


def _is_base64(text: str) -> str:
    base64.b64decode(text, validate=True)
    return text


_Base64 = Annotated[str, AfterValidator(_is_base64)]


class DeadLetter(Wire):
    """A message that could not be read, checked or delivered, kept for replay."""

    id: Name
    """Derived from the message's position and the reason: the same after redelivery."""
    reason: DeadLetterReason
    detail: str
    """The fault, its place, and what is allowed."""
    origin: Origin
    checker: Name
    """Name of the checker, improver or webhook that failed; `unchecked` where the message itself is at fault."""
    payload_base64: _Base64
    """The message's bytes; only its beginning if `truncated`."""
    payload_bytes: int
    """Length of the whole message in bytes."""
    payload_sha256: str
    """SHA-256 (hex) of the whole message."""
    truncated: bool = False
    """True if the message was too long to be kept whole. It is still at `origin` while its topic retains it."""
    key_base64: _Base64 | None = None
    """The message's Kafka key, at most 1,024 bytes of it."""
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
        """A dead letter that carries at most `keep_bytes` of `payload`."""
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
        """The bytes that the letter carries."""
        return base64.b64decode(self.payload_base64)
