"""Retries: what may pass by itself is tried again, after a pause of random length that grows, within a deadline."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NoReturn, TypeVar

import structlog

from checkers.oracle.breaker import Breaker
from checkers.oracle.faults import EndpointMisconfigured, Refused, Throttled, TimedOut, Transient, Unreachable
from checkers.oracle.limits import Limits
from checkers.oracle.protocol import OracleFailed, OracleUnavailable

MAX_RETRY_AFTER = 60.0
"""Seconds; a longer pause that an endpoint asks for is shortened to this."""

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 8.0
_UNAVAILABLE_PAUSE = 1.0
_LOGGED_EVERY = 60.0
_STARVED = "too little time was left after waiting for a place under the configured limits"

_T = TypeVar("_T")
_LOG = structlog.get_logger(__name__)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a response asks to wait, 0 to `MAX_RETRY_AFTER`; None if it states none.

    `retry-after-ms` has priority over `retry-after`, which is a number of seconds or an HTTP date.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    stated = headers.get("retry-after")
    seconds = _number(stated)
    if seconds is not None:
        return _bounded(seconds)
    try:
        moment = parsedate_to_datetime(stated or "")
    except (ValueError, TypeError, OverflowError):
        return None
    # A date without a zone is in UTC: HTTP knows no other.
    return _bounded((moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


class Retrying:
    """Runs exchanges within the limits and past the breaker, and repeats them if that may help."""

    def __init__(
        self, *, name: str, limits: Limits, breaker: Breaker, max_attempts: int, timeout_seconds: float
    ) -> None:
        self._name = name
        self._limits = limits
        self._breaker = breaker
        self._max_attempts = max_attempts
        self._timeout = timeout_seconds
        self._logged_at = -math.inf

    async def run(self, attempt: Callable[[float], Awaitable[_T]], *, ends_at: float) -> _T:
        """The result of `attempt`, which is given its time limit in seconds; ends by `ends_at` (monotonic clock).

        Raises:
            OracleUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            OracleFailed: this question fails repeatedly, while the endpoint is not known to be down.
            Refused: the endpoint does not accept this request.
        """
        begun = time.monotonic()
        attempts = 0
        while True:
            self._breaker.check()
            async with self._limits.place(ends_at):
                self._breaker.admit()
                attempts += 1
                started = time.monotonic()
                seconds = min(self._timeout, max(ends_at - started, 0.001))
                try:
                    result = await attempt(seconds)
                except Transient as fault:
                    if attempts == 1 and isinstance(fault, TimedOut) and started - begun > seconds:
                        # Waiting for a place left too little time for the exchange: the endpoint is not to blame.
                        self._breaker.released()
                        raise OracleUnavailable(_STARVED, retry_after=_UNAVAILABLE_PAUSE) from None
                    last = fault
                    self._note(fault)
                except EndpointMisconfigured as fault:
                    self._breaker.trip(fault.detail)
                    self._log_misconfigured(fault)
                    raise OracleUnavailable(fault.detail, retry_after=MAX_RETRY_AFTER) from None
                except Refused:
                    self._breaker.succeeded()
                    raise
                except BaseException:
                    self._breaker.released()
                    raise
                else:
                    self._breaker.succeeded()
                    return result
            pause = self._pause(last, attempts)
            if attempts >= self._max_attempts or time.monotonic() + pause >= ends_at:
                self._give_up(last, attempts)
            await asyncio.sleep(pause)

    def _note(self, fault: Transient) -> None:
        if fault.retry_after is not None:
            self._limits.hold(fault.retry_after)
        if isinstance(fault, Throttled):
            self._breaker.released()
        else:
            self._breaker.failed(fault.detail)

    def _pause(self, fault: Transient, attempts: int) -> float:
        if fault.retry_after is not None:
            return 0.0  # the limits hold everyone back for that long
        longest = min(_FIRST_PAUSE * 2.0**attempts, _LONGEST_PAUSE)
        return random.random() * longest  # noqa: S311

    def _give_up(self, fault: Transient, attempts: int) -> NoReturn:
        detail = f"{fault.detail} ({attempts} attempt{'s' if attempts > 1 else ''})"
        self._breaker.check()
        if isinstance(fault, Unreachable | Throttled):
            raise OracleUnavailable(detail, retry_after=max(self._limits.held_for, _UNAVAILABLE_PAUSE))
        raise OracleFailed(detail, cause="judge_failed")

    def _log_misconfigured(self, fault: EndpointMisconfigured) -> None:
        now = time.monotonic()
        if now - self._logged_at >= _LOGGED_EVERY:
            self._logged_at = now
            _LOG.error("oracle_misconfigured", oracle=self._name, detail=fault.detail)
