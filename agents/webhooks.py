"""Webhooks: rejected verdicts, improvements and alerts as signed HTTP requests, and what a target's answers mean."""

import asyncio
import base64
import hashlib
import hmac
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import Literal

import httpx
import orjson
import structlog
from prometheus_client import CollectorRegistry, Histogram

from agents.runtime import AgentFactory, Listener, Runtime
from agents.webhook_settings import WebhookName, WebhookSettings, WebhookTopic
from models.endpoint import retry_after
from schemas import Unreadable
from streams.clients import Client
from streams.errors import StreamError
from streams.lookup import RecordGone, RecordLookup, ResultHeader
from streams.messages import Hold, Incoming, Outgoing

_TYPES: dict[WebhookTopic, str] = {
    "rejected": "assay.verdict.rejected.v1",
    "improved": "assay.improvement.v1",
    "alerts": "assay.alert.v1",
}

_QUICK_ATTEMPTS = 3
_QUICK_PAUSE_SECONDS = 0.2  # A connection that broke, or a target that is being replaced: over within a second.
_SHORTEST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0  # However long a target was down, it is asked again this soon.
_LONGEST_TRIAL_SECONDS = 300.0
_GIVE_UP_SECONDS = 900.0  # Of one message on which the target fails, while it takes others.
_LOOKUP_PAUSE_SECONDS = 1.0
AT_ONCE = 8  # Requests at the same time, for each topic: enough for hundreds of messages a second.
_TIMEOUT_SECONDS = 10.0  # From connecting to the end of the answer.
_READ_BYTES = 65_536  # A short answer is read so that its connection can be used again; its text is ignored.
_PASSING = frozenset({408, 425, 429})  # Besides 5xx. Any other status says that this message is not wanted.
_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WebhookReply:
    """The result of a request."""

    outcome: Literal["taken", "failed", "refused"]  # `failed`: may succeed later. `refused`: will not.
    detail: str  # The status, or the sort of error; nothing of what the target said.
    retry_after: float | None = None  # Seconds for which the target asks not to be called, at most 60.


class Target(Client):
    """Posts to one URL; belongs to one event loop."""

    def __init__(self, url: str, on_request: Callable[[float], None] = lambda seconds: None) -> None:
        """`on_request` gets the seconds that each request took."""
        self._url = url
        self._on_request = on_request
        self._client: httpx.AsyncClient | None = None

    async def start(self) -> None:
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

    async def post(self, body: bytes, headers: Mapping[str, str]) -> WebhookReply:
        """Send `body` once."""
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
            return WebhookReply("failed", f"no answer within {_TIMEOUT_SECONDS:g} s")
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return WebhookReply("failed", f"no answer ({type(error).__name__})")
        finally:
            self._on_request(time.monotonic() - begun)
        status = f"status {answer.status_code}"
        if answer.is_success:
            return WebhookReply("taken", status)
        if answer.is_server_error or answer.status_code in _PASSING:
            return WebhookReply("failed", status, retry_after(answer.headers, datetime.now(UTC)))
        meant = "redirects are not followed, set the url to where it leads" if answer.is_redirect else "expected a 2xx"
        return WebhookReply("refused", f"{status}; {meant}")


