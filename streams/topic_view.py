"""Messages of topics as objects, each once."""

import contextlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Generic, TypeVar

from cachetools import LRUCache
from pydantic import TypeAdapter, ValidationError

from schemas.base import Wire
from streams.broker_watch import Report
from streams.settings import KafkaSettings
from streams.topic_reader import read_topic

_REMEMBERED = 100_000
"""Ids of messages shown, so that repeats are not: they follow within seconds, or within a restart's backlog."""

MessageT = TypeVar("MessageT", bound=Wire)


class TopicView(Generic[MessageT]):
    """Reads topics: each message once; unreadable ones are counted."""

    def __init__(
        self, kafka: KafkaSettings, topics: Sequence[str], form: TypeAdapter[MessageT], report: Report | None = None
    ) -> None:
        """`report` is told while messages are followed that no broker answers, or that one answers again."""
        self.read = 0
        """Different messages so far."""
        self._unreadable = 0
        self._kafka = kafka
        self._topics = topics
        self._form = form
        self._report = report

    async def messages(self, *, follow: bool = False) -> AsyncGenerator[MessageT, None]:
        """Yield the messages on the topics, oldest first; with `follow` then those that arrive, without end.

        Raises:
            BrokerUnavailable: no broker answered.
            TopicsMissing: naming the command that creates them.
        """
        seen: LRUCache[str, None] = LRUCache(maxsize=_REMEMBERED)
        reading = read_topic(self._kafka, *self._topics, follow=follow, report=self._report)
        async with contextlib.aclosing(reading) as found:
            async for each in found:
                try:
                    message = self._form.validate_json(each.value or b"")
                except ValidationError:
                    self._unreadable += 1
                    continue
                identifier: str = getattr(message, "id", "")
                if identifier not in seen:
                    seen[identifier] = None
                    self.read += 1
                    yield message

    def summary(self, noun: str, shown: int | None = None) -> Iterator[str]:
        """The number of messages, and how many of them were `shown`; a line at a time."""
        of = "" if shown is None or shown == self.read else f"{shown or 'none'} of "
        yield f"{of}{self.read} {noun}{'' if self.read == 1 else 's'} on {', '.join(self._topics)}"
        if self._unreadable:
            yield f"{self._unreadable} message{'' if self._unreadable == 1 else 's'} there could not be read as {noun}s"
