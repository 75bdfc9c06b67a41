"""The series of one partition number: each verdict is counted once, and changes are persisted."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

import orjson
import structlog
from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.trust.metrics import TrustMetrics
from agents.trust.series import Series, SeriesState, Straggler
from agents.trust.settings import TrustSettings
from agents.trust.verdict_reader import NotAVerdict, ReadVerdict, SeriesKey, id_in, read_verdict
from schemas import Alert, Origin, SeriesAnew
from streams.messages import REPLAYED_FROM, Outgoing

OUTCOMES: Final[tuple[Literal["accept"], Literal["reject"]]] = ("accept", "reject")
"""Of the two topics, in the order that their sides are numbered."""

PROGRESS: Final = "assay-progress"
"""Header of a message that keeps a series: its progress, two numbers."""

_DAY: Final = 86_400.0

_log = structlog.get_logger(__name__)


Told: TypeAlias = Alert | SeriesAnew
"""What is put onto the topic of alerts."""


class StoredSeries(BaseModel):
    """The message that stores one series."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    model: str
    checker: str
    applied: tuple[int, int]
    """On the accepts' and the rejects' topic: the offset up to which this series' verdicts are in it."""
    counted_at: float
    """When its last verdict was counted, in seconds since 1970."""
    anew: int
    """How often a topic was made anew, and its mark set back."""
    pending: tuple[Told, ...]
    """What was raised and perhaps not published yet."""
    series: SeriesState

    @property
    def key(self) -> SeriesKey:
        return SeriesKey(self.source, self.model, self.checker)


@dataclass(slots=True)
class Watched:
    """A series and the offsets up to which its verdicts are counted."""

    series: Series
    applied: list[int] = field(default_factory=lambda: [0, 0])
    counted_at: float = 0.0
    anew: int = 0
    pending: list[Told] = field(default_factory=list)

    @property
    def progress(self) -> tuple[int, int]:
        """Never falls. Of two messages that store one series, the one with the higher progress is valid."""
        return self.anew, sum(self.applied)

    def stored(self) -> bytes:
        stored = StoredSeries(
            source=self.series.key.source,
            model=self.series.key.model,
            checker=self.series.key.checker,
            applied=(self.applied[0], self.applied[1]),
            counted_at=self.counted_at,
            anew=self.anew,
            pending=tuple(self.pending),
            series=self.series.state(),
        )
        return orjson.dumps(stored.model_dump(), option=orjson.OPT_UTC_Z)


