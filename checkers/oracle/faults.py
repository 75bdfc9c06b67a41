"""What can go wrong with a single exchange, sorted by what is to be done about it."""

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
        """Seconds for which the endpoint wants to be left alone; None where it does not say."""


class TimedOut(Transient):
    """No whole response in the time there was."""


class Unreachable(Transient):
    """No connection at all: nothing was asked."""


class Throttled(Transient):
    """The endpoint is well, and asked for fewer requests."""


class Misconfigured(ExchangeFault):
    """A wrong key, model or address: no question can succeed until the configuration is mended."""


class Refused(ExchangeFault):
    """The endpoint does not take this request, and never will."""

    def __init__(self, detail: str, *, message: str) -> None:
        super().__init__(detail)
        self.message = message
        """The endpoint's words in full: to be searched for parameter names, never to be shown."""


def quoted(message: str, *, secret: str, prompt: str) -> str:
    """An endpoint's words for people: one line of at most 200 characters, without the key or parts of the prompt."""
    line = " ".join(message.split())
    if secret:
        line = line.replace(secret, "[key]")
    line = line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"
    known = " ".join(prompt.split())
    windows = range(0, max(len(line) - _COMPARED, 0) + 1, 4)
    if any(line[start : start + _COMPARED] in known for start in windows):
        return "[withheld: it repeats the prompt]"
    return line
