"""The flow of questions to one endpoint: places, pauses, repeats, and whether it is up.

- A timeout fails the question, unless fewer were answered in its time than stood before it: then it waited in the
  endpoint's own queue, fewer are asked at once from now on, and it is asked again.
- Refused and broken connections and 5xx in a row, or a timeout while nobody was answered, have something small asked.
  If that is not answered either, the breaker opens; the next small question that is answered closes it.
- A 429 among answers makes its own question wait, as long as the endpoint says. Where they come close to each other the
  rate limit is reached: everybody waits, twice as long each time, or as long as the endpoint says. An empty quota is a
  wrong configuration.
- Questions more than twice as long as any that was answered (before the first answer: as the shorter ones) take a tenth
  of the time of all places at most. After two that were never answered, as long ones are not asked for nine times as
  long as those took.
- The number asked at once begins small. It grows while answers come about as soon as the quickest did, or in a quarter
  of the time there is.
"""

import asyncio
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
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
"""Open: nothing is asked but, from time to time, something small."""
BreakerListener = Callable[[BreakerState], None]

_AT_FIRST = 16
"""Questions at once, before an endpoint has shown how many it takes."""
_FAILURES = 10
"""In a row: from there on something small is asked before the next."""
_COOLDOWN, _LONGEST_COOLDOWN = 1.0, 30.0
"""Seconds from one small question in vain to the next; doubled each time."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
"""Seconds before a failed question is asked again."""
_FIRST_HOLD = 1.0
"""Seconds for which all wait after a 429 that states no time; doubled until one is answered again."""
_CLOSE = 3
"""Fewer answers than this between two 429s: the limit is reached. Of 1 in 100 at random, 1 in 50 comes so close."""
_UNAVAILABLE_PAUSE = 1.0
_ATTEMPTS = 4
"""Requests for one turn at most, if it fails for a reason that may pass (429, 5xx, timeout)."""
_TIMED_ATTEMPTS = 2
"""A question that had no answer in time may have been lost once; the same question is as long the next time."""
_LONG = 2
"""Times the size of those that were answered."""
_SHARE = 10
"""Long ones take one part in so many of the places' time."""
_ABOUT = 0.9
"""Times the size of one that was lost: what has this is as long."""
_LOST = 2
"""One without an answer may have been lost by chance."""
_REST = 9
"""Times as long as a lost question took, no other as long is asked."""
_REMEMBERED = 2000

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Size:
    """The length of a question, by what makes an answer slow."""

    written: int
    """Tokens that the reply is likely to have; 0 if nobody knows."""
    read: int
    """Characters."""

    def reaches(self, other: "Size", times: float = 1) -> bool:
        """True if it is at least so many times as long as the other in both."""
        return self.written >= times * other.written and self.read >= times * other.read

    def exceeds(self, other: "Size", times: float = 1) -> bool:
        """True if it is more than so many times as long as the other in either."""
        return self.written > times * other.written or self.read > times * other.read


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


