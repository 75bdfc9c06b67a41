"""The circuit breaker of one endpoint, with its health probes. models/flow.py has the rules."""

import asyncio
import math
from collections.abc import Callable
from typing import Any, Literal, Protocol

import structlog

from models.faults import EndpointMisconfigured, Refused, Throttled, Transient
from models.protocol import EndpointDown, ModelUnavailable
from models.worktime import Phase

BreakerState = Literal["closed", "open"]
"""Open: nothing is asked but, from time to time, a health probe."""
BreakerListener = Callable[[BreakerState], None]

_FAILURES = 10
"""In a row: from there on a health probe goes before the next question."""
_COOLDOWN, _LONGEST_COOLDOWN = 1.0, 30.0
"""Seconds from one probe in vain to the next; doubled each time."""
UNAVAILABLE_PAUSE = 1.0
"""Seconds after which to ask again, where nothing else is known."""

_LOG = structlog.get_logger(__name__)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


class Sender(Protocol):
    """Exchanges requests with the endpoint; both raise ExchangeFault."""

    async def send(self, request: Any, seconds: float) -> Any:
        """Return the answer to `request`, within so many seconds."""

    async def probe(self, seconds: float) -> object:
        """Ask something small that an endpoint which is up answers at once, be it with a refusal."""


class Breaker:
    """Whether the endpoint is up."""

    def __init__(self, sender: Sender, name: str, timeout: float, on_change: BreakerListener | None) -> None:
        self.answered_at = -math.inf
        self.state: BreakerState = "closed"
        self.misconfigured = False
        self._sender = sender
        self._name = name
        self._timeout = timeout
        self._on_change = on_change
        self._failures = self._openings = 0
        self._opens_until = 0.0
        self._detail = ""
        self._probing = asyncio.Lock()

    async def let_through(self) -> None:
        """Return if it is closed; once it has cooled down, the first caller sends a health probe.

        Raises:
            EndpointDown: it is open.
        """
        if self.state == "open" and loop_time() >= self._opens_until and not self._probing.locked():
            async with self._probing:
                await self._probe()
        if self.state == "open":
            left = self._opens_until - loop_time()
            pause = left if left > 0 else _COOLDOWN
            detail = f"{self._name} is down: {self._detail}"
            raise EndpointDown(detail, retry_after=pause, misconfigured=self.misconfigured)

    async def after_probes(self) -> None:
        """As `let_through`, once a probe that is under way has ended."""
        async with self._probing:
            await self.let_through()

    async def look(self, since: float, seconds: float, detail: str) -> None:
        """Return if the endpoint answered any question since then, or now answers a health probe.

        Raises:
            ModelUnavailable: it did not, as far as is known within so many seconds.
        """
        if self.answered_at >= since:
            return
        with Phase("waits"):
            if self._probing.locked():
                # Another question sends the probe.
                try:
                    async with asyncio.timeout(seconds), self._probing:
                        pass
                except TimeoutError:
                    raise ModelUnavailable(detail, retry_after=UNAVAILABLE_PAUSE) from None
            else:
                async with self._probing:
                    if self.state == "closed":
                        await self._probe()
        if self.answered_at < since:
            await self.let_through()

    def alive(self) -> None:
        """The endpoint answered, be it with a refusal of one request."""
        self.answered_at = loop_time()
        self._failures = self._openings = 0
        if self.state != "closed":
            self._become("closed")

    def failed(self) -> bool:
        """Count a failure; returns whether it is time for a probe."""
        self._failures += 1
        return self._failures >= _FAILURES

    def trip(self, detail: str) -> None:
        """The endpoint will refuse every call: open at once, for the longest time."""
        self.misconfigured = self.answered_at == -math.inf
        if self.state != "open":
            self._open(detail, _LONGEST_COOLDOWN)

    async def _probe(self) -> None:
        begun = loop_time()
        try:
            await self._sender.probe(self._timeout)
        except (Throttled, Refused):
            self.alive()
        except EndpointMisconfigured as fault:
            self.trip(fault.detail)
        except Transient as fault:
            if self.answered_at < begun:
                self.misconfigured = False
                self._open(fault.detail, min(_COOLDOWN * 2.0 ** min(self._openings, 30), _LONGEST_COOLDOWN))
        else:
            self.alive()

    def _open(self, detail: str, seconds: float) -> None:
        self._detail = detail
        self._opens_until = loop_time() + seconds
        self._openings += 1
        if self.state != "open":
            self._become("open")

    def _become(self, state: BreakerState) -> None:
        self.state = state
        if state == "open":
            _LOG.warning("endpoint_breaker_opened", model=self._name, detail=self._detail)
        else:
            _LOG.warning("endpoint_breaker_closed", model=self._name)
        if self._on_change is not None:
            self._on_change(state)
