"""Acts of the stand-in for an endpoint: an answer, an error status, a hang, a closed connection."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.stub_request import StubRequest


@dataclass(frozen=True, kw_only=True)
class Act:
    """The stub's way with a request; make one with the functions below."""

    kind: Literal["answer", "status", "hang", "close"] = "answer"
    change: Callable[[str], str] | None = None
    """Turns the good answer into another."""
    message: Mapping[str, Any] = field(default_factory=dict)
    """Laid over the assistant's message."""
    finish_reason: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""
    delay: float | None = None
    """Seconds before it; None takes the stub's own."""
    document: object = None
    """Sent in place of the whole body, with status 200 or that of a `status`; bytes as they are."""


Script = Callable[[StubRequest], Act]


def good(*, delay: float | None = None) -> Act:
    return Act(delay=delay)


def says(text: str, *, finish_reason: str = "stop", **message: Any) -> Act:
    """An answer with exactly this text; further keywords are laid over the assistant's message."""
    return Act(change=lambda _: text, finish_reason=finish_reason, message=message)


def nonsense() -> Act:
    """An answer that is no JSON."""
    return says("I am sorry, what was the question again?")


def status(code: int, detail: str = "scripted", *, delay: float | None = None, **headers: str) -> Act:
    """An error; keywords are headers, with underscores for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Act(kind="status", status=code, detail=detail, headers=named, delay=delay)


def error(code: int, body: object) -> Act:
    """An error with exactly this body."""
    return Act(kind="status", status=code, document=body)


def page(code: int, body: bytes, content_type: str = "text/html") -> Act:
    """A body that is no JSON."""
    return Act(kind="status", status=code, document=body, headers={"content-type": content_type})


def too_many(retry_after: str | None = None) -> Act:
    """429, with a Retry-After if given."""
    return status(429, "slow down") if retry_after is None else status(429, "slow down", retry_after=retry_after)


def hang() -> Act:
    return Act(kind="hang")


def never_longer_than(characters: int) -> Script:
    """A script that answers requests with messages of so many characters, and leaves longer ones without an answer."""

    def act(request: StubRequest) -> Act:
        return good() if request.size <= characters else hang()

    return act


def close() -> Act:
    """The connection is closed in place of a response."""
    return Act(kind="close", delay=0)
