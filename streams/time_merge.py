"""Merging two sequences in the order of their timestamps, without knowing when the next message of either comes."""

import math
import random
from collections import deque
from itertools import takewhile
from typing import Generic, Protocol, TypeVar


class Stamped(Protocol):
    """A message, as far as the merge needs it."""

    @property
    def timestamp(self) -> int:
        """Milliseconds since 1970."""


MessageT = TypeVar("MessageT", bound=Stamped)


class TimeMerge(Generic[MessageT]):
    """Two queues, 0 and 1; the older one of their heads comes first.

    Messages with the same timestamp, common in bursts, are shuffled: their order is unknown, and all of one queue
    before all of the other would be an order that never occurs otherwise.

    While one queue is empty, the head of the other may not be the oldest message. It is released once the empty queue
    was known to be complete at a moment at least `wait` after the head's timestamp, or, as another machine's clock may
    be ahead, after its arrival. Old messages thus wait only for the other sequence's backlog, new ones for `wait`.
    """

    def __init__(self, wait: float) -> None:
        """`wait`: seconds after which no earlier message is expected any more."""
        self._wait = wait
        self._queues: tuple[deque[tuple[MessageT, float]], deque[tuple[MessageT, float]]] = (deque(), deque())
        self._equals = [0, 0]
        self._stamp: int | None = None
        self._ended = [-math.inf, -math.inf]
        self._ended_wall = [-math.inf, -math.inf]

    def __len__(self) -> int:
        return len(self._queues[0]) + len(self._queues[1])

    def queued(self, side: int) -> int:
        return len(self._queues[side])

    def first(self, side: int) -> MessageT | None:
        """The head of one queue."""
        queue = self._queues[side]
        return queue[0][0] if queue else None

    def push(self, side: int, message: MessageT, now: float) -> None:
        """Add the next message of a sequence; `now` is of a monotonic clock."""
        self._queues[side].append((message, now))

    def ended(self, side: int, now: float, wall: float) -> None:
        """Note that the whole sequence was pushed at the moment `now`, which is `wall` in seconds since 1970."""
        self._ended[side] = now
        self._ended_wall[side] = wall

    def pop(self) -> tuple[int, MessageT] | None:
        """The next message and its side; None while it is not known which that is."""
        left, right = self._queues
        if left and right:
            first, second = left[0][0].timestamp, right[0][0].timestamp
            side = self._any_of_equals(first) if first == second else int(first > second)
        elif left or right:
            side = 0 if left else 1
            if not self._released(side):
                return None
        else:
            return None
        return side, self._queues[side].popleft()[0]

    def _any_of_equals(self, stamp: int) -> int:
        # As likely a side as it has messages of that stamp: so all their orders are equally likely.
        if stamp != self._stamp or not all(self._equals):
            self._stamp = stamp
            self._equals = [
                sum(1 for _ in takewhile(lambda each: each[0].timestamp == stamp, queue)) for queue in self._queues
            ]
        side = int(random.random() * sum(self._equals) >= self._equals[0])  # noqa: S311
        self._equals[side] -= 1
        return side

    def _released(self, side: int) -> bool:
        message, arrived = self._queues[side][0]
        other = 1 - side
        return (
            self._ended[other] >= arrived + self._wait
            or self._ended_wall[other] >= message.timestamp / 1000 + self._wait
        )
