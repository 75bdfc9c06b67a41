"""The concurrency limit of one endpoint, with the questions that wait for a slot. models/flow.py has the rules."""

import asyncio
import heapq
import math
from collections import deque
from dataclasses import dataclass

from models.billing import work_number
from models.protocol import ModelFailed
from models.worktime import Phase

_AT_FIRST = 16
"""Questions at once, before an endpoint has shown how many it takes."""
_LONG_SLOTS = 4
"""One slot in so many is for long questions, at most."""
_LONG = 2
"""Times the size of those that were answered."""
_LOST = 4
"""Long questions without an answer, in a row, after which others do not wait for a slot any longer."""


@dataclass(frozen=True, slots=True)
class Size:
    """The length of a question, by what makes an answer slow."""

    written: int
    """Tokens that the reply is likely to have; 0 if nobody knows."""
    read: int
    """Characters."""

    def exceeds(self, other: "Size") -> bool:
        """True if it is more than twice as long as the other, read or written."""
        return self.written > _LONG * other.written or self.read > _LONG * other.read


class Limiter:
    """Additive increase, multiplicative decrease; a quarter of the slots is for long questions."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(most, _AT_FIRST))
        self._under_way = {False: 0, True: 0}
        """Long ones or not."""
        self._waiting: dict[bool, list[tuple[int, int, asyncio.Future[None]]]] = {False: [], True: []}
        """Heaps: what began first is finished first, so that verdicts come one by one however slow the endpoint is."""
        self._entries = 0
        self._quickest = math.inf
        self._was_full = False
        """The endpoint has taken no more once: the limit grows slowly from then on."""
        self._asked: deque[Size] = deque(maxlen=200)
        self._longest: Size | None = None
        """Up to here questions were answered."""
        self._lost = 0
        """Long ones that got no answer, since one did."""

    @property
    def under_way(self) -> int:
        return sum(self._under_way.values())

    async def enter(self, size: Size, seconds: float, *, again: bool) -> bool:
        """Wait for a slot and take it; returns whether it is one of those for long questions.

        Raises:
            ModelFailed: it is long, and has waited so many seconds while other long ones got no answer.
        """
        if not again:
            self._asked.append(size)
        if self._longest is None:
            # Questions of the same moment are compared with each other.
            await asyncio.sleep(0)
        is_long = self._is_long(size)
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._entries += 1
        heapq.heappush(self._waiting[is_long], (work_number(), -self._entries if again else self._entries, slot))
        self._wake()
        try:
            # A long question may wait as long as an answer takes, while others are answered at once.
            with Phase("slow_lane" if is_long else "waits"):
                while not slot.done():
                    await asyncio.wait({slot}, timeout=seconds if is_long else None)
                    if not slot.done() and self._lost >= _LOST:
                        detail = f"no answer to any question as long as this one, of {size.read:,} characters"
                        raise ModelFailed(detail, cause="judge_slow")
        except BaseException:
            if not slot.cancel():
                self.leave(is_long=is_long)
            raise
        return is_long

    def leave(self, *, is_long: bool) -> None:
        """Free the slot."""
        self._under_way[is_long] -= 1
        self._wake()

    def answered(self, size: Size, taken: float, under_way: int, timeout: float) -> None:
        """Let the limit grow after an answer that took so long, with so many questions under way when it was asked."""
        longest = self._longest or Size(0, 0)
        if size.exceeds(longest):
            self._lost = 0
        self._longest = Size(max(longest.written, size.written), max(longest.read, size.read))
        self._quickest = min(self._quickest * 1.01, taken)
        all_taken = max(under_way, self.under_way) >= int(self._limit)
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
                *_, slot = heapq.heappop(queue)
                if not slot.done():
                    self._under_way[is_long] += 1
                    slot.set_result(None)

    def _is_free(self, *, is_long: bool) -> bool:
        limit = int(self._limit)
        if is_long and self._under_way[True] >= max(limit // _LONG_SLOTS, 1):
            return False
        return self.under_way < limit

    def _is_long(self, size: Size) -> bool:
        if self._longest is not None:
            return size.exceeds(self._longest)
        # Not the median: half of all may be long ones that nothing answers.
        short = len(self._asked) // 4
        written, read = (
            sorted(each)[short] for each in zip(*((one.written, one.read) for one in self._asked), strict=True)
        )
        return size.exceeds(Size(written, read))
