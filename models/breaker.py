"""The breaker: an endpoint that answers nothing gets no calls for a while, then a small one of our own at a time."""

import time
from collections.abc import Callable
from typing import Literal

import structlog

from models.protocol import EndpointDown
from models.settings import BreakerSettings

BreakerState = Literal["closed", "open", "half_open"]
"""Closed: all calls go through. Open: none does. Half open: none does, and the endpoint is being probed."""

BreakerListener = Callable[[BreakerState], None]

_LOG = structlog.get_logger(__name__)


class Breaker:
    """Counts failures in a row across all questions, and keeps what the probe found; belongs to one event loop."""

    def __init__(
        self,
        settings: BreakerSettings,
        *,
        name: str,
        listener: BreakerListener | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._name = name
        self._listener = listener
        self._clock = clock
        self._state: BreakerState = "closed"
        self._failures = 0
        self._openings = 0
        self._opens_until = 0.0
        self._detail = ""
        self._has_answered = False
        self.misconfigured = False
        """True if the endpoint refused what is configured before it answered anything."""

    @property
    def state(self) -> BreakerState:
        return self._state

    @property
    def may_probe(self) -> bool:
        """False while it is open and cools down."""
        return self._state != "open" or self._clock() >= self._opens_until

    def check(self) -> None:
        """Let a call through.

        Raises:
            EndpointDown: the breaker is not closed.
        """
        if self._state != "closed":
            wait = self._opens_until - self._clock()
            raise EndpointDown(
                f"{self._name} is down: {self._detail}",
                retry_after=wait if wait > 0 else self._settings.cooldown_seconds,
                misconfigured=self.misconfigured,
            )

    def answered(self) -> None:
        """The endpoint answered, be it with a refusal of this one request."""
        self._has_answered = True
        self._failures = 0
        self._openings = 0
        if self._state != "closed":
            self._become("closed")

    def failed(self) -> bool:
        """Note that the endpoint failed in a way that may pass; true if it did so often enough to be probed."""
        self._failures += 1
        return self._failures >= self._settings.failures

    def probing(self) -> None:
        """The endpoint is being probed; followed by one of `answered`, `silent`, `trip` and `not_probed`."""
        if self._state == "open":
            self._become("half_open")

    def silent(self, detail: str) -> None:
        """The probe was not answered: open. The errors of calls that are not let through quote `detail`."""
        self.misconfigured = False
        doubled = self._settings.cooldown_seconds * 2.0 ** min(self._openings, 30)
        self._open(detail, min(doubled, self._settings.max_cooldown_seconds))

    def trip(self, detail: str) -> None:
        """The endpoint will refuse every call: open at once, for the longest time."""
        self.misconfigured = not self._has_answered
        if self._state != "open":
            self._open(detail, self._settings.max_cooldown_seconds)

    def not_probed(self) -> None:
        """The probe was cancelled: the next may be sent at once."""
        if self._state == "half_open":
            self._become("open")

    def _open(self, detail: str, seconds: float) -> None:
        self._detail = detail
        self._opens_until = self._clock() + seconds
        self._openings += 1
        self._become("open")

    def _become(self, state: BreakerState) -> None:
        self._state = state
        if state == "open":
            _LOG.warning("oracle_breaker_opened", oracle=self._name, detail=self._detail)
        elif state == "closed":
            _LOG.warning("oracle_breaker_closed", oracle=self._name)
        if self._listener is not None:
            self._listener(state)
