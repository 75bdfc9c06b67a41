"""A target of HTTP requests: one request, and what its answer means; and the signatures of a webhook's."""

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from models.endpoint import retry_after
from streams.clients import Client

if TYPE_CHECKING:
    import httpx

AT_ONCE = 8
"""Requests at the same time, for each topic: enough for hundreds of messages a second, no flood for a small service."""

_TIMEOUT_SECONDS = 10.0
"""A request's time, from connecting to the end of the answer: a receiver takes a message first and works on it then."""

_READ_BYTES = 65_536
"""A short answer is read so that its connection can be used again; its text is ignored."""

_PASSING = frozenset({408, 425, 429})
"""Besides 5xx: too slow, too early, too many. Any other status says that this message is not wanted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a request."""

    outcome: Literal["taken", "failed", "refused"]
    """`failed`: may succeed later. `refused`: will not."""
    detail: str
    """The status, or the sort of error; nothing of what the target said."""
    retry_after: float | None = None
    """Seconds for which the target asks not to be called, at most 60."""


class Target(Client):
    """Posts to one URL; belongs to one event loop."""

    def __init__(self, url: str, on_request: Callable[[float], None] = lambda seconds: None) -> None:
        """`on_request(seconds)` is called after every request."""
        self._url = url
        self._on_request = on_request
        self._client: httpx.AsyncClient | None = None

    async def start(self) -> None:
        import httpx

        self._client = httpx.AsyncClient(
            # The whole exchange has a limit instead.
            timeout=None,  # noqa: S113
            follow_redirects=False,
            limits=httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE),
        )

    async def stop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Send `body` once."""
        import httpx

        if self._client is None:
            raise RuntimeError("the target was not started")
        begun = time.monotonic()
        try:
            async with (
                asyncio.timeout(_TIMEOUT_SECONDS),
                self._client.stream("POST", self._url, content=body, headers=dict(headers)) as answer,
            ):
                size = 0
                # As it came, not unpacked: a small answer could otherwise become a large one.
                async for piece in answer.aiter_raw():
                    if (size := size + len(piece)) > _READ_BYTES:
                        break
        except TimeoutError:
            return Reply("failed", f"no answer within {_TIMEOUT_SECONDS:g} s")
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return Reply("failed", f"no answer ({type(error).__name__})")
        finally:
            self._on_request(time.monotonic() - begun)
        return _meaning(answer)


def _meaning(answer: "httpx.Response") -> Reply:
    status = answer.status_code
    if answer.is_success:
        return Reply("taken", f"status {status}")
    if status in _PASSING or status >= 500:
        return Reply("failed", f"status {status}", retry_after(answer.headers, datetime.now(UTC)))
    if answer.is_redirect:
        return Reply("refused", f"status {status}; redirects are not followed, set the url to where it leads")
    return Reply("refused", f"status {status}; expected a 2xx")


def signed_headers(identifier: str, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """The headers of an attempt, signed as in the Standard Webhooks specification 1.0.0 with each of `keys`.

    Args:
        identifier: the message's, the same in every attempt, without a full stop.
        body: as it is sent, byte for byte.
        keys: 24 to 64 bytes each.
    """
    moment = int(time.time())
    content = b".".join((identifier.encode(), str(moment).encode(), body))
    signatures = (base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in keys)
    return {
        "content-type": "application/json",
        "user-agent": "assay-webhooks",
        "webhook-id": identifier,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