def signed_headers(identifier: str, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """The headers of an attempt, signed as in Standard Webhooks 1.0.0 with each key; no full stop in `identifier`."""
    moment = str(int(time.time()))
    content = b".".join((identifier.encode(), moment.encode(), body))
    signatures = (base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in keys)
    return {
        "content-type": "application/json",
        "user-agent": "assay-webhooks",
        "webhook-id": identifier,
        "webhook-timestamp": moment,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


@cache  # A registry takes each metric once, however many webhooks there are.
def _durations(registry: CollectorRegistry) -> Histogram:
    said = "Time of one request to a webhook's target"
    return Histogram("assay_webhook_duration_seconds", said, ["webhook"], buckets=_SECONDS, registry=registry)


def webhook(name: WebhookName, settings: WebhookSettings) -> list[AgentFactory]:
    """The agents of a webhook, one for each topic."""
    return [partial(_Webhook, name, topic, settings) for topic in settings.topics]


class _Webhook(Listener):
    """Posts every message of a topic. A message is done when the target has taken it or refuses it for good."""

    def __init__(self, name: str, topic: WebhookTopic, settings: WebhookSettings, runtime: Runtime) -> None:
        self._webhook, self._type, self._settings = name, _TYPES[topic], settings
        said = "Messages to a webhook that were delivered or given up, and attempts that failed"
        deliveries = runtime.counter("assay_webhook_deliveries", said, "webhook", "outcome")
        self._ended = partial(deliveries.labels, name)
        self._target = Target(settings.url, _durations(runtime.metrics.registry).labels(name).observe)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._asked_until = 0.0  # Until then the target asked to be left alone, by the monotonic clock.
        records = settings.include_record and topic == "rejected"
        self._lookup = RecordLookup(runtime.settings) if records else None
        super().__init__(
            f"webhook-{name}" if len(settings.topics) == 1 else f"webhook-{name}-{topic}",
            getattr(runtime.settings.topics, topic),
            self._handle,
            runtime,
            # A target that hangs is down, however long it lets a request wait.
            trial_seconds=_LONGEST_TRIAL_SECONDS,
            needs=[self._target, *([self._lookup] if self._lookup else [])],
        )

    async def _handle(self, incoming: Incoming) -> Sequence[Outgoing]:
        message = incoming.value or b""
        header = ResultHeader.read(message)
        async with self._places:
            if (rest := self._asked_until - time.monotonic()) > 0:
                raise Hold(rest)
            # Once it was held, the target may be down: then a trial is one request.
            reply = await self._post(header, message, attempts=_QUICK_ATTEMPTS if incoming.attempt == 1 else 1)
        if reply.outcome == "taken":
            self._ended("delivered").inc()
            return ()
        if reply.outcome == "refused":
            return self._give_up(reply.detail)
        _log.warning("webhook not delivered, it waits", webhook=self._webhook, id=header.id, reply=reply.detail)
        failing = time.monotonic() - incoming.since
        pause = min(max(failing / 2, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1.0)  # noqa: S311
        if reply.retry_after is not None:
            pause = max(pause, reply.retry_after)
            self._asked_until = max(self._asked_until, time.monotonic() + reply.retry_after)
        given_up = partial(self._give_up, f"{reply.detail}; it takes others, so this one is given up")
        raise Hold(pause, otherwise=given_up, give_up_seconds=_GIVE_UP_SECONDS)

    def _give_up(self, why: str) -> Sequence[Outgoing]:
        self._ended("undeliverable").inc()
        raise Unreadable("undeliverable", f"the target of webhook {self._webhook}: {why}")

    async def _post(self, header: ResultHeader, message: bytes, *, attempts: int) -> WebhookReply:
        """Return the last reply of so many requests at most."""
        body = await self._body(header, message)
        for number in range(1, attempts + 1):
            reply = await self._target.post(body, signed_headers(header.id, body, self._settings.keys))
            self._ended("failed").inc(reply.outcome == "failed")
            if reply.outcome != "failed" or reply.retry_after is not None or number == attempts:
                break
            await asyncio.sleep(_QUICK_PAUSE_SECONDS * number * random.uniform(0.5, 1.5))  # noqa: S311
        return reply

    async def _body(self, header: ResultHeader, message: bytes) -> bytes:
        """Return the request's body; raises `Hold` while the broker does not answer."""
        record = None
        if self._lookup is not None:
            try:
                record, _ = await self._lookup.record(header.origin, header.source, header.record_id)
            except RecordGone:
                pass
            except StreamError as error:
                _log.warning("record not read, its verdict waits", webhook=self._webhook, error=type(error).__name__)
                raise Hold(_LOOKUP_PAUSE_SECONDS) from None
        # As on their topics: what a producer wrote is sent byte for byte.
        body = {
            "type": "assay.series-anew.v1" if header.kind == "series_anew" else self._type,
            "timestamp": header.at,
            "data": orjson.Fragment(message),
            "record": None if record is None else orjson.Fragment(record),
        }
        return orjson.dumps(body, option=orjson.OPT_UTC_Z)
