"""The series of one partition: each verdict is counted once, and changes are persisted."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import orjson
import structlog
from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.restore import PROGRESS
from agents.trust.metrics import TrustMetrics
from agents.trust.outcomes import NotAnOutcome, SeriesKey, SeriesOutcome
from agents.trust.series import Series, SeriesState
from agents.trust.settings import TrustSettings
from schemas import Alert, SeriesAnew
from streams.messages import Outgoing

_FORGET_SECONDS: Final = 30 * 86_400.0
"""A series without a verdict for a month is forgotten, to make room for another."""

_log = structlog.get_logger(__name__)


TrustMessage: TypeAlias = Alert | SeriesAnew
"""A message on the topic of alerts."""


class StoredSeries(BaseModel):
    """The message that stores one series."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    model: str
    checker: str
    applied: int
    """The offset up to which this series' outcomes are in it."""
    counted_at: float
    """When its last verdict was counted, in seconds since 1970."""
    anew: int
    """Times that a topic was made anew or exchanged for another, and the mark set back."""
    pending: tuple[TrustMessage, ...]
    """Messages that were raised and perhaps not published yet."""
    series: SeriesState

    @property
    def key(self) -> SeriesKey:
        return SeriesKey(self.source, self.model, self.checker)


@dataclass(slots=True)
class Watched:
    """A series and the offset up to which its outcomes are counted."""

    series: Series
    applied: int = 0
    counted_at: float = 0.0
    anew: int = 0
    pending: list[TrustMessage] = field(default_factory=list)

    @property
    def progress(self) -> tuple[int, int]:
        """Never falls. Of two messages that store one series, the one with the higher progress is valid."""
        return self.anew, self.applied

    def stored(self) -> bytes:
        stored = StoredSeries(
            source=self.series.key.source,
            model=self.series.key.model,
            checker=self.series.key.checker,
            applied=self.applied,
            counted_at=self.counted_at,
            anew=self.anew,
            pending=tuple(self.pending),
            series=self.series.state(),
        )
        return orjson.dumps(stored.model_dump(), option=orjson.OPT_UTC_Z)


