"""What a group has answered beyond its committed offsets, read when a worker takes partitions over.

A worker that is killed leaves answers behind whose offsets are not committed. Each answer names in a header the message
that it answers, and each commit notes since when there may be answers beyond it. So the next
owner of the partition reads the topics of answers from there on, and answers none of those messages again.
"""

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import structlog
from aiokafka.structs import OffsetAndMetadata
from faust.types import TP

from schemas import Origin
from streams.messages import Incoming, Outgoing
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

ANSWERS = "assay-answers"
"""Header of an answer: whose it is, and the topic, partition and offset of the message that it answers."""

_CLOCKS = timedelta(seconds=5)
"""Answers are stamped by another machine's clock than the commit may be, and those of machines that keep time differ
by less."""

_NOTE = re.compile(r"answers since (\d{1,12}\.\d{3})(?:, begun at (\d{1,19})|(, at the first start))?")


class Commit(NamedTuple):
    """A group's commit in a partition, with what is noted next to the offset."""

    offset: int
    since: float | None = None
    """Since when, by Unix time, messages from there on may have been answered. None where it was someone else who has
    set the offset: they are to be answered again."""
    begun: int = 0
    """The offset that the group began at: what is before it was never to be checked."""
    is_first_start: bool = False
    """True in a deployment's first commits, before any record was worked off."""

    @property
    def noted(self) -> OffsetAndMetadata:
        """As the group keeps it."""
        end = ", at the first start" if self.is_first_start else f", begun at {self.begun}" if self.begun else ""
        return OffsetAndMetadata(self.offset, f"answers since {self.since or 0:.3f}{end}")

    @classmethod
    def read(cls, at: OffsetAndMetadata) -> "Commit":
        if (note := _NOTE.fullmatch(at.metadata)) is None:
            return cls(at.offset)
        return cls(at.offset, float(note[1]), int(note[2] or 0), note[3] is not None)


_log = structlog.get_logger(__name__)


class Takeover:
    """Reads one group's answers back."""

    def __init__(
        self,
        name: str,
        topic: str,
        answers: Sequence[str],
        settings: StreamSettings,
        *,
        follows: str,
        follow_up: Callable[[bytes, Origin], Outgoing | None],
        restore: Callable[[Mapping[TP, Commit]], Awaitable[None]] | None = None,
    ) -> None:
        """`answers` are the topics of the answers to messages of `topic`, one message each.

        An answer may be followed by a message on the topic `follows`, which `follow_up` makes from the answer and its
        position. `restore` is called with the commits first.
        """
        self._restore = restore
        self._name = name
        self._topic = topic
        self._answers = answers
        self._settings = settings
        self._follows = follows
        self._follow_up = follow_up

    def mark(self, message: Outgoing, incoming: Incoming) -> Outgoing:
        """Name in `message`, and in what follows it, the message that it answers."""
        place = f"{self._name}/{incoming.topic}/{incoming.partition}/{incoming.offset}"
        return _marked(message, place.encode())

    async def read(self, committed: Mapping[TP, Commit]) -> dict[tuple[TP, int], Outgoing | None]:
        """What is answered from the committed offsets on, by partition and offset; and what is still to follow it.

        Raises:
            StreamError: as `read_topic`; and what `restore` raises.
        """
        if self._restore is not None:
            await self._restore(committed)
        noted = {partition: at for partition, at in committed.items() if at.since is not None}
        if not noted:
            return {}
        begun, messages = time.monotonic(), 0
        since = datetime.fromtimestamp(min(at.since or 0 for at in noted.values()), UTC) - _CLOCKS
        followed: set[tuple[TP, int]] = set()
        found: dict[tuple[TP, int], Outgoing | None] = {}
        # What follows first: of what is written meanwhile the answer may be seen without it, never the other way round.
        async for message in read_topic(self._settings.kafka, self._follows, since=since):
            messages += 1
            if (place := self._answered(message, noted)) is not None:
                followed.add(place)
        async for message in read_topic(self._settings.kafka, *self._answers, since=since):
            messages += 1
            if (place := self._answered(message, noted)) is not None:
                found[place] = None if place in followed else self._what_follows(message)
        _log.info(
            "answers read",
            checker=self._name,
            partitions=len(noted),
            answered=len(found),
            messages=messages,
            seconds=round(time.monotonic() - begun, 3),
        )
        return found

    def _answered(self, message: Any, committed: Mapping[TP, Commit]) -> tuple[TP, int] | None:
        """The partition and offset that `message` answers, if it does so for this group beyond what is committed."""
        name, topic, partition, offset = (_mark_of(message) or b"///").decode(errors="replace").rsplit("/", 3)
        if name != self._name or topic != self._topic or not (partition.isdecimal() and offset.isdecimal()):
            return None
        place = TP(topic, int(partition))
        at = committed.get(place)
        return None if at is None or int(offset) < at.offset else (place, int(offset))

    def _what_follows(self, message: Any) -> Outgoing | None:
        at = Origin(topic=message.topic, partition=message.partition, offset=message.offset)
        follow_up = self._follow_up(message.value, at)
        return follow_up and _marked(follow_up, _mark_of(message) or b"")


def _marked(message: Outgoing, place: bytes) -> Outgoing:
    message.headers.append((ANSWERS, place))
    if (then := message.then) is not None:
        message.then = lambda at: _marked(then(at), place)
    return message


def _mark_of(message: Any) -> bytes | None:
    return next((value for key, value in message.headers if key == ANSWERS), None)
