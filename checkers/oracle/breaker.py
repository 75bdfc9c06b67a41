"""The breaker: an endpoint that keeps failing gets no calls for a while, then one trial call at a time."""

import time
from collections.abc import Callable
from typing import Literal

import structlog

from checkers.oracle.protocol import OracleUnavailable
from checkers.oracle.settings import BreakerSettings

BreakerState = Literal["closed", "open", "half_open"]
"""Closed: all calls go through. Open: none does. Half open: one is on trial."""

BreakerListener = Callable[[BreakerState], None]

_LOG = structlog.get_logger(__name__)


class Breaker:
    """Counts failures in a row across all questions; belongs to one event loop."""

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

    @property
    def state(self) -> BreakerState:
        return self._state

    def check(self) -> None:
        """Raise `OracleUnavailable` if `admit` would."""
        if self._state == "closed":
            return
        wait = self._opens_until - self._clock()
        if self._state == "half_open":
            wait = self._settings.cooldown_seconds
        if wait > 0:
            raise OracleUnavailable(f"{self._name} is down: {self._detail}", retry_after=wait)

    def admit(self) -> None:
        """Let a call through; each is followed by exactly one of `succeeded`, `failed`, `trip` and `released`.

        Raises:
            OracleUnavailable: the breaker is open, or its trial call is under way.
        """
        self.check()
        if self._state == "open":
            self._become("half_open")

    def succeeded(self) -> None:
        """The endpoint answered, be it with a refusal of this one request."""
        self._failures = 0
        self._openings = 0
        if self._state != "closed":
            self._become("closed")

    def failed(self, detail: str) -> None:
        """The endpoint failed in a way that may pass; the errors of calls not admitted quote `detail`."""
        self._failures += 1
        trial = self._state == "half_open"
        if trial or (self._state == "closed" and self._failures >= self._settings.failures):
            self._open(detail, self._cooldown())

    def trip(self, detail: str) -> None:
        """The endpoint will refuse every call: open at once, for the longest time."""
        if self._state != "open":
            self._open(detail, self._settings.max_cooldown_seconds)

    def released(self) -> None:
        """The call says nothing about the endpoint: it was cancelled, or ran into a rate limit."""
        if self._state == "half_open":
            self._become("open")

    def _cooldown(self) -> float:
        doubled = self._settings.cooldown_seconds * 2.0 ** min(self._openings, 30)
        return min(doubled, self._settings.max_cooldown_seconds)

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