class PartitionState:
    """Counts the verdicts of one partition number.

    A verdict changes its series, the mark up to which the series is counted, and the alerts that wait to be published
    in one step, and one message keeps all three. The next owner of the partition reads the topics from where they
    were committed, at or before all the marks, and passes over what lies before its series' mark.
    """

    def __init__(
        self,
        partition: int,
        settings: TrustSettings,
        metrics: TrustMetrics,
        *,
        most: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`most`: maximum of series; `clock` returns seconds since 1970."""
        self.partition = partition
        self.next = [0, 0]
        """For each side the offset behind the last message counted or passed over."""
        self.watched: dict[SeriesKey, Watched] = {}
        self._counted_ids: LRUCache[str, None] = LRUCache(settings.remember)
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

    def restore(self, kept: Iterable[tuple[bytes, bytes]], ends: tuple[int, int]) -> None:
        """Take up stored series, given as keys and messages; `ends` are the end offsets of the two topics."""
        for key, value in kept:
            try:
                stored = StoredSeries.model_validate_json(value)
                series = Series.from_state(stored.key, stored.series, self._settings)
                watched = Watched(series, list(stored.applied), stored.counted_at, stored.anew, list(stored.pending))
            except ValueError as error:
                detail = f"{error.error_count()} fault(s)" if isinstance(error, ValidationError) else str(error)
                _log.error("a series' state cannot be read, it begins anew", key=_readable(key), detail=detail)
                continue
            if stored.series.digest != series.plan.digest:
                _log.warning("a series begins anew, as its settings changed", **series.key._asdict())
                self._changed[series.key] = None
            for side, end in enumerate(ends):
                if watched.applied[side] > end:
                    # The topic was made anew, and its offsets with it: nothing on it is counted yet.
                    _log.warning("a topic is shorter than what was counted of it", **series.key._asdict(), side=side)
                    watched.applied[side] = 0
                    watched.anew += 1
            self.watched[series.key] = watched
            if watched.pending:
                self._alarmed[series.key] = None

    def remember(self, id_: str) -> bool:
        """Remember the id of a counted verdict; true if it was known."""
        known = id_ in self._counted_ids
        self._counted_ids[id_] = None
        return known

    def counted_id(self, side: int, record: Any, *, certain: bool) -> str | None:
        """The id of a verdict read again, if it was counted: certainly if `certain`, else if its series says so."""
        id_ = id_in(record.headers)
        if id_ is not None and certain:
            return id_
        try:
            verdict = read_verdict(record.value, OUTCOMES[side])
        except NotAVerdict:
            return None
        if not certain:
            watched = self.watched.get(verdict.key)
            if watched is None or record.offset >= watched.applied[side]:
                return None
        return id_ or verdict.id

    def counted_up_to(self, side: int) -> int:
        """The highest offset up to which any series is counted."""
        return max((watched.applied[side] for watched in self.watched.values()), default=0)

    def count(self, side: int, record: Any) -> Told | None:
        """Count the next message of one side; returns what is to be told of it."""
        self.next[side] = record.offset + 1
        try:
            verdict = read_verdict(record.value, OUTCOMES[side])
        except NotAVerdict as error:
            self._metrics.unreadable(OUTCOMES[side])
            _log.warning(
                "no verdict",
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                detail=str(error),
            )
            return None
        if any(name == REPLAYED_FROM for name, _ in record.headers):
            # It was put back for an improver or a webhook, and stands on its topic a second time.
            self._metrics.repeat(verdict.checker)
            return None
        watched = self.watched.get(verdict.key) or self._begin(verdict)
        if watched is None or record.offset < watched.applied[side]:
            return None
        watched.applied[side] = record.offset + 1
        self._changed[verdict.key] = None
        if self.remember(id_in(record.headers) or verdict.id):
            self._metrics.repeat(verdict.checker)
            return None
        watched.counted_at = self._clock()
        if verdict.outcome == "reject":
            position = Origin(topic=record.topic, partition=record.partition, offset=record.offset)
            verdict = verdict.model_copy(update={"position": position})
        try:
            told = watched.series.update(verdict, datetime.fromtimestamp(watched.counted_at, UTC))
        except Straggler:
            self._metrics.left_out(verdict.checker)
            return None
        self._metrics.counted(verdict.checker, verdict.outcome)
        if told is not None:
            watched.pending.append(told)
            self._alarmed[verdict.key] = None
            _log.warning(told.kind, id=told.id, summary=told.summary)
        return told

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

    def pending(self) -> list[Told]:
        """What is to be published."""
        return [told for key in self._alarmed for told in self.watched[key].pending]

    def published(self, told: Told) -> None:
        """Note that it was published."""
        key = SeriesKey(told.source, told.model, told.checker)
        pending = self.watched[key].pending
        pending.remove(told)
        if not pending:
            del self._alarmed[key]
        self._changed[key] = None

    def forget_old(self) -> list[SeriesKey]:
        """Forget the series without a recent verdict; returns their keys."""
        before = self._clock() - self._settings.forget_after_days * _DAY
        old = [key for key, watched in self.watched.items() if watched.counted_at < before]
        for key in old:
            del self.watched[key]
            self._alarmed.pop(key, None)
            self._changed[key] = None
            _log.info("a series without verdicts is forgotten", **key._asdict())
        return old

    def _begin(self, verdict: ReadVerdict) -> Watched | None:
        if len(self.watched) >= self._most:
            self._metrics.unwatched(verdict.checker)
            if not self._full:
                self._full = True
                _log.warning("too many series, new ones are not watched", most=self._most, partition=self.partition)
            return None
        watched = Watched(Series(verdict.key, self._settings))
        self.watched[verdict.key] = watched
        return watched


def _readable(key: bytes) -> str:
    return key.decode("utf-8", "replace").replace("\x1f", "/")
