"""A counter of series by partition: each message is counted once, and changes are stored.

A message changes its series and the offset up to which the series is counted in one step, and one message stores both.
The next owner of the partition reads on from what was committed, at or before all these offsets, and skips what
lies before its series' own. It begins so far before that it knows the ids of what was counted last.
"""

import time
from abc import abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import structlog
from cachetools import LRUCache
from pydantic import ValidationError

from agents.monitor.outcomes import SeriesOutcome
from agents.partition_state import EntryT, Key, PartitionState
from schemas import Alert, SeriesAnew, TrueRateAlert
from streams.messages import Outgoing, alert_message
from streams.settings import TopicSettings

_log = structlog.get_logger(__name__)

Raised: TypeAlias = Alert | SeriesAnew | TrueRateAlert
Skipped: TypeAlias = Literal["repeat", "unwatched", "unreadable"]

SettingsT = TypeVar("SettingsT")
MetricsT = TypeVar("MetricsT")


class Partition(PartitionState[EntryT], Generic[EntryT, SettingsT, MetricsT]):
    """Counts the messages of the partitions with one number."""

    def __init__(
        self,
        number: int,
        settings: SettingsT,
        topics: TopicSettings,
        metrics: MetricsT,
        *,
        most: int,
        remember: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`most`: maximum of series; `remember`: of verdict ids; `clock` returns seconds since 1970."""
        super().__init__(number, most=most, clock=clock)
        self._settings, self._topics, self._metrics = settings, topics, metrics
        # By topic the offset behind the last message counted. What lies before is read for its ids alone.
        self.next: dict[str, int] = {}
        self._counted_ids: LRUCache[str, None] = LRUCache(remember)
        self._outbox: list[Outgoing] = []
        self.raised: list[Raised] = []  # Alerts in the outbox, or published since they were cleared.

    def _key(self, outcome: SeriesOutcome) -> Key:
        """The key of its series; raise ValidationError if it has none."""
        return outcome.key

    @abstractmethod
    def _count_verdict(self, entry: EntryT, outcome: SeriesOutcome) -> object | None:
        """Count a verdict in its series; returns what it raises."""

    def _skipped(self, reason: Skipped, record: Any, checker: str = "") -> None:
        """Called for an outcome that is not counted: a repeat, without room for its series, or unreadable."""

    @property
    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    @property
    def changed(self) -> bool:
        """True if there is something to store or to publish."""
        return bool(self._changed or self._outbox)

    def count(self, record: Any) -> object | None:
        """Count the next message; returns what it raises, which is not to wait for the next flush."""
        before = record.offset < self.next[record.topic]
        self.next[record.topic] = max(self.next[record.topic], record.offset + 1)
        return self._count(record, before=before)

    def _count(self, record: Any, *, before: bool) -> object | None:
        try:
            outcome = SeriesOutcome.model_validate_json(record.value or b"")
            key = self._key(outcome)
        except ValidationError:
            if not before:
                self._skipped("unreadable", record)
            return None
        if before:
            self.remember(outcome.verdict_id)
            return None
        if (entry := self._entry(key)) is None:
            self._skipped("unwatched", record, outcome.checker)
            return None
        is_known = self.remember(outcome.verdict_id)
        if entry.is_counted(record):
            return None
        self._note(entry, record)
        if is_known:
            self._skipped("repeat", record, outcome.checker)
            return None
        entry.counted_at = self._clock()
        return self._count_verdict(entry, outcome)

    def remember(self, id_: str) -> bool:
        """Remember the id of a counted verdict; true if it was known."""
        known = id_ in self._counted_ids
        self._counted_ids[id_] = None
        return known

    def outbox(self) -> list[Outgoing]:
        """What was raised since the last call, to be published before the state is stored."""
        messages, self._outbox = self._outbox, []
        return messages

    def _raise(self, alert: Raised) -> None:
        self.raised.append(alert)
        self._outbox.append(alert_message(alert, self._topics))
        _log.warning(alert.kind, id=alert.id, summary=alert.summary)
