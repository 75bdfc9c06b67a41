"""Faults of a single exchange, by what to do about them."""

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from models.wording import on_a_line

MAX_RETRY_AFTER = 60.0
"""Seconds; a longer pause that an endpoint asks for is shortened to this."""
_REFUSED = frozenset({400, 413, 422})  # the request will never be accepted
_TIMED_OUT = frozenset({408, 504, 524})  # a gateway waited for the model as long as it ever does
_PASSING = _TIMED_OUT | {409, 425, 429}
_PAYLOAD_TOO_LARGE = 413
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


class ExchangeFault(Exception):
    """An exchange that brought no completion."""

    def __init__(self, detail: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is the pause in seconds that the endpoint asks for; None if it does not say."""
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after


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


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response, in whatever form the endpoint gave it."""

    status: int = 0
    message: str = ""
    parameter: str = ""
    """The parameter of the request that it is about, if it names one."""
    codes: frozenset[str] = frozenset()
    window: int | None = None
    """The model's window in tokens, if the refusal names it."""

    @property
    def is_filtered(self) -> bool:
        """True if a content filter kept the question back."""
        return not self.codes.isdisjoint(_FILTERED)

    @property
    def is_too_long(self) -> bool:
        """True if the question is longer than the model's window."""
        said = self.status == _PAYLOAD_TOO_LARGE or _SAID_TOO_LONG.search(self.message)
        return not self.is_filtered and bool(said or not self.codes.isdisjoint(_TOO_LONG))

    @property
    def is_final(self) -> bool:
        """True if no retry helps; servers send the code of a full window with a status of their choice."""
        # OpenAI allows log-probabilities to some keys only; for a question without them the key is good.
        for_these_keys = self.status == 403 and "logprobs" in self.message.lower()
        coded = self.is_filtered or not self.codes.isdisjoint(_TOO_LONG)
        return self.status in _REFUSED or coded or for_these_keys

    @property
    def is_of_quota(self) -> bool:
        """True if the account has no money left: no waiting helps."""
        return self.status == 429 and any(_QUOTA.search(said) for said in (self.message, *self.codes))


class Refused(ExchangeFault):
    """The endpoint will never accept this request."""

    def __init__(self, detail: str, refusal: Refusal | None = None) -> None:
        super().__init__(detail)
        self.refusal = refusal or Refusal()
        """The endpoint's words in full; never shown."""


def read_refusal(status: int, error: object) -> Refusal:
    """The error body, in any of the forms that endpoints give it; a body of another form is its text."""
    body: Any = error[0] if isinstance(error, list) and error else error
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        body = {"message": "" if body is None else str(body)}
    message = str(body.get("message") or body.get("detail") or body.get("error") or "")[:_READ]
    inner = body.get("innererror")
    coded = [part.get(name) for part in (body, inner) if isinstance(part, dict) for name in ("code", "type")]
    parameter = body.get("param")
    limits = [body.get("n_ctx"), *(int((one[1] or one[2]).replace(",", "")) for one in _WINDOW.finditer(message))]
    return Refusal(
        status,
        message,
        parameter if isinstance(parameter, str) else "",
        frozenset(code for code in coded if isinstance(code, str)),
        next((one for one in limits if isinstance(one, int) and one >= SMALLEST_WINDOW), None),
    )


def fault_of(refusal: Refusal, detail: str, headers: Mapping[str, str]) -> ExchangeFault | None:
    """The fault of an error response; None if it is the configuration that is wrong."""
    status = refusal.status
    if refusal.is_final:
        return Refused(detail, refusal)
    if refusal.is_of_quota or not (status >= 500 or status in _PASSING):
        return None
    kind = Throttled if status == 429 else TimedOut if status in _TIMED_OUT else Transient
    return kind(detail, retry_after=retry_after(headers, datetime.now(UTC)))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a response asks to wait, 0 to `MAX_RETRY_AFTER`; None if it states none.

    `retry-after-ms` has priority over `retry-after`, which is a number of seconds or an HTTP date.
    """
    seconds = math.nan
    for name, unit in (("retry-after", 1), ("retry-after-ms", 1000)):
        with suppress(ValueError):
            stated = float(headers.get(name) or "") / unit
            seconds = stated if math.isfinite(stated) else seconds
    if math.isnan(seconds):
        try:
            moment = parsedate_to_datetime(headers.get("retry-after") or "")
        except (ValueError, TypeError, OverflowError):
            return None
        # A date without a zone is in UTC: HTTP knows no other.
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


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
