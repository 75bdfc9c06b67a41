"""How the `openai` package reaches an endpoint: address, key, further headers, and what of it is secret."""

from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import openai

from models.settings import SECRET_PARAMETER, EndpointSettings

_SHORTEST_SECRET = 8
"""Shorter values of headers, such as `true`, are no keys, and stand in many a harmless message."""


def client_options(settings: EndpointSettings) -> dict[str, Any]:
    """Arguments of a client: `base_url`, `api_key` and `default_query`."""
    address = urlsplit(str(settings.base_url))
    return {
        "base_url": address._replace(query="").geturl(),
        # The package wants one even where the endpoint does not.
        "api_key": settings.api_key.get_secret_value() if settings.api_key else "none",
        "default_query": dict(parse_qsl(address.query)),
    }


def request_headers(settings: EndpointSettings) -> dict[str, str | openai.Omit]:
    """Headers to give with each request; without a key the client's own `Authorization` is left out."""
    headers: dict[str, str | openai.Omit] = {} if settings.api_key else {"Authorization": openai.Omit()}
    for name, value in settings.extra_headers.items():
        headers["Authorization" if name.lower() == "authorization" else name] = value.get_secret_value()
    return headers


def secrets_of(settings: EndpointSettings) -> tuple[str, ...]:
    """What must stand in no log, message or recording, the longest first."""
    values = [value.get_secret_value() for value in settings.extra_headers.values()]
    found = SECRET_PARAMETER.finditer(str(settings.base_url))
    values += [value for one in found for value in (one["value"], unquote_plus(one["value"]))]
    # An endpoint may repeat a key without the `Bearer` before it.
    parts = {part for value in values for part in (value, *value.split()) if len(part) >= _SHORTEST_SECRET}
    if settings.api_key and settings.api_key.get_secret_value():
        parts.add(settings.api_key.get_secret_value())
    return tuple(sorted(parts, key=len, reverse=True))
