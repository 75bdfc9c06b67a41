"""The flow of questions to one endpoint: concurrency limit, back-off and circuit breaker.

- The limit begins small, and grows with quick answers. A 429 that is not alone halves it. After a timeout it is as many
  as were answered meanwhile: the question waited in a queue, and is asked again. Other timeouts fail the question.
- A quarter of the slots is for long questions, more than twice as long as any that was answered.
- A 429 among answers delays its own question; several close to each other delay all. Other passing faults are retried.
- Failures in a row, or a timeout while nothing was answered, send a health probe. If that fails as well, the breaker
  opens; the next probe that is answered closes it. A refused key, model or address opens it at once.
"""

import asyncio
import heapq
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from models.endpoint import MAX_RETRY_AFTER, EndpointMisconfigured, Refused, Transient
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import EndpointSettings
from models.wording import counted
from models.work import Phase, work_number

BreakerState = Literal["closed", "open"]
BreakerListener = Callable[[BreakerState], None]
Probe = Callable[[float], Awaitable[object]]  # asks what an endpoint that is up answers at once, be it with a refusal

_BACK_OFF = wait_random_exponential(multiplier=0.5, max=8)
_FIRST_HOLD = 1.0  # seconds for which all wait after a 429 that states no time; doubled until one is answered again
_CLOSE = 3  # fewer answers than this between two 429s: the limit is reached
_ATTEMPTS = 4  # of one turn
_AT_FIRST = 16  # questions at once, before an endpoint has shown how many it takes
_LOST = 4  # long questions without an answer, in a row, after which others no longer wait for a slot
_FAILURES = 10  # in a row: from there on a health probe goes before the next question
_COOLDOWN, _LONGEST_COOLDOWN = 1.0, 30.0  # seconds from one probe in vain to the next; doubled each time

_LOG = structlog.get_logger(__name__)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


@dataclass(slots=True)
class Attempts:
    """A question put in one way, with its length and the seconds that it has left; waits for a slot do not count."""

    length: tuple[int, int]  # tokens that the reply is likely to have, and characters to read
    seconds: float
    count: int = 0
    started: float = 0.0
    answers: int = 0  # that the endpoint had given when it was last sent
    under_way: int = 0  # questions, itself included, when it was last sent
    is_long: bool = False
    suspect: bool = False  # the endpoint failed on it, or left it without an answer
    pause: float | None = None  # before the next attempt; None: the usual back-off

    def retrying(self) -> AsyncRetrying:
        """Attempts, each of which takes a `slot` of the flow, until one is answered or fails."""
        return AsyncRetrying(retry=retry_if_exception_type(Transient), wait=self._wait, reraise=True)

    def _wait(self, state: RetryCallState) -> float:
        seconds = _BACK_OFF(state) if self.pause is None else self.pause
        self.seconds -= seconds
        return seconds


class Breaker:
    """Whether the endpoint is up; open, it lets nothing through but a health probe from time to time."""

    def __init__(self, probe: Probe, name: str, seconds: float, on_change: BreakerListener | None) -> None:
        self._probe, self._name, self._seconds = probe, name, seconds
        self._on_change = on_change or (lambda state: None)
        self.answered_at, self.misconfigured, self._probing = -math.inf, False, asyncio.Lock()
        self.failures, self.openings, self._opens_until, self._detail = 0, 0, 0.0, ""

    async def check(self, since: float = -math.inf, *, after_probe: bool = False) -> None:
        """Return if the endpoint is up, by an answer since then or by one to a probe; else raise."""
        if self._is_due(since) or (after_probe and self._probing.locked()):
            with Phase("waits"):
                async with self._probing:
                    if self._is_due(since):
                        await self._send_probe()
        if self.openings:
            pause = max(self._opens_until - loop_time(), 0.0) or _COOLDOWN
            raise ModelUnavailable(self._detail, retry_after=pause, misconfigured=self.misconfigured)

    def _is_due(self, since: float) -> bool:
        return loop_time() >= self._opens_until if self.openings else self.answered_at < since

    def alive(self) -> None:
        """The endpoint answered, be it with a refusal of one request."""
        was_open, self.answered_at, self.failures, self.openings = self.openings > 0, loop_time(), 0, 0
        if was_open:
            self._tell("closed")

    def trip(self, fault: Transient | EndpointMisconfigured) -> None:
        """Open; if the endpoint refuses every call, for the longest time."""
        refuses = isinstance(fault, EndpointMisconfigured)
        self.misconfigured = refuses and self.answered_at == -math.inf
        seconds = _LONGEST_COOLDOWN if refuses else min(_COOLDOWN * 2.0 ** min(self.openings, 30), _LONGEST_COOLDOWN)
        self._opens_until, self.openings = loop_time() + seconds, self.openings + 1
        self._detail = f"{self._name} is down: {fault.detail}"
        if self.openings == 1:
            self._tell("open")

    async def _send_probe(self) -> None:
        begun = loop_time()
        try:
            await self._probe(self._seconds)
        except Refused:
            pass
        except (Transient, EndpointMisconfigured) as fault:
            if not (isinstance(fault, Transient) and fault.kind == "throttled"):
                return None if self.answered_at >= begun else self.trip(fault)
        return self.alive()

    def _tell(self, state: BreakerState) -> None:
        event = "opened" if state == "open" else "closed"
        _LOG.warning(f"endpoint_breaker_{event}", model=self._name, detail=self._detail)
        self._on_change(state)


