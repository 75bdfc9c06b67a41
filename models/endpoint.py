"""An endpoint: its address and key, what must not be repeated of either, and faults of a single exchange."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from models.settings import SECRET_PARAMETER, EndpointSettings
from models.wording import on_a_line

if TYPE_CHECKING:
    import openai

_SHORTEST_SECRET = 8  # shorter values of headers, such as `true`, are not keys, and appear in harmless messages


def client_options(settings: EndpointSettings) -> dict[str, Any]:
    """Arguments of an `openai` client: `base_url`, `api_key` and `default_query`."""
    address = urlsplit(str(settings.base_url))
    return {
        "base_url": address._replace(query="").geturl(),
        # The package wants one even where the endpoint does not.
        "api_key": settings.api_key.get_secret_value() if settings.api_key else "none",
        "default_query": dict(parse_qsl(address.query)),
    }


def request_headers(settings: EndpointSettings) -> "dict[str, str | openai.Omit]":
    """Headers to give with each request; without a key the client's own `Authorization` is omitted."""
    from openai import Omit

    headers: dict[str, str | Omit] = {} if settings.api_key else {"Authorization": Omit()}
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


MAX_RETRY_AFTER = 60.0
"""Seconds; a longer pause that an endpoint asks for is shortened to this."""
_REFUSED = frozenset({400, 413, 422})  # the request will never be accepted
_TIMED_OUT = frozenset({408, 504, 524})  # a gateway waited for the model as long as it ever does
_PASSING = _TIMED_OUT | {409, 425, 429}
_PAYLOAD_TOO_LARGE = 413
_CODES = ("code", "type")
_READ, _QUOTED, _COMPARED = 2000, 200, 32

# Codes of Azure OpenAI, OpenAI and Alibaba; and of OpenAI, Azure OpenAI and llama.cpp.
_FILTERED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "data_inspection_failed"}
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_SAID_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|(?:prompt|input|context) (?:is )?too long|token count.*exceeds"
    r"|max_new_tokens|reduce the length|too many (?:input )?tokens",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing_hard_limit", re.IGNORECASE)
_WINDOW = re.compile(
    r"(?:[<>]=? |(?:maximum|context|limit|window)[^\d<>]{0,40})(\d[\d,]*)\b(?! \+)|(\d[\d,]*) maximum", re.IGNORECASE
)
"""The limit that a refusal names. Counts are elsewhere, or before a plus sign."""
SMALLEST_WINDOW = 256
"""Tokens; no model has a smaller one, so a refusal with a smaller number is about something else."""


@dataclass(eq=False)
class ExchangeFault(Exception):
    """An exchange that brought no completion."""

    detail: str
    retry_after: float | None = field(default=None, kw_only=True)
    """The pause in seconds that the endpoint asks for; None if it does not say."""

    def __str__(self) -> str:
        return self.detail


class Transient(ExchangeFault):
    """May pass by itself: a timeout, a closed connection, an overloaded or failing endpoint."""


class TimedOut(Transient):
    """No complete response in time."""


class Unreachable(Transient):
    """No connection: nothing was asked."""


class Throttled(Transient):
    """The endpoint works, and asks for fewer requests."""


class EndpointMisconfigured(ExchangeFault):
    """A wrong key, model or address: no question can succeed until the configuration is corrected."""


@dataclass(eq=False, kw_only=True)
class Refused(ExchangeFault):
    """The endpoint will never accept this request."""

    about: Literal["filter", "length", "form"] = "form"
    message: str = field(default="", repr=False)
    """The endpoint's words in full, never to be shown."""
    window: int | None = None
    """The tokens that they name."""


def fault_of(
    status: int,
    headers: Mapping[str, str],
    error: object,
    *,
    shown: Callable[[str], str],
    settings: EndpointSettings,
    section: str,
) -> ExchangeFault:
    """The fault that an error response tells of, in any of the forms that endpoints give it.

    `section` is what the configuration calls the `settings`.
    """
    body = _error_of(error)
    message = str(body.get("message") or body.get("detail") or body.get("error") or "")[:_READ]
    coded = [part.get(name) for part in (body, body.get("innererror")) if isinstance(part, dict) for name in _CODES]
    codes = {code for code in coded if isinstance(code, str)}
    said = shown(message)
    detail = f"status {status}: {said}" if said else f"status {status}"
    is_filtered, is_too_long = bool(codes & _FILTERED), bool(codes & _TOO_LONG)
    # OpenAI allows log-probabilities to some keys only; for a question without them the key is good.
    for_these_keys = status == 403 and "logprobs" in message.lower()
    # Servers send the code of a full window with a status of their choice.
    if status in _REFUSED or is_filtered or is_too_long or for_these_keys:
        is_too_long = is_too_long or status == _PAYLOAD_TOO_LARGE or bool(_SAID_TOO_LONG.search(message))
        limits = [body.get("n_ctx"), *(int((one[1] or one[2]).replace(",", "")) for one in _WINDOW.finditer(message))]
        return Refused(
            detail,
            about="filter" if is_filtered else "length" if is_too_long else "form",
            message=f"{body.get('param') or ''} {message}",
            window=next((one for one in limits if isinstance(one, int) and one >= SMALLEST_WINDOW), None),
        )
    key = "extra_headers" if settings.extra_headers and not settings.api_key else "api_key"
    if status == 429 and any(map(_QUOTA.search, (message, *codes))):
        return EndpointMisconfigured(f"{detail}; the account behind {section}.{key} has nothing left")
    if status >= 500 or status in _PASSING:
        kind = Throttled if status == 429 else TimedOut if status in _TIMED_OUT else Transient
        return kind(detail, retry_after=retry_after(headers, datetime.now(UTC)))
    places = {401: [key], 403: [key, "model"]}.get(status, ["base_url", "model"])
    named = [f"{section}.{place}" for place in places if place != "model" or settings.model]
    return EndpointMisconfigured(f"{detail}; check {' and '.join(named)}")


def _error_of(error: object) -> dict[str, Any]:
    body: Any = error[0] if isinstance(error, list) and error else error
    if isinstance(body, dict):
        return body["error"] if isinstance(body.get("error"), dict) else body
    return {"message": body}


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a response asks to wait, 0 to `MAX_RETRY_AFTER`; None if it states none.

    `retry-after-ms` has priority over `retry-after`, which is a number of seconds or an HTTP date.
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            stated = float(headers.get(name) or "") / unit
            if math.isfinite(stated):
                return min(max(stated, 0.0), MAX_RETRY_AFTER)
    with suppress(ValueError, TypeError, OverflowError):
        moment = parsedate_to_datetime(headers.get("retry-after") or "")
        # A date without a zone is in UTC: HTTP knows no other.
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
        return min(max(seconds, 0.0), MAX_RETRY_AFTER)
    return None


def quoted(message: str, *, secrets: Iterable[str], prompt: str) -> str:
    """An endpoint's message as one line of at most 200 characters, without keys or parts of the prompt."""
    line = " ".join(message.split())
    for secret in secrets:
        line = line.replace(secret, "[key]")
    line = on_a_line(line, _QUOTED)
    known = " ".join(prompt.split())
    windows = range(0, max(len(line) - _COMPARED, 0) + 1, 4)
    if line and any(line[start : start + _COMPARED] in known for start in windows):
        return "[withheld: it repeats the prompt]"
    return line
