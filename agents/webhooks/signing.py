"""Signatures as the Standard Webhooks specification (1.0.0) has them."""

import base64
import hashlib
import hmac
from collections.abc import Sequence


def signed_headers(identifier: str, body: bytes, *, moment: int, keys: Sequence[bytes]) -> dict[str, str]:
    """The headers by which a receiver knows who sent `body`, and when; one signature for each of `keys`.

    Args:
        identifier: the message's, the same in every attempt, without a full stop.
        body: as it is sent, byte for byte.
        moment: of this attempt, in seconds since 1970.
        keys: 24 to 64 bytes each.
    """
    content = b".".join((identifier.encode(), str(moment).encode(), body))
    signatures = (base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in keys)
    return {
        "webhook-id": identifier,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
