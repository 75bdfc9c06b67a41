"""Whether an endpoint answers at all: told by its answers to anybody, else by a small question of our own.

A question that gets no answer says nothing of the endpoint: it may be too long for it. So the breaker opens only after
the endpoint left a probe unanswered, and closes as soon as one is answered.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable

from models.breaker import Breaker
from models.faults import EndpointMisconfigured, Refused, Throttled, Transient
from models.limits import Limits

Probe = Callable[[float], Awaitable[object]]
"""Asks the endpoint something small within so many seconds; raises `ExchangeFault` as any exchange does."""

_GLANCE_SECONDS = 1.0
"""An endpoint that is up mostly answers a probe in this time. A record waits no longer for it: its own time runs."""


class Pulse:
    """Probes one endpoint, one probe at a time, beside the limits' places; belongs to one event loop."""

    def __init__(self, breaker: Breaker, limits: Limits, *, timeout_seconds: float) -> None:
        self._breaker = breaker
        self._limits = limits
        self._timeout = timeout_seconds
        self._probing: asyncio.Task[None] | None = None
        self._answered_at = -math.inf

    def answered(self) -> None:
        """Note that the endpoint answered somebody."""
        self._answered_at = _now()
        self._breaker.answered()

    def answered_since(self, moment: float) -> bool:
        """True if the endpoint answered anybody since then (the loop's clock)."""
        return self._answered_at >= moment

    def look(self, probe: Probe) -> None:
        """Probe the endpoint, unless that is under way, or was done a short while ago in vain."""
        if self._probing is None and self._breaker.may_probe:
            self._probing = asyncio.create_task(self._probe(probe))

    async def admit(self, probe: Probe) -> None:
        """Return if the endpoint is not known to be down; after the cooldown whoever comes first has it probed.

        Raises:
            EndpointDown: it is.
        """
        if self._breaker.state != "closed":
            self.look(probe)
            await self._probed(_GLANCE_SECONDS)
            self._breaker.check()

    async def alive(self, since: float, probe: Probe, *, seconds: float) -> bool:
        """True if the endpoint answered anybody since then, or answers a probe; false if that is not known in time.

        Raises:
            EndpointDown: it did not.
        """
        if not self.answered_since(since):
            self.look(probe)
            await self._probed(seconds)
            self._breaker.check()
        return self.answered_since(since)

    async def settled(self, seconds: float) -> bool:
        """True once a probe that is under way has ended, or false if that takes longer.

        Raises:
            EndpointDown: the endpoint is down.
        """
        probing = self._probing
        await self._probed(seconds)
        self._breaker.check()
        return probing is None or probing.done()

    async def close(self) -> None:
        """End a probe that is under way."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.wait({self._probing})

    async def _probed(self, seconds: float) -> None:
        if self._probing is not None:
            await asyncio.wait({self._probing}, timeout=seconds)

    async def _probe(self, probe: Probe) -> None:
        begun = _now()
        self._breaker.probing()
        try:
            await probe(self._timeout)
        except Throttled as fault:
            self._limits.hold(fault.retry_after or 0.0)
            self.answered()
        except Refused:
            self.answered()
        except EndpointMisconfigured as fault:
            self._breaker.trip(fault.detail)
        except Transient as fault:
            if not self.answered_since(begun):
                self._breaker.silent(fault.detail)
        else:
            self.answered()
        finally:
            self._breaker.not_probed()
            self._probing = None


def _now() -> float:
    return asyncio.get_running_loop().time()
