"""The low-water mark: records of a partition finish in any order, and are acknowledged in offset order."""

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Position(NamedTuple):
    """Where a record is, as fetched."""

    tp: object
    """Topic and partition."""
    generation_id: int
    """The consumer group's generation when it was fetched."""
    offset: int
    begun: float = 0.0
    """When, by Unix time."""


@dataclass(slots=True, eq=False)
class Pending:
    """A record that is not acknowledged yet, in its place."""

    position: Position
    finished: bool = False
    behind: Position | None = None
    """The last of those that were passed over after it and before the next place."""


class AckWindow:
    """Records begun and not yet acknowledged, per partition and generation, each at most `size` long.

    A partition that was reassigned and came back counts as another one: a record from before acknowledges nothing.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._places: dict[tuple[object, int], deque[Pending]] = {}
        self._room = asyncio.Event()

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def first(self, position: Position) -> Position | None:
        """The first one that is not acknowledged, in the partition and generation of `position`."""
        places = self._places.get((position.tp, position.generation_id))
        return places[0].position if places else None

    async def enter(self, position: Position) -> Pending:
        """Take the next place, in offset order. Waits while the partition's window is full."""
        key = (position.tp, position.generation_id)
        while len(self._places.get(key, ())) >= self._size:
            self._room.clear()
            await self._room.wait()
        place = Pending(position)
        self._places.setdefault(key, deque()).append(place)
        return place

    def finish(self, place: Pending) -> Iterator[Position]:
        """Mark as finished, and yield the messages that may be acknowledged now, in offset order."""
        place.finished = True
        key = (place.position.tp, place.position.generation_id)
        places = self._places.get(key)
        while places and places[0].finished:
            first = places.popleft()
            yield first.position
            if first.behind is not None:
                yield first.behind
        if places is not None and not places:
            del self._places[key]
        self._room.set()

    def pass_over(self, position: Position) -> bool:
        """Take no place for a message, nor for those before it: they go with the one that they follow.

        Returns:
            True if they follow none, and may be acknowledged now.
        """
        places = self._places.get((position.tp, position.generation_id))
        if places:
            places[-1].behind = position
        return not places

    def withdraw(self, place: Pending) -> None:
        """Give back a place that was taken after its partition was reassigned, and all others of that assignment."""
        self._places.pop((place.position.tp, place.position.generation_id), None)
        self._room.set()

    def clear(self) -> None:
        """Forget everything: nothing of it is acknowledged any more."""
        self._places.clear()
        self._room.set()
