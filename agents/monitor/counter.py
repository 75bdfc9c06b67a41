"""A counter of series by partition: each message is counted once, and changes are stored.

One message stores a series and the offset up to which it is counted. The next owner of the partition reads on from what
was committed, at or before all these offsets, and skips what lies before its series' own.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, Generic, TypeAlias, TypeVar

import structlog
from cachetools import LRUCache
from prometheus_client.core import GaugeMetricFamily
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.monitor.outcomes import SeriesOutcome
from schemas import Alert, SeriesAnew, TrueRateAlert
from streams.clients import Received
from streams.messages import Outgoing, alert_message
from streams.metrics import StreamMetrics
from streams.settings import KafkaSettings, TopicSettings

PROGRESS: Final = "assay-progress"
"""Header of a message that stores a series: two numbers that never fall. Of two messages the higher one is valid."""

REMEMBERED: Final = 16_384
"""Messages of each partition that are read again on taking over, and verdict ids that are remembered: a worker that is
killed repeats at most its window of 4,096 records."""

_FORGET_SECONDS: Final = 30 * 86_400.0  # A series without a verdict for a month is forgotten, to make room for another.

_log = structlog.get_logger(__name__)

Key: TypeAlias = tuple[str, ...]
Raised: TypeAlias = Alert | SeriesAnew | TrueRateAlert


def encoded(key: Key) -> bytes:
    """The key of a message; names hold no control characters."""
    return "\x1f".join(key).encode()


def labels_of(metrics: StreamMetrics, key: Key) -> tuple[str, str, str]:
    """The labels of a series' gauges."""
    source, model, checker = key[:3]
    return (checker, *metrics.subject(source, model, 0))  # 0: this is no event of the subject.


def series_gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=["checker", "source", "model", *labels])


SeriesT = TypeVar("SeriesT")
SettingsT = TypeVar("SettingsT")
MetricsT = TypeVar("MetricsT")


class Entry(BaseModel, Generic[SeriesT]):
    """A series as it is counted, and as a message stores it."""

    model_config = ConfigDict(extra="forbid")

    key: Key
    series: SeriesT
    offsets: dict[str, int] = Field(default_factory=dict)  # By topic the offset behind the last message that is in it.
    resets: int = 0  # Times that a topic was created again, and its offset set back.
    counted_at: float = 0.0  # When its last verdict was counted, in seconds since 1970.

    def is_counted(self, record: Received) -> bool:
        """True if the message is in it."""
        return bool(record.offset < self.offsets.get(record.topic, 0))


