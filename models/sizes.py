"""Sizes of questions that an endpoint answers in time, learned from its answers and from questions that it left open.

Long questions may take longer than anybody waits, while short ones are answered at once. So a size that was never
answered gets few of the places, and a size that timed out twice none but one trial from time to time: neither the
places nor the records in flight fill up with what will not be answered. Smaller questions are never held back.
"""

import asyncio
import math
from bisect import insort
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from models.concurrent import give_up_slot
from models.protocol import OracleFailed
from models.worktime import Phase

_SHARE = 32
"""One place in so many is for sizes not answered yet: the first answer frees the rest, and till then the others keep
their pace."""

_ALIKE = 1.25
"""A size and up to so many times as much are alike: half of a list beside a long reference is hardly shorter than the
whole."""

_MUCH_LONGER = 2
"""A size takes no place from those not half as long."""

_QUICK = 8
"""Only where answers take less than one part in so many of the time there is, can a size be told from the endpoint's
own pace."""

_TIMES = 9
"""After a failed trial there is none for so many times as long: trials take a tenth of the time at most."""

_EVIDENCE = 2
"""A single question may have been lost by chance."""


@dataclass(slots=True)
class SizedQuestion:
    """A question on its way through `Sizes`."""

    size: int
    unproven: bool = False
    """It has one of the few places for sizes that were not answered yet."""
    trial: bool = False
    """It tries a size that timed out before."""
    started: float = 0.0


class Sizes:
    """The sizes of one task's questions to one endpoint; belongs to one event loop."""

    def __init__(self, *, concurrency: int, seconds: float) -> None:
        """`concurrency`: places at the endpoint; `seconds`: the longest that a question is waited for."""
        self._few = max(_EVIDENCE, concurrency // _SHARE)
        self._seconds = seconds
        self._smallest = math.inf
        """The smallest size that was asked about."""
        self._first_at = math.inf
        """The time of the first question."""
        self._taken = 0.0
        """Seconds that answers take: the mean, of which the last ten make up two thirds."""
        self._largest = 0
        """A size up to which questions are known to be answered in time."""
        self._open: list[int] = []
        """The smallest sizes that timed out and that no answer has contradicted, in order."""
        self._next_trial = 0.0
        self._unproven: list[int] = []
        """Of the questions under way, the sizes that were not answered yet."""
        self._answers: deque[tuple[float, int]] = deque()
        """Answers as (time, size), each larger than all after it."""
        self._news = asyncio.Event()

    async def enter(self, size: int) -> SizedQuestion:
        """Wait until a question may be asked; it ends with `leave`, whatever becomes of it.

        Raises:
            OracleFailed: `judge_slow`, questions of this size are not answered in time.
        """
        question = SizedQuestion(size)
        self._smallest = min(self._smallest, size)
        self._first_at = min(self._first_at, _now())
        while not self._is_ordinary(size):
            self.check(size)
            if self._has_place(size):
                self._unproven.append(size)
                question.unproven = True
                break
            # The wait may be as long as anybody waits for an answer, while the endpoint answers others at once.
            give_up_slot()
            with suppress(TimeoutError), Phase("waits"):
                async with asyncio.timeout(self._seconds / _QUICK):
                    await self._news.wait()
        return question

    def check(self, size: int) -> None:
        """Raise `OracleFailed` if questions of this size are not answered in time, and no trial is due."""
        if self._is_slow(size) and _now() < self._next_trial:
            raise OracleFailed(
                f"questions of about {self._open[-1]:,} characters had no answer within {self._seconds:g} seconds, "
                f"while smaller ones had, so this one of {size:,} was not asked; timeout_seconds sets the time",
                cause="judge_slow",
            )

    def begin(self, question: SizedQuestion) -> None:
        """The question is sent now."""
        question.started = _now()
        if self._is_slow(question.size):
            question.trial = True
            self._next_trial = math.inf

    def answered(self, question: SizedQuestion) -> None:
        """It was answered in time."""
        now = _now()
        taken = now - question.started
        self._taken += (taken - self._taken) / 10 if self._answers else taken
        while self._answers and self._answers[-1][1] <= question.size:
            self._answers.pop()
        while self._answers and self._answers[0][0] < now - self._seconds:
            self._answers.popleft()
        self._answers.append((now, question.size))
        if question.size > self._largest:
            self._largest = question.size
            self._open = [size for size in self._open if size > _ALIKE * question.size]
            self._tell()

    def timed_out(self, question: SizedQuestion) -> None:
        """It was not, though the endpoint answers others: for its size, unless one as long was answered meanwhile."""
        if any(moment >= question.started and size >= question.size for moment, size in self._answers):
            return
        now = _now()
        insort(self._open, question.size)
        del self._open[_EVIDENCE:]
        self._largest = min(self._largest, question.size - 1)
        self._next_trial = now + _TIMES * (now - question.started)
        question.trial = False
        self._tell()

    def leave(self, question: SizedQuestion) -> None:
        """The question got an answer, or none."""
        if question.trial:
            # It ended in another way than by time, and the next may be the trial.
            self._next_trial = 0.0
        if question.unproven:
            self._unproven.remove(question.size)
            self._tell()

    def _has_place(self, size: int) -> bool:
        """True if a size that was not answered yet may be asked about; much longer ones are no obstacle to it."""
        return sum(other <= _MUCH_LONGER * size for other in self._unproven) < self._few

    def _is_slow(self, size: int) -> bool:
        return len(self._open) == _EVIDENCE and self._largest < size >= self._open[-1] / _ALIKE

    def _is_ordinary(self, size: int) -> bool:
        """True for a size that was answered, and for others as long as nothing speaks against them."""
        if size <= self._largest:
            return True
        if self._open:
            return False
        quick = self._seconds / _QUICK
        if self._largest:
            return size <= _ALIKE * self._largest or self._taken > quick
        return size <= _ALIKE * self._smallest or _now() - self._first_at >= quick

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


def _now() -> float:
    return asyncio.get_running_loop().time()