@dataclass(slots=True, eq=False)
class _Run:
    """One question on its way."""

    size: Size
    limit: TimeLimit
    attempts: int = 0
    started: float = 0.0
    beside: int = 0
    """Questions under way when it was last sent, itself among them."""
    suspect: bool = False
    """The endpoint failed on it, or left it without an answer."""
    is_long: bool = False
    is_trial: bool = False
    """It tries whether questions as long are answered again."""
    place: "asyncio.Future[None] | None" = field(default=None, repr=False)


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
        self._name = name
        self._timeout = timeout_seconds
        self._on_breaker = on_breaker

        self._most = concurrency
        self._places = float(min(concurrency, _AT_FIRST))
        self._under_way = 0
        self._waiting: deque[_Run] = deque()
        self._long: deque[_Run] = deque()
        self._quickest = math.inf
        self._is_full = False
        """The endpoint has shown that it takes no more: it is led to its limit slowly from then on."""

        self._held_since = -math.inf
        self._held_until = -math.inf
        self._hold = 0.0
        self._since_throttled = _CLOSE
        """Answers since the last 429."""

        self._asked: deque[Size] = deque(maxlen=200)
        self._answers: deque[tuple[float, Size]] = deque(maxlen=_REMEMBERED)
        self._longest = Size(0, 0)
        """Up to here questions were answered."""
        self._unanswered: Size | None = None
        """From here on they were not."""
        self._lost = 0
        self._next_long = -math.inf
        self._rests_until = -math.inf
        self._alarm: asyncio.TimerHandle | None = None

        self._state: BreakerState = "closed"
        self._failures = 0
        self._openings = 0
        self._opens_until = 0.0
        self._detail = ""
        self._answered_at = -math.inf
        self._misconfigured = False
        self._probing = asyncio.Lock()

    @classmethod
    def of(cls, sender: Sender, settings: EndpointSettings, *, name: str, on_breaker: BreakerListener | None) -> Self:
        """The flow to an endpoint with these settings."""
        return cls(
            sender,
            name=name,
            concurrency=settings.concurrency,
            timeout_seconds=settings.timeout_seconds,
            on_breaker=on_breaker,
        )

    async def run(self, request: Any, *, size: Size, limit: TimeLimit) -> Any:
        """The sender's reply to `request`, within the limit.

        Raises:
            ModelUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            ModelFailed: this question fails repeatedly (`judge_failed`) or gets no answer in time (`judge_slow`),
                while the endpoint is not known to be down.
            Refused: the endpoint does not accept this request.
        """
        run = _Run(size, limit)
        self._asked.append(size)
        if self._answered_at < 0:
            # Whatever is asked at the same moment is seen beside it, and short ones have a start.
            if len(self._asked) == 1:
                self._next_long = _now() + self._turn / 4
            await asyncio.sleep(0)
        try:
            while True:
                await self._enter(run)
                run.attempts += 1
                run.started, run.beside = _now(), self._under_way
                try:
                    with limit, Phase("asked"):
                        reply = await self._sender.send(request, max(min(self._timeout, limit.left), 0.001))
                    self._answered(run)
                    return reply
                # The place is kept meanwhile, for the small question that may have to be asked.
                except TimedOut as fault:
                    pause = await self._timed_out(fault, run)
                except Transient as fault:
                    pause = await self._failed(fault, run)
                except EndpointMisconfigured as wrong:
                    # A gateway may refuse one question while others are answered.
                    run.suspect = self._answered_at >= run.started
                    if not run.suspect:
                        self._trip(wrong.detail)
                    pause, misconfigured = MAX_RETRY_AFTER, self._misconfigured
                    raise ModelUnavailable(wrong.detail, retry_after=pause, misconfigured=misconfigured) from None
                except Refused:
                    self._alive()
                    raise
                finally:
                    self._leave()
                with limit:
                    await asyncio.sleep(pause)
        except ModelUnavailable as error:
            error.suspect = run.suspect
            raise

    # Places.

    async def _enter(self, run: _Run) -> None:
        """Wait for a place, and take it."""
        while True:
            await self._let_through()
            if (held := self._held_until - _now()) > 0:
                await self._wait_out(held, run)
            await self._place(run)
            if self._state == "closed" and self._held_until <= _now():
                return
            # Things have changed while others had the place.
            self._leave()

    async def _wait_out(self, held: float, run: _Run) -> None:
        if held >= run.limit.left:
            raise ModelUnavailable("the endpoint asked for a pause (rate limit)", retry_after=held)
        with Phase("waits"):
            # Spread out, so that those who waited do not all begin at the same moment.
            await asyncio.sleep(held * (1 + random.random() * 0.1))  # noqa: S311

    async def _place(self, run: _Run) -> None:
        self._check(run)
        run.is_long = self._is_long(run.size)
        run.place = place = asyncio.get_running_loop().create_future()
        queue = self._long if run.is_long else self._waiting
        # One that is repeated goes first: its end may tell those that wait that they need not be asked.
        (queue.appendleft if run.attempts else queue.append)(run)
        self._wake()
        try:
            # A long one waits perhaps as long as anybody waits for an answer, while others are answered at once.
            with Phase("aside" if run.is_long else "waits"):
                await place
        except BaseException:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._leave()
            raise

    def _leave(self) -> None:
        """Give a place back."""
        self._under_way -= 1
        self._wake()

    def _wake(self) -> None:
        """Give free places to those that wait."""
        while self._under_way < int(self._places):
            is_turn = self._next_long <= _now() or not self._under_way
            queue = self._long if self._long and is_turn else self._waiting
            if not queue:
                break
            run = queue.popleft()
            if run.place is None or run.place.done():
                # It was cancelled while it waited.
                continue
            if run.is_long:
                # If it takes all of its time, it has had a tenth of the places until the next.
                self._next_long = _now() + self._turn
            self._under_way += 1
            run.place.set_result(None)
        if self._long and self._next_long > _now() and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_at(self._next_long, self._ring)

    @property
    def _turn(self) -> float:
        """Seconds from one long question to the next."""
        return _SHARE * self._timeout / int(self._places)

    def _ring(self) -> None:
        self._alarm = None
        self._wake()

    def _sort(self, waiting: "deque[_Run]") -> None:
        """Have those that wait asked as long ones or as others, or not at all, by what is known now."""
        for run in tuple(waiting):
            try:
                self._check(run)
            except ModelFailed as slow:
                waiting.remove(run)
                if run.place is not None and not run.place.done():
                    run.place.set_exception(slow)
            else:
                run.is_long = self._is_long(run.size)
                queue = self._long if run.is_long else self._waiting
                if queue is not waiting:
                    waiting.remove(run)
                    queue.append(run)

    def _is_long(self, size: Size) -> bool:
        if self._as_long_as_lost(size):
            return True
        if self._answers:
            return size.exceeds(self._longest, _LONG)
        # Not the median: half of all may be long ones that nothing answers.
        short = len(self._asked) // 4
        usual = Size(sorted(one.written for one in self._asked)[short], sorted(one.read for one in self._asked)[short])
        return size.exceeds(usual, _LONG)

    def _as_long_as_lost(self, size: Size) -> bool:
        return self._unanswered is not None and size.reaches(self._unanswered, _ABOUT)

    def _check(self, run: _Run) -> None:
        """Raise ModelFailed if questions of this size are not answered in time, and it is too early for a trial."""
        unanswered, size = self._unanswered, run.size
        if unanswered is None or self._lost < _LOST or run.is_trial or not self._as_long_as_lost(size):
            return
        if _now() >= self._rests_until:
            run.is_trial = True
            # Those after it wait for what becomes of it.
            self._rests_until = _now() + _REST * self._timeout
            return
        raise ModelFailed(
            f"questions of about {unanswered.read:,} characters had no answer within {self._timeout:g} seconds, while "
            f"others had, so this one of {size.read:,} was not asked; timeout_seconds sets the time",
            cause="judge_slow",
        )

    # What became of a question.

    def _answered(self, run: _Run) -> None:
        now = _now()
        taken = now - run.started
        self._alive()
        self._since_throttled += 1
        self._answers.append((now, run.size))
        self._longest = Size(max(self._longest.written, run.size.written), max(self._longest.read, run.size.read))
        if self._as_long_as_lost(run.size):
            self._unanswered, self._lost = None, 0
        if run.is_long:
            self._next_long = min(self._next_long, run.started + _SHARE * taken / int(self._places))
        self._sort(self._long)
        if run.started >= self._held_until:
            self._hold = 0.0
        self._quickest = min(self._quickest * 1.01, taken)
        all_taken = max(run.beside, self._under_way) >= int(self._places)
        if all_taken and (taken < self._timeout / 4 or taken < 2 * self._quickest):
            self._places = min(self._places + (1 / self._places if self._is_full else 1), self._most)

    async def _timed_out(self, fault: TimedOut, run: _Run) -> float:
        """Return if the question is to be asked once more."""
        run.suspect = True
        now = _now()
        meanwhile = [size for moment, size in self._answers if moment >= run.started]
        if 0 < len(meanwhile) < run.beside and not run.is_long and run.attempts < _ATTEMPTS:
            self._places = max(1.0, min(self._places, len(meanwhile) * 0.75))
            self._is_full = True
            run.limit.left += now - run.started
            return 0.0
        # A gateway may run out of time before we do.
        await self._look((run.started + now) / 2, run, f"{fault.detail}, to whatever is asked")
        if run.attempts < min(_ATTEMPTS, _TIMED_ATTEMPTS) and run.limit.left >= self._timeout:
            return 0.0
        if not any(size.reaches(run.size) for size in meanwhile):
            self._lost += 1
            if self._unanswered is None or self._unanswered.reaches(run.size, _ABOUT):
                self._unanswered = run.size
            self._rests_until = _now() + _REST * (now - run.started)
            self._sort(self._long)
            self._sort(self._waiting)
        raise ModelFailed(
            f"{fault.detail} to a question of {run.size.read:,} characters, while the endpoint answers others; "
            "timeout_seconds sets the time",
            cause="judge_slow",
        )

    async def _failed(self, fault: Transient, run: _Run) -> float:
        """Return the pause after which the question is to be asked once more."""
        if isinstance(fault, Throttled):
            self._throttled(fault, run)
        else:
            run.suspect |= not isinstance(fault, Unreachable)
            self._failures += 1
            if fault.retry_after is not None:
                self._held_until = max(self._held_until, _now() + fault.retry_after)
            if self._failures >= _FAILURES:
                await self._look(run.started, run, fault.detail)
        is_held = self._held_until > _now()
        longest = min(_FIRST_PAUSE * 2.0**run.attempts, _LONGEST_PAUSE)
        # If there is a pause for everyone, all keep that.
        pause = 0.0 if is_held else fault.retry_after or random.random() * longest  # noqa: S311
        if run.attempts < _ATTEMPTS and pause < run.limit.left:
            return pause
        detail = f"{fault.detail} ({counted(run.attempts, 'attempt')})"
        if isinstance(fault, Unreachable | Throttled):
            raise ModelUnavailable(detail, retry_after=max(self._held_until - _now(), pause, _UNAVAILABLE_PAUSE))
        async with self._probing:
            await self._let_through()
        raise ModelFailed(detail, cause="judge_failed")

    def _throttled(self, fault: Throttled, run: _Run | None = None) -> None:
        """Hold everybody if the limit is reached; what was sent before the last pause began tells nothing new."""
        self._alive()
        now = _now()
        is_alone = self._since_throttled >= _CLOSE and self._answered_at > -math.inf and bool(self._answers)
        self._since_throttled = 0
        if is_alone:
            return
        if run is None or run.started >= self._held_since:
            self._hold = min(2 * self._hold or _FIRST_HOLD, MAX_RETRY_AFTER)
            self._held_since = now
            self._places = max(1.0, self._places / 2)
            self._is_full = True
        pause = self._hold if fault.retry_after is None else fault.retry_after
        self._held_until = max(self._held_until, now + pause)

    # Whether the endpoint is up.

    async def _let_through(self) -> None:
        """Return if the breaker is closed; once it has cooled down, whoever comes first asks something small.

        Raises:
            EndpointDown: it is open.
        """
        if self._state == "open" and _now() >= self._opens_until and not self._probing.locked():
            async with self._probing:
                await self._probe()
        if self._state == "open":
            left = self._opens_until - _now()
            raise EndpointDown(
                f"{self._name} is down: {self._detail}",
                retry_after=left if left > 0 else _COOLDOWN,
                misconfigured=self._misconfigured,
            )

    async def _look(self, since: float, run: _Run, detail: str) -> None:
        """Return if the endpoint answered anybody since then, or now answers something small.

        Raises:
            ModelUnavailable: it did not, as far as is known in the question's time.
        """
        if self._answered_at >= since:
            return
        with Phase("waits"):
            if self._probing.locked():
                # Somebody else is asking.
                try:
                    async with asyncio.timeout(run.limit.left), self._probing:
                        pass
                except TimeoutError:
                    raise ModelUnavailable(detail, retry_after=_UNAVAILABLE_PAUSE) from None
            else:
                async with self._probing:
                    if self._state == "closed":
                        await self._probe()
        if self._answered_at < since:
            await self._let_through()

    async def _probe(self) -> None:
        begun = _now()
        try:
            await self._sender.probe(self._timeout)
        except Throttled as fault:
            self._throttled(fault)
        except Refused:
            self._alive()
        except EndpointMisconfigured as fault:
            self._trip(fault.detail)
        except Transient as fault:
            if self._answered_at < begun:
                self._misconfigured = False
                seconds = min(_COOLDOWN * 2.0 ** min(self._openings, 30), _LONGEST_COOLDOWN)
                self._open(fault.detail, seconds)
        else:
            self._alive()

    def _alive(self) -> None:
        """The endpoint answered, be it with a refusal of one request."""
        self._answered_at = _now()
        self._failures = self._openings = 0
        if self._state != "closed":
            self._become("closed")

    def _trip(self, detail: str) -> None:
        """The endpoint will refuse every call: open at once, for the longest time."""
        self._misconfigured = self._answered_at == -math.inf
        if self._state != "open":
            self._open(detail, _LONGEST_COOLDOWN)

    def _open(self, detail: str, seconds: float) -> None:
        self._detail = detail
        self._opens_until = _now() + seconds
        self._openings += 1
        if self._state != "open":
            self._become("open")

    def _become(self, state: BreakerState) -> None:
        self._state = state
        if state == "open":
            _LOG.warning("oracle_breaker_opened", model=self._name, detail=self._detail)
        else:
            _LOG.warning("oracle_breaker_closed", model=self._name)
        if self._on_breaker is not None:
            self._on_breaker(state)


def _now() -> float:
    return asyncio.get_running_loop().time()
