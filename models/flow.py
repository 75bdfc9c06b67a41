"""The flow of questions to one endpoint: concurrency limit, back-off and circuit breaker.

- The limit begins small. It grows by one with an answer that came about as soon as the quickest, or in a quarter of the
  time there is. A 429 that is not alone halves it. After a timeout it is as many as were answered in that time: the
  question waited in the endpoint's own queue, and is asked again.
- A quarter of the places, at most, is for long questions: those more than twice as long as any that was answered, or
  before the first answer as the shorter ones. Where several of them got no answer, one that has waited for as
  long as a question may take fails.
- What takes ten times as long as nearly all others, and more than five seconds, is taken for lost and asked once more.
- A timeout otherwise fails the question. What else may pass is asked again after a back-off. A 429 among answers holds
  its own question alone; where they come close to each other all wait, twice as long each time, or as long as the
  endpoint says.
- Failures in a row, or a timeout while nobody was answered, send a health probe. If that is not answered either, the
  breaker opens; the next probe that is answered closes it. A refused key, model or address opens it at once.
"""

import asyncio
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import structlog

from models.faults import (
    MAX_RETRY_AFTER,
    EndpointMisconfigured,
    Refused,
    Throttled,
    TimedOut,
    Transient,
    Unreachable,
)
from models.protocol import EndpointDown, ModelFailed, ModelUnavailable
from models.settings import EndpointSettings
from models.wording import counted
from models.worktime import Phase

BreakerState = Literal["closed", "open"]
"""Open: nothing is asked but, from time to time, a health probe."""
BreakerListener = Callable[[BreakerState], None]

_AT_FIRST = 16
"""Questions at once, before an endpoint has shown how many it takes."""
_LONG_SHARE = 4
_LONG = 2
"""Times the size of those that were answered."""
_EARLY_SECONDS, _EARLY_TIMES = 5.0, 10
"""Seconds, and times the time of nearly all of the last answers, after which a question is asked once more."""
_LOST = 4
"""Long questions without an answer, in a row, after which others do not wait for their places any longer."""
_FAILURES = 10
"""In a row: from there on a health probe goes before the next question."""
_COOLDOWN, _LONGEST_COOLDOWN = 1.0, 30.0
"""Seconds from one probe in vain to the next; doubled each time."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
"""Seconds before a failed question is asked again, at most; doubled each time, with full jitter."""
_FIRST_HOLD = 1.0
"""Seconds for which all wait after a 429 that states no time; doubled until one is answered again."""
_CLOSE = 3
"""Fewer answers than this between two 429s: the limit is reached. Of 1 in 100 at random, 1 in 50 comes so close."""
_UNAVAILABLE_PAUSE = 1.0
_ATTEMPTS = 4
"""Requests for one turn at most, if it fails for a reason that may pass (429, 5xx)."""
_TIMED_ATTEMPTS = 2
"""A question that had no answer in time may have been lost once; the same question is as long the next time."""

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Size:
    """The length of a question, by what makes an answer slow."""

    written: int
    """Tokens that the reply is likely to have; 0 if nobody knows."""
    read: int
    """Characters."""

    def exceeds(self, other: "Size") -> bool:
        """True if it is more than twice as long as the other in either."""
        return self.written > _LONG * other.written or self.read > _LONG * other.read


class TimeLimit:
    """The seconds that one question has left with its repeats: its waits for a place take nothing of them."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._begun = 0.0

    def __enter__(self) -> None:
        """Begin an exchange or a pause: it takes of the time until it ends."""
        self._begun = _now()

    def __exit__(self, *_: object) -> None:
        self.left = max(self.left - (_now() - self._begun), 0.0)


class Sender(Protocol):
    """Whoever exchanges requests with the endpoint; both raise ExchangeFault."""

    async def send(self, request: Any, seconds: float) -> Any:
        """Return the answer to `request`, within so many seconds."""

    async def probe(self, seconds: float) -> object:
        """Ask something small that an endpoint which is up answers at once, be it with a refusal."""


