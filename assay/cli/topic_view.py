"""Messages of topics for a person: each once, and what could not be read is counted."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar

from cachetools import LRUCache
from pydantic import TypeAdapter, ValidationError

from assay.cli.front_door import tell_of_broker
from models.wording import counted
from schemas.base import Wire
from streams.settings import KafkaSettings

_REMEMBERED = 100_000
"""Ids of messages shown, so that a repeat is not: a repeat follows within seconds, or a restart's backlog."""

MessageT = TypeVar("MessageT", bound=Wire)


class TopicView(Generic[MessageT]):
    """Reads topics once."""

    def __init__(self, kafka: KafkaSettings, topics: Sequence[str], form: TypeAdapter[MessageT]) -> None:
        self.read = 0
        """Different messages so far."""
        self._unreadable = 0
        self._kafka = kafka
        self._topics = topics
        self._form = form

    async def messages(self, *, follow: bool) -> AsyncGenerator[MessageT, None]:
        """Yield the messages on the topics, oldest first; with `follow` then those that arrive, without end.

        Raises:
            BrokerUnavailable: no broker answered.
            TopicsMissing: naming the command that creates them.
        """
        from streams.topic_reader import read_topic

        seen: LRUCache[str, None] = LRUCache(maxsize=_REMEMBERED)
        async with aclosing(read_topic(self._kafka, *self._topics, follow=follow, tell=tell_of_broker)) as found:
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
        """The number that was read, and `shown` if that is another; a line at a time."""
        of = "" if shown is None or shown == self.read else f"{shown or 'none'} of "
        yield f"{of}{counted(self.read, noun)} on {', '.join(self._topics)}"
        if self._unreadable:
            yield f"{counted(self._unreadable, 'message')} there could not be read as {noun}s"