class PartitionState:
    """Counts the outcomes of one partition.

    An outcome changes its series, the mark up to which the series is counted, and the alerts that wait to be published
    in one step, and one message keeps all three. The next owner of the partition reads on from what was committed, at
    or before all the marks, and passes over what lies before its series' mark. It begins so far before that it knows
    the ids of what was counted last.
    """

    def __init__(
        self,
        partition: int,
        settings: TrustSettings,
        metrics: TrustMetrics,
        *,
        most: int,
        remember: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`most`: maximum of series; `remember`: of verdict ids; `clock` returns seconds since 1970."""
        self.partition = partition
        self._topic = ""
        self.next = 0
        """The offset behind the last outcome counted or passed over. What lies before is read for its ids alone."""
        self.watched: dict[SeriesKey, Watched] = {}
        self._counted_ids: LRUCache[str, None] = LRUCache(remember)
        self._settings = settings
        self._metrics = metrics
        self._most = most
        self._clock = clock
        self._changed: dict[SeriesKey, None] = {}
        self._alarmed: dict[SeriesKey, None] = {}
        self._full = False

    @property
    def changed(self) -> bool:
        """True if there is something to persist or to publish."""
        return bool(self._changed or self._alarmed)

    @property
    def behind(self) -> dict[str, int]:
        """By topic the offset behind the last message counted."""
        return {self._topic: self.next}

    def begin(self, topic: str, offset: int) -> None:
        """Count from `offset` on; messages before it are remembered only."""
        self._topic, self.next = topic, offset

    def restore(self, kept: Mapping[bytes, bytes], end: int) -> None:
        """Take up stored series, given as messages by key; `end` is the end offset of the partition."""
        for key, value in kept.items():
            try:
                stored = StoredSeries.model_validate_json(value)
                series = Series.from_state(stored.key, stored.series, self._settings)
            except ValueError as error:
                detail = f"{error.error_count()} fault(s)" if isinstance(error, ValidationError) else str(error)
                _log.error("a series' state cannot be read, it begins anew", key=_readable(key), detail=detail)
                continue
            watched = Watched(series, stored.applied, stored.counted_at, stored.anew, list(stored.pending))
            if stored.series.digest != series.plan.digest:
                _log.warning("a series begins anew, as its settings changed", **series.key._asdict())
                self._changed[series.key] = None
            if stored.applied > end:
                # Offsets begin anew with a topic that was made anew: nothing on it is counted yet.
                _log.warning("a series goes on with a topic made anew", **series.key._asdict())
                watched.applied = 0
                watched.anew += 1
            self.watched[series.key] = watched
            if watched.pending:
                self._alarmed[series.key] = None

    def remember(self, id_: str) -> bool:
        """Remember the id of a counted verdict; true if it was known."""
        known = id_ in self._counted_ids
        self._counted_ids[id_] = None
        return known

    def count(self, record: Any) -> TrustMessage | None:
        """Count the next message; returns the message that it raises, if any."""
        counted_before = record.offset < self.next
        self.next = max(self.next, record.offset + 1)
        try:
            outcome = SeriesOutcome.read(record.value)
        except NotAnOutcome as error:
            if not counted_before:
                self._metrics.unreadable()
                _log.warning("no outcome", partition=record.partition, offset=record.offset, detail=str(error))
            return None
        watched = self.watched.get(outcome.key)
        if counted_before or (watched is not None and record.offset < watched.applied):
            self.remember(outcome.verdict_id)
            return None
        watched = watched or self._begin(outcome)
        if watched is None:
            return None
        watched.applied = record.offset + 1
        self._changed[outcome.key] = None
        if self.remember(outcome.verdict_id):
            self._metrics.repeat(outcome.checker)
            return None
        watched.counted_at = self._clock()
        raised = watched.series.update(outcome, datetime.fromtimestamp(watched.counted_at, UTC))
        self._metrics.counted(outcome.checker, "accept" if outcome.accepted else "reject")
        if raised is not None:
            watched.pending.append(raised)
            self._alarmed[outcome.key] = None
            _log.warning(raised.kind, id=raised.id, summary=raised.summary)
        return raised

    def changes(self, topic: str) -> list[Outgoing]:
        """Messages that store what changed since the last call."""
        changed, self._changed = list(self._changed), {}
        messages = []
        for key in changed:
            watched = self.watched.get(key)
            if watched is None:
                message = Outgoing(topic, key.encoded(), None, [], partition=self.partition)
            else:
                headers = [(PROGRESS, b"%d %d" % watched.progress)]
                message = Outgoing(topic, key.encoded(), watched.stored(), headers, partition=self.partition)
            messages.append(message)
        return messages

    def pending(self) -> list[TrustMessage]:
        """Messages that are to be published."""
        return [raised for key in self._alarmed for raised in self.watched[key].pending]

    def published(self, raised: TrustMessage) -> None:
        """Note that it was published."""
        key = SeriesKey(raised.source, raised.model, raised.checker)
        pending = self.watched[key].pending
        pending.remove(raised)
        if not pending:
            del self._alarmed[key]
        self._changed[key] = None

    def forget_old(self) -> list[SeriesKey]:
        """Forget the series without a recent verdict; returns their keys."""
        before = self._clock() - _FORGET_SECONDS
        old = [key for key, watched in self.watched.items() if watched.counted_at < before]
        for key in old:
            del self.watched[key]
            self._alarmed.pop(key, None)
            self._changed[key] = None
            _log.info("a series without verdicts is forgotten", **key._asdict())
        return old

    def _begin(self, outcome: SeriesOutcome) -> Watched | None:
        if len(self.watched) >= self._most:
            self._metrics.unwatched(outcome.checker)
            if not self._full:
                self._full = True
                _log.warning("too many series, new ones are not watched", most=self._most, partition=self.partition)
            return None
        watched = Watched(Series(outcome.key, self._settings))
        self.watched[outcome.key] = watched
        return watched


def _readable(key: bytes) -> str:
    return key.decode("utf-8", "replace").replace("\x1f", "/")
