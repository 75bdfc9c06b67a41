"""One HTTP client for chat endpoints and services: address, key, bounds on time and size, and what is secret."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import httpx2 as httpx
import openai

from models.faults import ExchangeFault, Refused, TimedOut, Transient, Unreachable
from models.settings import SECRET_PARAMETER, EndpointSettings

_CONNECT_SECONDS = 10.0
_MOST_BYTES = 16_000_000
"""Bound on a response: the parse of a sentence of 10,000 characters has some hundred bytes for each."""
_OF_THE_TRANSFER = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that no longer apply to a body that was read and decoded."""
_SHORTEST_SECRET = 8  # shorter values of headers, such as `true`, are not keys, and appear in harmless messages


class _Body(httpx.ByteStream):
    """The body of a request, which notes that it is sent."""

    has_left = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.has_left = True
        async for part in super().__aiter__():
            yield part


class BoundedClient(httpx.AsyncClient):
    """Responses come read, up to a size; none is streamed, and no redirect is followed."""

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(
            headers=headers,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            # The flow limits the requests; a connection that is kept saves the next one a handshake.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
            # Certificates take as long to read as a hundred exchanges: only for endpoints that have one.
            verify=url.startswith("https:"),
        )

    async def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """The response to `request`, within its read timeout as a whole.

        Raises:
            ExchangeFault: there is none, or it is too large. Whatever is raised, a cancellation too, has a `has_left`:
                False if the request was not sent.
        """
        seconds = request.extensions["timeout"]["read"]
        request.stream = sent = _Body(request.content)
        content = bytearray()
        try:
            async with asyncio.timeout(seconds):
                response = await super().send(request, stream=True, **options)
                try:
                    async for part in response.aiter_bytes():
                        content += part
                        if len(content) > _MOST_BYTES:
                            raise Refused(f"its answer has more than {_MOST_BYTES} bytes")
                finally:
                    # At once, rather than when it is collected.
                    await response.aclose()
        except (httpx.HTTPError, OSError, ExchangeFault, asyncio.CancelledError) as error:
            fault = _fault_of(error, seconds)
            fault.has_left = sent.has_left  # type: ignore[attr-defined]
            raise fault from None
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_THE_TRANSFER]
        return httpx.Response(response.status_code, headers=headers, content=bytes(content), request=request)


def time_limit(seconds: float) -> httpx.Timeout:
    """For one exchange with a `BoundedClient`: it has so many seconds as a whole."""
    return httpx.Timeout(seconds, connect=_CONNECT_SECONDS)


def _fault_of(error: BaseException, seconds: float | None) -> BaseException:
    """The fault of an exchange that brought no response; what is not about the exchange stays as it is."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return Unreachable(f"cannot connect: {error}" if str(error) else "cannot connect")
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return TimedOut(f"no answer within {seconds:.3g} seconds")
    if isinstance(error, httpx.HTTPError | OSError):
        return Transient(f"the connection broke: {str(error) or type(error).__name__}"[:200])
    return error


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
