"""What can go wrong with a single exchange, by what to do about it."""

from collections.abc import Iterable

from models.refusals import NOTHING_SAID, Refusal
from models.wording import on_a_line

REFUSED_STATUSES = frozenset({400, 413, 422})
"""The request will never be accepted."""
_PASSING = frozenset({409, 425})
_TIMED_OUT = frozenset({408, 504, 524})
"""A gateway waited for the model as long as it ever does."""
_QUOTED = 200
_COMPARED = 32


class ExchangeFault(Exception):
    """An exchange that brought no completion."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Transient(ExchangeFault):
    """May pass by itself: a timeout, a closed connection, an overloaded or failing endpoint."""

    def __init__(self, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after
        """Pause in seconds that the endpoint asks for; None if it does not say."""


class TimedOut(Transient):
    """No complete response in time."""


class Unreachable(Transient):
    """No connection: nothing was asked."""


class Throttled(Transient):
    """The endpoint works, and asks for fewer requests."""


class EndpointMisconfigured(ExchangeFault):
    """A wrong key, model or address: no question can succeed until the configuration is corrected."""


class Refused(ExchangeFault):
    """The endpoint will never accept this request."""

    def __init__(self, detail: str, refusal: Refusal = NOTHING_SAID) -> None:
        super().__init__(detail)
        self.refusal = refusal
        """What the endpoint said, in full; never shown."""


def passing(status: int, detail: str, *, retry_after: float | None = None) -> Transient | None:
    """The fault of a response with this HTTP status, if it may pass by itself."""
    if status == 429:
        return Throttled(detail, retry_after=retry_after)
    if status in _TIMED_OUT:
        return TimedOut(detail, retry_after=retry_after)
    if status >= 500 or status in _PASSING:
        return Transient(detail, retry_after=retry_after)
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