class _Limiter:
    """Additive increase, multiplicative decrease; a quarter of the places is for long questions."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(most, _AT_FIRST))
        self._under_way = {False: 0, True: 0}
        """Long ones or not."""
        self._waiting: dict[bool, deque[asyncio.Future[None]]] = {False: deque(), True: deque()}
        self._quickest = math.inf
        self._was_full = False
        """The endpoint has shown that it takes no more: it is led to its limit slowly from then on."""
        self._asked: deque[Size] = deque(maxlen=200)
        self._longest: Size | None = None
        """Up to here questions were answered."""
        self._lost = 0
        """Long ones that got no answer, since one did."""

    @property
    def under_way(self) -> int:
        return sum(self._under_way.values())

    async def enter(self, size: Size, seconds: float, *, again: bool) -> bool:
        """Wait for a place and take it; returns whether it is one of the long ones'.

        Raises:
            ModelFailed: it is long, and has waited so many seconds while other long ones got no answer.
        """
        if not again:
            self._asked.append(size)
        if self._longest is None:
            # Whatever is asked at the same moment is seen beside it.
            await asyncio.sleep(0)
        is_long = self._is_long(size)
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._waiting[is_long]
        (queue.appendleft if again else queue.append)(place)
        self._wake()
        try:
            # A long one waits perhaps as long as anybody waits for an answer, while others are answered at once.
            with Phase("aside" if is_long else "waits"):
                while not place.done():
                    await asyncio.wait({place}, timeout=seconds if is_long else None)
                    if not place.done() and self._lost >= _LOST:
                        detail = f"no answer to any question as long as this one, of {size.read:,} characters"
                        raise ModelFailed(detail, cause="judge_slow")
        except BaseException:
            if not place.cancel():
                self.leave(is_long=is_long)
            raise
        return is_long

    def leave(self, *, is_long: bool) -> None:
        """Give a place back."""
        self._under_way[is_long] -= 1
        self._wake()

    def answered(self, size: Size, taken: float, beside: int, timeout: float) -> None:
        """Let the limit grow after an answer that took so long, with so many others under way when it was asked."""
        longest = self._longest or Size(0, 0)
        if size.exceeds(longest):
            self._lost = 0
        self._longest = Size(max(longest.written, size.written), max(longest.read, size.read))
        self._quickest = min(self._quickest * 1.01, taken)
        all_taken = max(beside, self.under_way) >= int(self._limit)
        if all_taken and (taken < timeout / 4 or taken < 2 * self._quickest):
            self._limit = min(self._limit + (1 / self._limit if self._was_full else 1), self._most)

    def lost(self, *, is_long: bool) -> None:
        """Note that a question was given up for want of an answer."""
        self._lost += is_long

    def lower(self, to: float | None = None) -> None:
        """Halve the limit, or lower it to three quarters of so many."""
        self._limit = max(1.0, self._limit / 2 if to is None else min(self._limit, to * 0.75))
        self._was_full = True

    def _wake(self) -> None:
        for is_long in (True, False):
            queue = self._waiting[is_long]
            while queue and self._is_free(is_long=is_long):
                place = queue.popleft()
                if not place.done():
                    self._under_way[is_long] += 1
                    place.set_result(None)

    def _is_free(self, *, is_long: bool) -> bool:
        places = int(self._limit)
        if is_long and self._under_way[True] >= max(places // _LONG_SHARE, 1):
            return False
        return self.under_way < places

    def _is_long(self, size: Size) -> bool:
        if self._longest is not None:
            return size.exceeds(self._longest)
        # Not the median: half of all may be long ones that nothing answers.
        short = len(self._asked) // 4
        written, read = (
            sorted(each)[short] for each in zip(*((one.written, one.read) for one in self._asked), strict=True)
        )
        return size.exceeds(Size(written, read))


class _Breaker:
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
        """Return if it is closed; once it has cooled down, whoever comes first sends a probe.

        Raises:
            EndpointDown: it is open.
        """
        if self.state == "open" and _now() >= self._opens_until and not self._probing.locked():
            async with self._probing:
                await self._probe()
        if self.state == "open":
            left = self._opens_until - _now()
            pause = left if left > 0 else _COOLDOWN
            detail = f"{self._name} is down: {self._detail}"
            raise EndpointDown(detail, retry_after=pause, misconfigured=self.misconfigured)

    async def after_probes(self) -> None:
        """As `let_through`, once a probe that is under way has ended."""
        async with self._probing:
            await self.let_through()

    async def look(self, since: float, seconds: float, detail: str) -> None:
        """Return if the endpoint answered anybody since then, or now answers a probe.

        Raises:
            ModelUnavailable: it did not, as far as is known within so many seconds.
        """
        if self.answered_at >= since:
            return
        with Phase("waits"):
            if self._probing.locked():
                # Somebody else is asking.
                try:
                    async with asyncio.timeout(seconds), self._probing:
                        pass
                except TimeoutError:
                    raise ModelUnavailable(detail, retry_after=_UNAVAILABLE_PAUSE) from None
            else:
                async with self._probing:
                    if self.state == "closed":
                        await self._probe()
        if self.answered_at < since:
            await self.let_through()

    def alive(self) -> None:
        """The endpoint answered, be it with a refusal of one request."""
        self.answered_at = _now()
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
        begun = _now()
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
        self._opens_until = _now() + seconds
        self._openings += 1
        if self.state != "open":
            self._become("open")

    def _become(self, state: BreakerState) -> None:
        self.state = state
        if state == "open":
            _LOG.warning("oracle_breaker_opened", model=self._name, detail=self._detail)
        else:
            _LOG.warning("oracle_breaker_closed", model=self._name)
        if self._on_change is not None:
            self._on_change(state)


@dataclass(slots=True)
class _Attempts:
    """One question on its way."""

    size: Size
    limit: TimeLimit
    count: int = 0
    started: float = 0.0
    beside: int = 0
    """Questions under way when it was last sent, itself among them."""
    is_long: bool = False
    is_early: bool = False
    """It was sent with less time than there is."""
    suspect: bool = False
    """The endpoint failed on it, or left it without an answer."""


class Flow:
    """Belongs to one endpoint and one event loop."""

    def __init__(
        self,
        sender: Sender,
        *,
        name: str,
        concurrency: int,
        timeout_seconds: float,
        on_breaker: BreakerListener | None = None,
    ) -> None:
        """`name` stands in logs and errors; at most `concurrency` are asked at once."""
        self._sender = sender
        self._timeout = timeout_seconds
        self._limiter = _Limiter(concurrency)
        self._breaker = _Breaker(sender, name, timeout_seconds, on_breaker)
        self._answers: deque[float] = deque(maxlen=2000)
        """When the last ones came."""
        self._taken: deque[float] = deque(maxlen=200)
        """Seconds to each of the last."""
        self._held_since = self._held_until = -math.inf
        self._hold = 0.0
        self._since_throttled = _CLOSE
        """Answers since the last 429."""

    @classmethod
    def of(cls, sender: Sender, settings: EndpointSettings, *, name: str, on_breaker: BreakerListener | None) -> Self:
        """The flow to an endpoint with these settings."""
        most, seconds = settings.concurrency, settings.timeout_seconds
        return cls(sender, name=name, concurrency=most, timeout_seconds=seconds, on_breaker=on_breaker)

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
                    with limit, Phase("asked"):
                        reply = await self._sender.send(request, self._seconds_for(run))
                    self._answered(run)
                    return reply
                # The place is kept meanwhile, for the probe that may have to be sent.
                except TimedOut as fault:
                    pause = await self._timed_out(fault, run)
                except Transient as fault:
                    pause = await self._failed(fault, run)
                except EndpointMisconfigured as wrong:
                    raise self._misconfigured(wrong, run) from None
                except Refused:
                    self._breaker.alive()
                    raise
                finally:
                    self._limiter.leave(is_long=run.is_long)
                with limit:
                    await asyncio.sleep(pause)
        except ModelUnavailable as error:
            error.suspect = run.suspect
            raise

    async def _enter(self, run: _Attempts) -> None:
        """Wait for a place, and take it."""
        while True:
            await self._breaker.let_through()
            if (held := self._held_until - _now()) > 0:
                if held >= run.limit.left:
                    raise ModelUnavailable("the endpoint asked for a pause (rate limit)", retry_after=held)
                with Phase("waits"):
                    # Spread out, so that those who waited do not all begin at the same moment.
                    await asyncio.sleep(held * (1 + random.random() * 0.1))  # noqa: S311
            run.is_long = await self._limiter.enter(run.size, run.limit.left, again=run.count > 0)
            if self._breaker.state == "closed" and self._held_until <= _now():
                run.count += 1
                run.started, run.beside = _now(), self._limiter.under_way
                return
            # Things have changed while others had the place.
            self._limiter.leave(is_long=run.is_long)

    def _answered(self, run: _Attempts) -> None:
        now = _now()
        self._breaker.alive()
        self._since_throttled += 1
        self._answers.append(now)
        self._taken.append(now - run.started)
        if run.started >= self._held_until:
            self._hold = 0.0
        self._limiter.answered(run.size, now - run.started, run.beside, self._timeout)

    def _seconds_for(self, run: _Attempts) -> float:
        seconds = max(min(self._timeout, run.limit.left), 0.001)
        run.is_early = run.count == 1 and not run.is_long and len(self._taken) == self._taken.maxlen
        if run.is_early:
            nearly_all = sorted(self._taken)[-len(self._taken) // 20]
            early = max(_EARLY_SECONDS, _EARLY_TIMES * nearly_all)
            run.is_early = early < seconds
            seconds = min(early, seconds)
        return seconds

    async def _timed_out(self, fault: TimedOut, run: _Attempts) -> float:
        """Return if the question is to be asked once more."""
        if run.is_early:
            return 0.0
        run.suspect = True
        now = _now()
        meanwhile = sum(moment >= run.started for moment in self._answers)
        if 0 < meanwhile < run.beside and not run.is_long and run.count < _ATTEMPTS:
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
        """Return the pause after which the question is to be asked once more."""
        if isinstance(fault, Throttled):
            self._throttled(fault, run)
        else:
            run.suspect |= not isinstance(fault, Unreachable)
            if fault.retry_after is not None:
                self._held_until = max(self._held_until, _now() + fault.retry_after)
            if self._breaker.failed():
                await self._breaker.look(run.started, run.limit.left, fault.detail)
        # If there is a pause for everyone, all keep that.
        longest = min(_FIRST_PAUSE * 2.0 ** (run.count - 1), _LONGEST_PAUSE)
        back_off = random.random() * longest  # noqa: S311
        pause = 0.0 if self._held_until > _now() else fault.retry_after or back_off
        if run.count < _ATTEMPTS and pause < run.limit.left:
            return pause
        detail = f"{fault.detail} ({counted(run.count, 'attempt')})"
        if isinstance(fault, Unreachable | Throttled):
            raise ModelUnavailable(detail, retry_after=max(self._held_until - _now(), pause, _UNAVAILABLE_PAUSE))
        await self._breaker.after_probes()
        raise ModelFailed(detail, cause="judge_failed")

    def _throttled(self, fault: Throttled, run: _Attempts) -> None:
        """Hold everybody if the limit is reached; what was sent before the last pause began tells nothing new."""
        is_alone = self._since_throttled >= _CLOSE and bool(self._answers)
        self._breaker.alive()
        self._since_throttled = 0
        if is_alone:
            return
        if run.started >= self._held_since:
            self._hold = min(2 * self._hold or _FIRST_HOLD, MAX_RETRY_AFTER)
            self._held_since = _now()
            self._limiter.lower()
        pause = self._hold if fault.retry_after is None else fault.retry_after
        self._held_until = max(self._held_until, _now() + pause)

    def _misconfigured(self, wrong: EndpointMisconfigured, run: _Attempts) -> ModelUnavailable:
        # A gateway may refuse one question while others are answered.
        run.suspect = self._breaker.answered_at >= run.started
        if not run.suspect:
            self._breaker.trip(wrong.detail)
        misconfigured = self._breaker.misconfigured
        return ModelUnavailable(wrong.detail, retry_after=MAX_RETRY_AFTER, misconfigured=misconfigured)


def _now() -> float:
    return asyncio.get_running_loop().time()
