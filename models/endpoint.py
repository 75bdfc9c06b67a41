"""A client for an endpoint's address and key, and what must not be repeated of either."""

import logging
from typing import Any, cast
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import httpx2 as httpx
import openai

from models.faults import Refused
from models.settings import SECRET_PARAMETER, EndpointSettings

_CONNECT_SECONDS = 10.0
_MOST_BYTES = 16_000_000
"""Bound on a response: the parse of a sentence of 10,000 characters has some hundred bytes for each."""
_SHORTEST_SECRET = 8  # shorter values of headers, such as `true`, are not keys, and appear in harmless messages


def client_of(settings: EndpointSettings) -> openai.AsyncOpenAI:
    """A client for the settings' address and key, which bounds the size of responses.

    It follows no redirect, and retries nothing: the flow does.
    """
    # A line for each request would drown the service's own.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    http = httpx.AsyncClient(
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        # The flow limits the requests; a connection that is kept saves the next one a handshake.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        # Certificates take as long to read as a hundred exchanges: only for endpoints that have one.
        verify=str(settings.base_url).startswith("https:"),
        event_hooks={"response": [_read]},
    )
    return openai.AsyncOpenAI(**client_options(settings), max_retries=0, http_client=http)


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
