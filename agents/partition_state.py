"""State by partition on a compacted topic: entries that messages change, each with the offsets that are in it.

A message changes its entry and the offset up to which messages are in that in one step, and one message stores both. So
the next owner of the partition, who reads on from an earlier offset, skips what an entry has already.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streams.messages import Outgoing
from streams.settings import KafkaSettings
from streams.topic_reader import read_topic

PROGRESS: Final = "assay-progress"
"""Header of a message that stores an entry: two numbers that never fall. Of two messages the higher one is valid."""

_FORGET_SECONDS: Final = 30 * 86_400.0
"""An entry without a message for a month is forgotten, to make room for another."""

_log = structlog.get_logger(__name__)

Key: TypeAlias = tuple[str, ...]


def encoded(key: Key) -> bytes:
    """The key of a message; names hold no control characters."""
    return "\x1f".join(key).encode()


class Entry(BaseModel):
    """What is kept under a key, and as a message stores it."""

    model_config = ConfigDict(extra="forbid")

    key: Key
    offsets: dict[str, int] = Field(default_factory=dict)  # By topic the offset behind the last message that is in it.
    resets: int = 0  # Times that a topic was created again, and its offset set back.
    counted_at: float = 0.0  # When its last message was counted, in seconds since 1970.

    def is_counted(self, record: Any) -> bool:
        """True if the message is in it."""
        return bool(record.offset < self.offsets.get(record.topic, 0))


EntryT = TypeVar("EntryT", bound=Entry)


class PartitionState(ABC, Generic[EntryT]):
    """The entries of the partitions with one number."""

    def __init__(
        self,
        number: int,
        *,
        most: int,
        forget_seconds: float = _FORGET_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`most`: maximum of entries; `clock` returns seconds since 1970."""
        self.number = number
        self.entries: dict[Key, EntryT] = {}
        self._most = most
        self._forget_seconds = forget_seconds
        self._clock = clock
        self._changed: dict[Key, None] = {}
        self._full = False

    @abstractmethod
    def _read(self, stored: bytes) -> EntryT:
        """The entry that a message stores; raise ValueError if it is none."""

    @abstractmethod
    def _begin(self, key: Key) -> EntryT:
        """An entry without a message."""

    def _before_storing(self, entry: EntryT) -> Iterable[Outgoing]:
        """Called when a changed entry is to be stored; returns what is published with it."""
        return ()

    def restore(self, stored: Mapping[bytes, bytes], ends: Mapping[str, int]) -> None:
        """Take up stored entries, given as messages by key; `ends` are the ends of the partitions by topic."""
        for key, value in stored.items():
            try:
                entry = self._read(value)
            except ValueError as error:
                detail = f"{error.error_count()} fault(s)" if isinstance(error, ValidationError) else str(error)
                _log.error("a series' state cannot be read, it is reset", key=repr(key), detail=detail)
                continue
            for topic, offset in entry.offsets.items():
                if offset > ends.get(topic, 0):
                    # Offsets are reset with a topic that was created again: nothing on it is counted yet.
                    _log.warning("a series goes on with a topic created again", key="/".join(entry.key), topic=topic)
                    entry.offsets[topic] = 0
                    entry.resets += 1
            self.entries[entry.key] = entry

    def changes(self, topic: str) -> list[Outgoing]:
        """Messages that store what changed since the last call, and what is published with it."""
        changed, self._changed = self._changed, {}
        messages: list[Outgoing] = []
        for key in changed:
            entry = self.entries.get(key)
            more = () if entry is None else self._before_storing(entry)
            messages += [self._stored(topic, key, entry), *more]
        return messages

    def forget_old(self) -> list[Key]:
        """Forget the entries without a recent message; returns their keys."""
        old = [key for key, entry in self.entries.items() if self._is_old(entry)]
        for key in old:
            del self.entries[key]
            self._changed[key] = None
        if old:
            _log.info("forgotten without new messages", entries=len(old), partition=self.number)
        return old

    def _is_old(self, entry: EntryT) -> bool:
        return entry.counted_at < self._clock() - self._forget_seconds

    def _stored(self, topic: str, key: Key, entry: EntryT | None) -> Outgoing:
        value = None if entry is None else entry.model_dump_json().encode()
        progress = () if entry is None else (entry.resets, sum(entry.offsets.values()))
        headers = [(PROGRESS, b"%d %d" % progress)] if progress else []
        return Outgoing(topic, encoded(key), value, headers, partition=self.number)

    def _entry(self, key: Key) -> EntryT | None:
        """The entry under `key`; a new one if there is none, and room for one."""
        if (entry := self.entries.get(key)) is None and len(self.entries) < self._most:
            entry = self.entries[key] = self._begin(key)
            entry.counted_at = self._clock()
        elif entry is None and not self._full:
            self._full = True
            _log.warning("too many series, new ones are not kept", most=self._most, partition=self.number)
        return entry

    def _note(self, entry: EntryT, record: Any) -> None:
        """Note that the message is in the entry."""
        entry.offsets[record.topic] = record.offset + 1
        self._changed[entry.key] = None


async def stored_messages(
    kafka: KafkaSettings, topic: str, partitions: Collection[int]
) -> dict[int, dict[bytes, bytes]]:
    """By partition the message with the highest progress for each key; errors are those of `read_topic`.

    It is not the last where a monitor froze in the middle of writing, was taken for dead, and woke up.
    """
    newest: dict[int, dict[bytes, tuple[tuple[int, ...], bytes]]] = {number: {} for number in partitions}
    async for record in read_topic(kafka, topic, numbers=partitions):
        of, progress = newest[record.partition], _progress(record.headers)
        if record.value is None:
            of.pop(record.key, None)
        elif record.key is not None and (progress is None or progress >= of.get(record.key, ((), b""))[0]):
            of[record.key] = (progress or (0, 0), record.value)
    return {number: {key: value for key, (_, value) in of.items()} for number, of in newest.items()}


def _progress(headers: Sequence[tuple[str, bytes]]) -> tuple[int, ...] | None:
    try:
        return tuple(map(int, dict(headers).get(PROGRESS, b"").split())) or None
    except ValueError:
        return None
