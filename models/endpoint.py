"""What chat endpoints and services have in common: address, key, bounds on time and size, faults and what is secret."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import httpx2 as httpx
import openai

from models.faults import ExchangeFault, Refused, TimedOut, Transient, Unreachable, fault_of, quoted
from models.flow import BreakerListener, Flow, Probe
from models.protocol import ModelError
from models.settings import SECRET_PARAMETER, EndpointSettings
from schemas import Usage

_CONNECT_SECONDS = 10.0
_MOST_BYTES = 16_000_000
"""Bound on a response: the parse of a sentence of 10,000 characters has some hundred bytes for each."""
_SHORTEST_SECRET = 8  # shorter values of headers, such as `true`, are not keys, and appear in harmless messages


@dataclass(slots=True)
class Exchange:
    """One request, and what came of it."""

    content: bytes
    has_left: bool = False
    """False if there was no connection: nothing was asked, and nothing is to be paid."""
    response: httpx.Response | None = None
    seconds: float = 0.0

    @property
    def length(self) -> dict[str, str]:
        return {"Content-Length": str(len(self.content))}

    async def body(self) -> AsyncIterator[bytes]:
        self.has_left = True
        yield self.content

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """Raises ExchangeFault for a request that brings no response in time."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                yield
        except openai.APIStatusError as error:
            self.response = error.response
        except TimeoutError:
            raise TimedOut(f"no answer within {seconds:.3g} seconds") from None
        except (openai.APIConnectionError, httpx.RequestError, OSError) as error:
            # The package's own words are the same for all of them.
            cause = error.__cause__ or error
            said = (str(cause) or type(cause).__name__)[:200]
            if self.has_left:
                raise Transient(f"the connection broke: {said}") from None
            raise Unreachable(f"cannot connect: {said}") from None
        finally:
            self.seconds = time.monotonic() - begun


class Endpoint:
    """A model behind HTTP, whatever it is asked in; belongs to one event loop."""

    def __init__(
        self, settings: EndpointSettings, section: str, probe: Probe, on_breaker: BreakerListener | None
    ) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings, self._section, self._secrets = settings, section, secrets_of(settings)
        self._flow = Flow(probe, settings, name=f"{section} {settings.model or 'service'}", on_breaker=on_breaker)
        self._probes: list[Usage] = []
        """The cost of probes since a question ended; the next that ends is charged with it."""

    @contextmanager
    def _charged(self, spent: list[Usage]) -> Iterator[None]:
        """Add what was spent to any error within: a question that is abandoned has its cost, too."""
        try:
            yield
        except (ModelError, asyncio.CancelledError) as error:
            error.usage = self._usage(spent)  # type: ignore[union-attr]
            raise

    def _usage(self, spent: list[Usage]) -> Usage:
        # The time of the exchanges, without the waits between them.
        usage = Usage.total([*spent, *self._probes], seconds=sum(one.seconds for one in spent))
        self._probes.clear()
        return usage

    def _fault(self, status: int, headers: Mapping[str, str], error: object = None, prompt: str = "") -> ExchangeFault:
        """The fault of an error response to `prompt`."""
        shown = partial(quoted, secrets=self._secrets, prompt=prompt)
        return fault_of(status, headers, error, shown=shown, settings=self._settings, section=self._section)


def http_client(url: str, headers: Mapping[str, str] | None = None) -> httpx.AsyncClient:
    """A client that bounds the size of responses, and follows no redirect."""
    # A line for each request would drown the service's own.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        # The flow limits the requests; a connection that is kept saves the next one a handshake.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        # Certificates take as long to read as a hundred exchanges: only for endpoints that have one.
        verify=url.startswith("https:"),
        event_hooks={"response": [_read]},
    )


async def _read(response: httpx.Response) -> None:
    """Read a response, up to a size, whether it came compressed or not."""
    raw, content = cast("httpx.AsyncByteStream", response.stream), bytearray()
    decoded = httpx.Response(response.status_code, headers=response.headers, stream=raw, request=response.request)
    async for part in decoded.aiter_bytes():
        content += part
        if len(content) > _MOST_BYTES:
            raise Refused(f"its answer has more than {_MOST_BYTES} bytes")
    await raw.aclose()
    response.headers.pop("Content-Encoding", None)
    response.stream = httpx.ByteStream(bytes(content))


def client_options(settings: EndpointSettings) -> dict[str, Any]:
    """Arguments of an `openai` client: `base_url`, `api_key` and `default_query`."""
    address = urlsplit(str(settings.base_url))
    return {
        "base_url": address._replace(query="").geturl(),
        # The package wants one even where the endpoint does not.
        "api_key": settings.api_key.get_secret_value() if settings.api_key else "none",
        "default_query": dict(parse_qsl(address.query)),
    }


def request_headers(settings: EndpointSettings) -> dict[str, str | openai.Omit]:
    """Headers to give with each request; without a key the client's own `Authorization` is omitted."""
    headers: dict[str, str | openai.Omit] = {} if settings.api_key else {"Authorization": openai.Omit()}
    for name, value in settings.extra_headers.items():
        headers["Authorization" if name.lower() == "authorization" else name] = value.get_secret_value()
    return headers


def secrets_of(settings: EndpointSettings) -> tuple[str, ...]:
    """Values that must not appear in a log, message or recording, the longest first."""
    values = [value.get_secret_value() for value in settings.extra_headers.values()]
    found = SECRET_PARAMETER.finditer(str(settings.base_url))
    values += [value for one in found for value in (one["value"], unquote_plus(one["value"]))]
    # An endpoint may repeat a key without the `Bearer` before it.
    parts = {part for value in values for part in (value, *value.split()) if len(part) >= _SHORTEST_SECRET}
    if settings.api_key and settings.api_key.get_secret_value():
        parts.add(settings.api_key.get_secret_value())
    return tuple(sorted(parts, key=len, reverse=True))
