"""The flow of questions to one endpoint: concurrency limit, back-off and circuit breaker.

- The limit begins small. It grows by one with an answer that came about as soon as the quickest, or in a quarter of the
  time there is. A 429 that is not alone halves it. After a timeout it is as many as were answered in that time: the
  question waited in the endpoint's own queue, and is asked again.
- A quarter of the slots, at most, is for long questions: those more than twice as long as any that was answered (before
  the first answer: as the shorter ones). If several of them got no answer, one that has waited for as long as a
  question may take fails.
- A timeout otherwise fails the question. Other passing faults are retried after a back-off. A 429 among answers delays
  its own question alone; several close to each other delay all, twice as long each time, or as long as the endpoint
  says.
- Failures in a row, or a timeout while no question was answered, send a health probe. If that is not answered either,
  the breaker opens; the next probe that is answered closes it. A refused key, model or address opens it at once.
"""

import asyncio
import math
import random
from collections import deque
from dataclasses import dataclass
from typing import Any

from models.breaker import UNAVAILABLE_PAUSE, Breaker, BreakerListener, Sender, loop_time
from models.faults import (
    MAX_RETRY_AFTER,
    EndpointMisconfigured,
    Refused,
    Throttled,
    TimedOut,
    Transient,
    Unreachable,
)
from models.limiter import Limiter, Size
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import EndpointSettings
from models.wording import counted
from models.worktime import Phase

_FIRST_BACK_OFF, _LONGEST_BACK_OFF = 0.5, 8.0
"""Seconds before a retry at most; doubled each time, with full jitter."""
_FIRST_HOLD = 1.0
"""Seconds for which all wait after a 429 that states no time; doubled until a question is answered again."""
_CLOSE = 3
"""Fewer answers than this between two 429s: the limit is reached. Of 1 in 100 at random, 1 in 50 comes so close."""
_ATTEMPTS = 4
"""Requests for one turn at most, if it fails for a reason that may pass (429, 5xx)."""
_TIMED_ATTEMPTS = 2
"""A question that had no answer in time may have been lost once; the same question is as long the next time."""