class Limiter:
    """Additive increase, multiplicative decrease; a quarter of the slots is for long questions."""

    def __init__(self, settings: EndpointSettings) -> None:
        self._most, self._quick = settings.concurrency, settings.timeout_seconds / 4
        self.limit, self._was_full = float(min(self._most, _AT_FIRST)), False  # once it is full, it grows slowly
        self.under_way = self._long_under_way = self._entries = 0
        # Heaps, of long and of other ones: what began first is finished first, however slow the endpoint is.
        self._waiting: dict[bool, list[tuple[int, int, asyncio.Future[None]]]] = {True: [], False: []}
        self._quickest, self._asked = math.inf, deque[tuple[int, int]](maxlen=200)
        self._longest, self.lost = list[int](), 0  # length up to which any were answered; long ones that were not

    async def enter(self, run: Attempts) -> None:
        """Take a slot; raises ModelFailed for a long question that has waited too long while others got no answer."""
        self._asked.append(run.length)
        if not self._longest:
            await asyncio.sleep(0)  # questions of the same moment are compared with each other
        # Not the median: half of all may be long ones that nothing answers.
        known = self._longest or [sorted(each)[len(each) // 4] for each in zip(*self._asked, strict=True)]
        run.is_long = any(one > 2 * other for one, other in zip(run.length, known, strict=True))
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._entries += 1
        heapq.heappush(self._waiting[run.is_long], (work_number(), self._entries * (-1 if run.count else 1), slot))
        self._wake()
        try:
            with Phase("slow_lane" if run.is_long else "waits"):
                while not slot.done():
                    await asyncio.wait({slot}, timeout=run.seconds if run.is_long else None)
                    if not slot.done() and self.lost >= _LOST:
                        raise ModelFailed("no answer to any question as long as this one", cause="judge_slow")
        except BaseException:
            if not slot.cancel():
                self.leave(run)
            raise

    def leave(self, run: Attempts) -> None:
        self.under_way -= 1
        self._long_under_way -= run.is_long
        self._wake()

    def answered(self, run: Attempts, taken: float) -> None:
        """Let the limit grow after a quick answer."""
        self.lost = 0 if run.is_long else self.lost
        self._longest = list(map(max, run.length, self._longest or run.length))
        self._quickest = min(self._quickest * 1.01, taken)
        if max(run.under_way, self.under_way) >= int(self.limit) and taken < max(self._quick, 2 * self._quickest):
            self.limit = min(self.limit + (1 / self.limit if self._was_full else 1), self._most)

    def lower(self, to: float) -> None:
        self.limit, self._was_full = max(1.0, min(self.limit, to)), True

    def _wake(self) -> None:
        limit = int(self.limit)
        for is_long, queue in self._waiting.items():
            while queue and self.under_way < limit and (not is_long or self._long_under_way < max(limit // 4, 1)):
                *_, slot = heapq.heappop(queue)
                if not slot.done():
                    self.under_way += 1
                    self._long_under_way += is_long
                    slot.set_result(None)


class Flow:
    """Belongs to one endpoint and one event loop."""

    def __init__(self, probe: Probe, settings: EndpointSettings, name: str, on_breaker: BreakerListener | None) -> None:
        self._timeout, self._limiter = settings.timeout_seconds, Limiter(settings)
        self._breaker = Breaker(probe, name, self._timeout, on_breaker)
        self._held_until, self._hold = -math.inf, 0.0
        self._answers, self._since_throttled = 0, _CLOSE  # answers in all, and since the last 429

    @asynccontextmanager
    async def slot(self, run: Attempts) -> AsyncIterator[float]:
        """The seconds that a request may take, once it may be sent; raises its fault to retry it, else a ModelError."""
        try:
            await self._enter(run)
            try:
                with Phase("asked"):
                    yield max(min(self._timeout, run.seconds), 0.001)
                self._answered(run, loop_time())
            except (Transient, EndpointMisconfigured, Refused) as fault:
                run.seconds -= loop_time() - run.started
                await self._failed(fault, run)  # the slot is kept meanwhile, for the probe that may have to be sent
                raise
            finally:
                self._limiter.leave(run)
        except ModelUnavailable as error:
            error.suspect = run.suspect
            raise

    async def _enter(self, run: Attempts) -> None:
        while True:
            await self._breaker.check()
            if (held := self._held_until - loop_time()) > 0:
                if held >= run.seconds:
                    raise ModelUnavailable("the endpoint asked for a pause (rate limit)", retry_after=held)
                with Phase("waits"):
                    await asyncio.sleep(held)
            await self._limiter.enter(run)
            if not self._breaker.openings and self._held_until <= loop_time():
                break
            self._limiter.leave(run)  # the breaker opened, or a 429 came, while others had the slot
        run.count, run.started, run.under_way = run.count + 1, loop_time(), self._limiter.under_way
        run.answers = self._answers - (self._breaker.answered_at >= run.started)

    def _answered(self, run: Attempts, now: float) -> None:
        run.seconds -= now - run.started
        self._breaker.alive()
        self._answers, self._since_throttled = self._answers + 1, self._since_throttled + 1
        self._hold = 0.0 if run.started >= self._held_until else self._hold
        self._limiter.answered(run, now - run.started)

    async def _failed(self, fault: Transient | EndpointMisconfigured | Refused, run: Attempts) -> None:
        """Return if the question is to be retried, or was refused; else raise why it is not."""
        if isinstance(fault, Refused):
            return self._breaker.alive()
        if isinstance(fault, EndpointMisconfigured):
            run.suspect = self._breaker.answered_at >= run.started  # a gateway may refuse one, and answer others
            if not run.suspect:
                self._breaker.trip(fault)
            raise ModelUnavailable(fault.detail, retry_after=MAX_RETRY_AFTER, misconfigured=self._breaker.misconfigured)
        if fault.kind == "timed_out":
            return await self._timed_out(fault, run)
        if fault.kind == "throttled":
            self._throttled(fault, run)
        else:
            run.suspect |= fault.kind != "unreachable"
            self._held_until = max(self._held_until, loop_time() + (fault.retry_after or -math.inf))
            self._breaker.failures += 1
            if self._breaker.failures >= _FAILURES:
                await self._breaker.check(run.started)
        # If all have to wait, that takes the place of the question's own back-off.
        run.pause = 0.0 if self._held_until > loop_time() else fault.retry_after
        if run.count < _ATTEMPTS and (run.pause or 0.0) < run.seconds:
            return None
        detail = f"{fault.detail} ({counted(run.count, 'attempt')})"
        if fault.kind in {"unreachable", "throttled"}:
            raise ModelUnavailable(detail, retry_after=max(self._held_until - loop_time(), run.pause or 0.0, _COOLDOWN))
        await self._breaker.check(after_probe=True)
        raise ModelFailed(detail, cause="judge_failed")

    async def _timed_out(self, fault: Transient, run: Attempts) -> None:
        run.suspect, run.pause = True, 0.0
        taken, meanwhile = loop_time() - run.started, self._answers - run.answers
        if 0 < meanwhile < run.under_way and not run.is_long and run.count < _ATTEMPTS:
            run.seconds += taken
            return self._limiter.lower(meanwhile * 0.75)
        await self._breaker.check(run.started + taken / 2)  # a gateway may run out of time before we do
        if run.count < min(_ATTEMPTS, 2) and run.seconds >= self._timeout:
            return None  # it may have been lost; the same question is as long the next time
        self._limiter.lost += run.is_long
        detail = f"{fault.detail} to a question of this length, while the endpoint answers others"
        raise ModelFailed(f"{detail}; timeout_seconds sets the time", cause="judge_slow")

    def _throttled(self, fault: Transient, run: Attempts) -> None:
        """Delay all questions if the limit is reached; a 429 to a request of before the last delay says nothing new."""
        self._breaker.alive()
        is_alone, self._since_throttled = self._since_throttled >= _CLOSE and self._answers > 0, 0
        if is_alone:
            return
        if run.started >= self._held_until:
            self._hold = min(2 * self._hold or _FIRST_HOLD, MAX_RETRY_AFTER)
            self._limiter.lower(self._limiter.limit / 2)
        pause = self._hold if fault.retry_after is None else fault.retry_after
        self._held_until = max(self._held_until, loop_time() + pause)
