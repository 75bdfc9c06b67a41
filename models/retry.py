"""Retries: what may pass by itself is tried again, after a pause of random length that grows, within a deadline."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from models.breaker import Breaker
from models.faults import EndpointMisconfigured, Refused, Throttled, TimedOut, Transient, Unreachable
from models.limits import Limits, TimeLimit
from models.protocol import OracleFailed, OracleUnavailable
from models.pulse import Probe, Pulse
from models.sizes import SizedQuestion, Sizes
from models.wording import counted

MAX_RETRY_AFTER = 60.0
"""Seconds; a longer pause that an endpoint asks for is shortened to this."""

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 8.0
_UNAVAILABLE_PAUSE = 1.0
_TIMED_ATTEMPTS = 2
"""A question that had no answer in time may have been lost once; the same question is as long the next time."""

_T = TypeVar("_T")


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

    def __init__(self, *, limits: Limits, breaker: Breaker, max_attempts: int, timeout_seconds: float) -> None:
        self._limits = limits
        self._breaker = breaker
        self._max_attempts = max_attempts
        self._timeout = timeout_seconds
        self._pulse = Pulse(breaker, limits, timeout_seconds=timeout_seconds)
        self._sizes: dict[str, Sizes] = {}

    async def run(
        self, attempt: Callable[[float], Awaitable[_T]], *, probe: Probe, task: str, size: int, limit: TimeLimit
    ) -> _T:
        """The result of `attempt`, which is given its time limit in seconds; ends when `limit` does.

        `size` is the question's, in characters, to be compared with others of the same `task`. `probe` asks something
        small, to tell an endpoint that is down from one that is too slow for this question.

        Raises:
            OracleUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            OracleFailed: this question fails repeatedly (`judge_failed`) or gets no answer in time (`judge_slow`),
                while the endpoint is not known to be down.
            Refused: the endpoint does not accept this request.
        """
        sizes = self._sizes.get(task)
        if sizes is None:
            sizes = self._sizes[task] = Sizes(concurrency=self._limits.concurrency, seconds=self._timeout)
        run = _Run(sizes, probe, size, limit)
        try:
            while True:
                question = await self._enter(run)
                try:
                    try:
                        return await self._once(attempt, run, question)
                    except TimedOut as fault:
                        await self._blame(fault, run, question)
                        pause = 0.0
                    except Transient as fault:
                        pause = await self._pause(fault, run)
                finally:
                    sizes.leave(question)
                await asyncio.sleep(pause)
        except OracleUnavailable as error:
            error.suspect = run.failed
            raise

    async def close(self) -> None:
        """End what is under way beside the questions."""
        await self._pulse.close()

    async def _enter(self, run: "_Run") -> SizedQuestion:
        await self._pulse.admit(run.probe)
        run.limit.stop()
        return await run.sizes.enter(run.size)

    async def _once(self, attempt: Callable[[float], Awaitable[_T]], run: "_Run", question: SizedQuestion) -> _T:
        async with self._limits.place(run.limit):
            # Things may have changed while others had the place.
            self._breaker.check()
            run.sizes.check(question.size)
            run.attempts += 1
            seconds = max(min(self._timeout, run.limit.left), 0.001)
            run.sizes.begin(question)
            run.half = question.started + seconds / 2
            half = asyncio.get_running_loop().call_at(run.half, self._look, run, question.started)
            try:
                result = await attempt(seconds)
            except EndpointMisconfigured as fault:
                self._breaker.trip(fault.detail)
                raise OracleUnavailable(
                    fault.detail, retry_after=MAX_RETRY_AFTER, misconfigured=self._breaker.misconfigured
                ) from None
            except Refused:
                self._pulse.answered()
                raise
            finally:
                half.cancel()
        self._pulse.answered()
        run.sizes.answered(question)
        return result

    def _look(self, run: "_Run", started: float) -> None:
        """Half of a question's time is over. If nobody was answered in it, the other half is there for a probe."""
        if not self._pulse.answered_since(started):
            self._pulse.look(run.probe)

    async def _blame(self, fault: TimedOut, run: "_Run", question: SizedQuestion) -> None:
        """After a question that had no answer in time: return if it is to be asked once more."""
        run.failed = True
        # A gateway may run out of time before we do.
        half = min(run.half, (question.started + asyncio.get_running_loop().time()) / 2)
        if not await self._pulse.alive(half, run.probe, seconds=run.limit.left):
            raise OracleUnavailable(f"{fault.detail}, to whatever is asked", retry_after=_UNAVAILABLE_PAUSE)
        if run.attempts < min(self._max_attempts, _TIMED_ATTEMPTS) and run.limit.left >= self._timeout:
            return
        run.sizes.timed_out(question)
        raise OracleFailed(
            f"{fault.detail} to a question of {run.size:,} characters, while the endpoint answers others; "
            "timeout_seconds sets the time",
            cause="judge_slow",
        )

    async def _pause(self, fault: Transient, run: "_Run") -> float:
        """After another failure: seconds until the question is asked once more."""
        if fault.retry_after is not None:
            self._limits.hold(fault.retry_after)
        if not isinstance(fault, Throttled):
            run.failed |= not isinstance(fault, Unreachable)
            if self._breaker.failed():
                self._pulse.look(run.probe)
        # If there is a pause for everyone, the limits keep it.
        longest = min(_FIRST_PAUSE * 2.0**run.attempts, _LONGEST_PAUSE)
        pause = random.random() * longest if fault.retry_after is None else 0.0  # noqa: S311
        if run.attempts >= self._max_attempts or pause >= run.limit.left:
            known = await self._pulse.settled(run.limit.left)
            detail = f"{fault.detail} ({counted(run.attempts, 'attempt')})"
            if isinstance(fault, Unreachable | Throttled) or not known:
                raise OracleUnavailable(detail, retry_after=max(self._limits.held_for, _UNAVAILABLE_PAUSE))
            raise OracleFailed(detail, cause="judge_failed")
        return pause


@dataclass(slots=True)
class _Run:
    """One question on its way."""

    sizes: Sizes
    probe: Probe
    size: int
    limit: TimeLimit
    attempts: int = 0
    half: float = 0.0
    """When half of the last attempt's time was over, by the loop's clock."""
    failed: bool = False
    """The endpoint failed on it, or left it without an answer."""