class TimeLimit:
    """The seconds that one question has left with its retries; waits for a slot do not count."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._begun = 0.0

    def __enter__(self) -> None:
        """Begin an exchange or a back-off, which counts."""
        self._begun = loop_time()

    def __exit__(self, *_: object) -> None:
        self.left = max(self.left - (loop_time() - self._begun), 0.0)


@dataclass(slots=True)
class _Attempts:
    """One question on its way."""

    size: Size
    limit: TimeLimit
    count: int = 0
    started: float = 0.0
    under_way: int = 0
    """Questions under way when it was last sent, itself included."""
    is_long: bool = False
    suspect: bool = False
    """The endpoint failed on it, or left it without an answer."""


class Flow:
    """Belongs to one endpoint and one event loop."""

    def __init__(
        self,
        sender: Sender,
        settings: EndpointSettings,
        *,
        name: str,
        on_breaker: BreakerListener | None = None,
    ) -> None:
        """`name` is shown in logs and errors."""
        self._sender = sender
        self._timeout = settings.timeout_seconds
        self._limiter = Limiter(settings.concurrency)
        self._breaker = Breaker(sender, name, self._timeout, on_breaker)
        self._answers: deque[float] = deque(maxlen=2000)
        """When the last ones came."""
        self._held_since = self._held_until = -math.inf
        self._hold = 0.0
        self._since_throttled = _CLOSE
        """Answers since the last 429."""

    async def run(self, request: Any, *, size: Size, limit: TimeLimit) -> Any:
        """The sender's reply to `request`, within the limit.

        Raises:
            ModelUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            ModelFailed: this question fails repeatedly (`judge_failed`) or gets no answer in time (`judge_slow`),
                while the endpoint is not known to be down.
            Refused: the endpoint does not accept this request.
        """
        run = _Attempts(size, limit)
        try:
            while True:
                await self._enter(run)
                try:
                    seconds = max(min(self._timeout, limit.left), 0.001)
                    with limit, Phase("asked"):
                        reply = await self._sender.send(request, seconds)
                    self._answered(run)
                    return reply
                # The slot is kept meanwhile, for the probe that may have to be sent.
                except TimedOut as fault:
                    back_off = await self._timed_out(fault, run)
                except Transient as fault:
                    back_off = await self._failed(fault, run)
                except EndpointMisconfigured as wrong:
                    raise self._misconfigured(wrong, run) from None
                except Refused:
                    self._breaker.alive()
                    raise
                finally:
                    self._limiter.leave(is_long=run.is_long)
                with limit:
                    await asyncio.sleep(back_off)
        except ModelUnavailable as error:
            error.suspect = run.suspect
            raise

    async def _enter(self, run: _Attempts) -> None:
        """Wait for a slot, and take it."""
        while True:
            await self._breaker.let_through()
            if (held := self._held_until - loop_time()) > 0:
                if held >= run.limit.left:
                    raise ModelUnavailable("the endpoint asked for a pause (rate limit)", retry_after=held)
                with Phase("waits"):
                    # With jitter, so that not all begin at the same moment.
                    await asyncio.sleep(held * (1 + random.random() * 0.1))  # noqa: S311
            run.is_long = await self._limiter.enter(run.size, run.limit.left, again=run.count > 0)
            if self._breaker.state == "closed" and self._held_until <= loop_time():
                run.count += 1
                run.started, run.under_way = loop_time(), self._limiter.under_way
                return
            # The breaker opened, or a 429 came, while others had the slot.
            self._limiter.leave(is_long=run.is_long)

    def _answered(self, run: _Attempts) -> None:
        now = loop_time()
        self._breaker.alive()
        self._since_throttled += 1
        self._answers.append(now)
        if run.started >= self._held_until:
            self._hold = 0.0
        self._limiter.answered(run.size, now - run.started, run.under_way, self._timeout)

    async def _timed_out(self, fault: TimedOut, run: _Attempts) -> float:
        """Return the back-off if the question is to be retried."""
        run.suspect = True
        now = loop_time()
        meanwhile = sum(moment >= run.started for moment in self._answers)
        if 0 < meanwhile < run.under_way and not run.is_long and run.count < _ATTEMPTS:
            self._limiter.lower(meanwhile)
            run.limit.left += now - run.started
            return 0.0
        # A gateway may run out of time before we do.
        await self._breaker.look((run.started + now) / 2, run.limit.left, f"{fault.detail}, to whatever is asked")
        if run.count < min(_ATTEMPTS, _TIMED_ATTEMPTS) and run.limit.left >= self._timeout:
            return 0.0
        self._limiter.lost(is_long=run.is_long)
        raise ModelFailed(
            f"{fault.detail} to a question of {run.size.read:,} characters, while the endpoint answers others; "
            "timeout_seconds sets the time",
            cause="judge_slow",
        )

    async def _failed(self, fault: Transient, run: _Attempts) -> float:
        """Return the back-off after which the question is to be retried."""
        if isinstance(fault, Throttled):
            self._throttled(fault, run)
        else:
            run.suspect |= not isinstance(fault, Unreachable)
            if fault.retry_after is not None:
                self._held_until = max(self._held_until, loop_time() + fault.retry_after)
            if self._breaker.failed():
                await self._breaker.look(run.started, run.limit.left, fault.detail)
        # If all have to wait, that takes the place of the question's own back-off.
        longest = min(_FIRST_BACK_OFF * 2.0 ** (run.count - 1), _LONGEST_BACK_OFF)
        back_off = random.random() * longest  # noqa: S311
        pause = 0.0 if self._held_until > loop_time() else fault.retry_after or back_off
        if run.count < _ATTEMPTS and pause < run.limit.left:
            return pause
        detail = f"{fault.detail} ({counted(run.count, 'attempt')})"
        if isinstance(fault, Unreachable | Throttled):
            raise ModelUnavailable(detail, retry_after=max(self._held_until - loop_time(), pause, UNAVAILABLE_PAUSE))
        await self._breaker.after_probes()
        raise ModelFailed(detail, cause="judge_failed")

    def _throttled(self, fault: Throttled, run: _Attempts) -> None:
        """Delay all questions if the limit is reached; a 429 to a request of before the last delay says nothing new."""
        is_alone = self._since_throttled >= _CLOSE and bool(self._answers)
        self._breaker.alive()
        self._since_throttled = 0
        if is_alone:
            return
        if run.started >= self._held_since:
            self._hold = min(2 * self._hold or _FIRST_HOLD, MAX_RETRY_AFTER)
            self._held_since = loop_time()
            self._limiter.lower()
        pause = self._hold if fault.retry_after is None else fault.retry_after
        self._held_until = max(self._held_until, loop_time() + pause)

    def _misconfigured(self, wrong: EndpointMisconfigured, run: _Attempts) -> ModelUnavailable:
        # A gateway may refuse one question while others are answered.
        run.suspect = self._breaker.answered_at >= run.started
        if not run.suspect:
            self._breaker.trip(wrong.detail)
        misconfigured = self._breaker.misconfigured
        return ModelUnavailable(wrong.detail, retry_after=MAX_RETRY_AFTER, misconfigured=misconfigured)