class Partition(ABC, Generic[SeriesT, SettingsT, MetricsT]):
    """Counts the messages of the partitions with one number."""

    def __init__(
        self,
        settings: SettingsT,
        topics: TopicSettings,
        metrics: MetricsT,
        number: int,
        *,
        most: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`most`: maximum of series; `clock` returns seconds since 1970."""
        self.number = number
        self._settings, self._topics, self._metrics = settings, topics, metrics
        # By topic the offset behind the last message counted. What lies before is read for its ids alone.
        self.next: dict[str, int] = {}
        self.entries: dict[Key, Entry[SeriesT]] = {}
        self._most = most
        self._clock = clock
        self._counted_ids: LRUCache[str, None] = LRUCache(REMEMBERED)
        self._changed: dict[Key, None] = {}
        self._outbox: list[Outgoing] = []
        self.raised: list[Raised] = []  # What Alertmanager does not know yet.
        self._full = False

    async def begin(self, kafka: KafkaSettings) -> None:
        """Read what is needed besides the stored series."""

    @abstractmethod
    def _read(self, stored: bytes) -> Entry[SeriesT]:
        """The entry that a message stores; raise ValueError if it is none."""

    @abstractmethod
    def _begin(self, key: Key) -> Entry[SeriesT]:
        """An entry without a verdict."""

    def _key(self, outcome: SeriesOutcome) -> Key:
        """The key of its series; raise ValidationError if it has none."""
        return outcome.key

    @abstractmethod
    def _count_verdict(self, entry: Entry[SeriesT], outcome: SeriesOutcome) -> None:
        """Count a verdict in its series."""

    def _before_storing(self, entry: Entry[SeriesT]) -> Iterable[Outgoing]:
        """Called when a changed entry is to be stored; returns what is published with it."""
        return ()

    def _skipped(self, reason: str, checker: str = "") -> None:
        """Called for an outcome that is not counted: a repeat, without room for its series, or unreadable."""

    @property
    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    @property
    def changed(self) -> bool:
        """True if there is something to store, to publish or to post."""
        return bool(self._changed or self._outbox or self.raised)

    def restore(self, stored: Mapping[bytes, bytes], ends: Mapping[str, int]) -> None:
        """Take up stored series, given as messages by key; `ends` are the ends of the partitions by topic."""
        for key, value in stored.items():
            try:
                entry = self._read(value)
            except ValueError as error:
                _log.error("a series' state cannot be read, it is reset", key=repr(key), error=type(error).__name__)
                continue
            for topic, offset in entry.offsets.items():
                if offset > ends.get(topic, 0):
                    # Offsets are reset with a topic that was created again: nothing on it is counted yet.
                    _log.warning("a series goes on with a topic created again", key="/".join(entry.key), topic=topic)
                    entry.offsets[topic] = 0
                    entry.resets += 1
            self.entries[entry.key] = entry

    def count(self, record: Received) -> None:
        """Count the next message."""
        before = record.offset < self.next[record.topic]
        self.next[record.topic] = max(self.next[record.topic], record.offset + 1)
        self._count(record, before=before)

    def _count(self, record: Received, *, before: bool) -> None:
        try:
            outcome = SeriesOutcome.model_validate_json(record.value or b"")
            key = self._key(outcome)
        except ValidationError:
            if not before:
                self._skipped("unreadable")
            return
        entry = None if before else self._entry(key)
        if entry is None and not before:
            self._skipped("unwatched", outcome.checker)
            return
        is_known = outcome.verdict_id in self._counted_ids
        self._counted_ids[outcome.verdict_id] = None
        if entry is None or entry.is_counted(record):
            return
        self._note(entry, record)
        if is_known:
            self._skipped("repeat", outcome.checker)
        else:
            entry.counted_at = self._clock()
            self._count_verdict(entry, outcome)

    def outbox(self) -> list[Outgoing]:
        """What was raised since the last call, to be published before the state is stored."""
        messages, self._outbox = self._outbox, []
        return messages

    def changes(self, topic: str) -> list[Outgoing]:
        """Messages that store what changed since the last call, and what is published with it."""
        changed, self._changed = self._changed, {}
        messages: list[Outgoing] = []
        for key in changed:
            entry = self.entries.get(key)
            if entry is None:
                messages.append(Outgoing(topic, encoded(key), None, [], partition=self.number))
                continue
            more = self._before_storing(entry)
            headers = [(PROGRESS, b"%d %d" % (entry.resets, sum(entry.offsets.values())))]
            value = entry.model_dump_json().encode()
            messages += [Outgoing(topic, encoded(key), value, headers, partition=self.number), *more]
        return messages

    def forget_old(self) -> list[Key]:
        """Forget the series without a recent verdict; returns their keys."""
        before = self._clock() - _FORGET_SECONDS
        old = [key for key, entry in self.entries.items() if entry.counted_at < before]
        for key in old:
            del self.entries[key]
            self._changed[key] = None
        return old

    def _entry(self, key: Key) -> Entry[SeriesT] | None:
        """The entry under `key`; a new one if there is none, and room for one."""
        if (entry := self.entries.get(key)) is None and len(self.entries) < self._most:
            entry = self.entries[key] = self._begin(key)
            entry.counted_at = self._clock()
        elif entry is None and not self._full:
            self._full = True
            _log.warning("too many series, new ones are not watched", most=self._most, partition=self.number)
        return entry

    def _raise(self, alert: Raised, published: Callable[[], None]) -> None:
        """Publish the alert at once; `published` is called when it is on its topic."""
        message = alert_message(alert, self._topics)
        message.on_delivered = published
        self.raised.append(alert)
        self._outbox.append(message)
        _log.warning(alert.kind, id=alert.id, summary=alert.summary)

    def _note(self, entry: Entry[SeriesT], record: Received) -> None:
        """Note that the message is in the entry."""
        entry.offsets[record.topic] = record.offset + 1
        self._changed[entry.key] = None
