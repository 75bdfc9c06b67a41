"""The series of one partition: each verdict and each label is counted once, and changes are persisted."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
import structlog
from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from agents.labels.metrics import LabelMetrics
from agents.labels.series import Draw, Series
from agents.labels.settings import LabelSettings
from agents.labels.telling import SeriesId, alert_of, calibration_of
from agents.labels.watch import Terms
from agents.restore import PROGRESS
from agents.routing import sample_point
from agents.trust.outcomes import NotAnOutcome, SeriesOutcome
from schemas import Calibration, Label, ReviewRequest, TrueRateAlert, content_id
from schemas.base import Name
from streams.messages import Outgoing, alert_message, calibration_message, request_message
from streams.settings import TopicSettings

EXPIRES_AFTER: Final = timedelta(days=14)
"""A label is waited for that long, and can be replaced as long."""

_SECOND: Final = 0.1
"""The share of the drawn verdicts that a second person is asked about."""

_FORGET_SECONDS: Final = 30 * 86_400.0
"""A series without a verdict for a month is forgotten, to make room for another; what was told of it stays."""

_TELL_EVERY_SECONDS: Final = 60.0
"""Pause between two tellings of a calibration whose labels are the same."""

_MOST_ANNOTATORS: Final = 20

_COUNT: Final = ("counted", "replaced", "withdrawn")

_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)

_log = structlog.get_logger(__name__)


class StoredLabels(BaseModel):
    """The message that stores one series."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: SeriesId
    applied: tuple[int, int]
    """The offsets up to which outcomes and labels are in it."""
    anew: int
    """Times that a topic was made anew, and a mark set back."""
    counted_at: float
    told: int
    """Alerts raised."""
    series: Series


@dataclass(slots=True)
class Asked:
    """A drawn verdict, and what people have said of it so far."""

    key: SeriesId
    draw: Draw
    expires_at: datetime
    said: dict[str, tuple[tuple[Any, ...], float | None]] = field(default_factory=dict)
    """By annotator, the rank and the value of what was said last; no value if that takes back what was said before."""
    is_bet_on: bool = False
    """True from its first label on, also if that was taken back."""

    @property
    def values(self) -> list[float]:
        return [value for _, value in self.said.values() if value is not None]

    @property
    def good(self) -> float | None:
        """The mean of what was said."""
        return sum(self.values) / len(self.values) if self.values else None

    @property
    def pair(self) -> tuple[bool, bool]:
        """Whether two people said something, and whether all said the same."""
        two = len(self.values) > 1
        return two, two and len(set(self.values)) == 1


@dataclass(slots=True)
class _Kept:
    series: Series
    outcomes: int = 0
    """The offset up to which they are counted."""
    labels: int = 0
    counted_at: float = 0.0
    anew: int = 0
    told: int = 0
    calibration: Calibration | None = None
    """None if it is to be told."""


class LabelPartition:
    """Counts the outcomes and labels of the partitions with one number.

    Requests are written before the state that has them as asked for, and the state before offsets are committed.
    Requests are then facts: whoever takes over reads them back, and draws the same ones again, from the same state.
    """

    def __init__(
        self,
        partition: int,
        settings: LabelSettings,
        topics: TopicSettings,
        metrics: LabelMetrics,
        *,
        most: int,
        remember: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`most`: maximum of series; `remember`: of verdict ids; `clock` returns seconds since 1970."""
        self.partition = partition
        self.behind: dict[str, int] = {}
        self._settings = settings
        self._topics = topics
        self._metrics = metrics
        self._most = most
        self._clock = clock
        self._kept: dict[SeriesId, _Kept] = {}
        self._asked: dict[str, Asked] = {}
        self._counted_ids: LRUCache[str, None] = LRUCache(remember)
        self._changed: dict[SeriesId, None] = {}
        self._outbox: list[Outgoing] = []

    @property
    def changed(self) -> bool:
        return bool(self._changed or self._outbox)

    @property
    def calibrations(self) -> Iterator[Calibration]:
        """The last calibration of each series."""
        return (kept.calibration for kept in self._kept.values() if kept.calibration is not None)

    def begin(self, topic: str, offset: int) -> None:
        self.behind[topic] = offset

    def restore(self, stored: Iterable[bytes], requests: Iterable[bytes], ends: Mapping[str, int]) -> None:
        """Take up stored series and the requests that are waited for; `ends` are the ends of the topics."""
        end = ends[self._topics.outcomes], ends[self._topics.labels]
        for value in stored:
            try:
                one = StoredLabels.model_validate_json(value)
            except ValidationError as error:
                _log.error("a series' labels cannot be read, it begins anew", faults=error.error_count())
                continue
            marks = [mark if mark <= last else 0 for mark, last in zip(one.applied, end, strict=True)]
            anew = one.anew + (tuple(marks) != one.applied)
            self._kept[one.key] = kept = _Kept(one.series, marks[0], marks[1], one.counted_at, anew, one.told)
            if one.series.labels:
                kept.calibration = self._calibration(one.key, kept)
        for value in requests:
            try:
                self._ask(ReviewRequest.model_validate_json(value))
            except ValidationError as error:
                _log.warning("no request", faults=error.error_count())

    def count(self, record: Any) -> TrueRateAlert | None:
        """Count an outcome or a label; returns the alert that it raises, if any."""
        before = record.offset < self.behind[record.topic]
        self.behind[record.topic] = max(self.behind[record.topic], record.offset + 1)
        if record.topic == self._topics.outcomes:
            self._count_outcome(record, counted=before)
            return None
        return self._count_label(record, counted=before)

    def outbox(self) -> list[Outgoing]:
        """Requests and alerts that are to be published before the state is stored."""
        messages, self._outbox = self._outbox, []
        return messages

    def changes(self, topic: str) -> list[Outgoing]:
        """Messages that store what changed since the last call, and tell of it."""
        changed, self._changed = list(self._changed), {}
        messages = []
        for key in changed:
            if (kept := self._kept.get(key)) is None:
                messages.append(Outgoing(topic, key.encoded(), None, [], partition=self.partition))
                continue
            kept.series.settle(self._settings.alarm_below)
            headers = [(PROGRESS, b"%d %d" % (kept.anew, kept.outcomes + kept.labels))]
            messages.append(Outgoing(topic, key.encoded(), _stored(key, kept), headers, partition=self.partition))
            told = kept.calibration
            if told is None or told.updated_at.timestamp() < self._clock() - _TELL_EVERY_SECONDS:
                kept.calibration = self._calibration(key, kept)
                messages.append(calibration_message(kept.calibration, self._topics, key.encoded(), self.partition))
        return messages

    def forget_old(self) -> None:
        """Forget the series without a recent verdict, and the requests that are not waited for any more."""
        before, now = self._clock() - _FORGET_SECONDS, datetime.fromtimestamp(self._clock(), UTC)
        for key in [key for key, kept in self._kept.items() if kept.counted_at < before]:
            del self._kept[key]
            self._changed[key] = None
        self._asked = {id_: asked for id_, asked in self._asked.items() if asked.expires_at >= now}

    def _count_outcome(self, record: Any, *, counted: bool) -> None:
        try:
            outcome = SeriesOutcome.read(record.value)
            digest = _NAME.validate_python(outcome.version.get("config_digest"))
        except (NotAnOutcome, ValidationError):
            # The trust monitor counts and reports those.
            return
        key = SeriesId(*outcome.key, digest, self._settings.rubric_version)
        kept = self._kept.get(key)
        known = outcome.verdict_id in self._counted_ids
        self._counted_ids[outcome.verdict_id] = None
        if counted or (kept is not None and record.offset < kept.outcomes):
            return
        if (kept := kept or self._begin(key)) is None:
            return
        kept.outcomes = record.offset + 1
        self._changed[key] = None
        if known:
            return
        kept.counted_at = self._clock()
        at = outcome.checked_at
        draw = kept.series.count(
            outcome.verdict_id,
            accepted=outcome.accepted,
            at=at.timestamp(),
            budget=self._settings.per_hour,
            score=outcome.score,
            all_rejects=self._settings.all_rejects,
            share=outcome.share,
        )
        if draw is not None:
            self._request(key, outcome, draw)

    def _begin(self, key: SeriesId) -> _Kept | None:
        if len(self._kept) >= self._most:
            return None
        self._kept[key] = kept = _Kept(Series(), counted_at=self._clock())
        _log.info("labels of a series begin", **key._asdict())
        return kept

    def _request(self, key: SeriesId, outcome: SeriesOutcome, draw: Draw) -> None:
        now = datetime.fromtimestamp(self._clock(), UTC)
        second = sample_point("second opinion", outcome.verdict_id) < _SECOND
        drawn = "all_rejects" if self._settings.all_rejects and not outcome.accepted else "sample"
        for reason in (drawn, "second_opinion")[: 1 + second]:
            request = ReviewRequest(
                **key._asdict(),
                id=content_id("req", [outcome.verdict_id, key.rubric_version, reason]),
                verdict_id=outcome.verdict_id,
                record_id=outcome.record_id,
                outcome="accept" if outcome.accepted else "reject",
                score=outcome.score,
                stratum=draw.stratum,
                inclusion_probability=draw.probability,
                share=draw.share,
                reason=reason,
                origin=outcome.origin,
                asked_at=now,
                expires_at=now + EXPIRES_AFTER,
                terms=draw.terms,
            )
            self._ask(request)
            self._outbox.append(request_message(request, self._topics))
            self._metrics.asked(key.checker)

    def _ask(self, request: ReviewRequest) -> None:
        if request.inclusion_probability is None or request.terms is None:
            # A complaint: with no known probability, what is said of it would shift the rate.
            return
        key = SeriesId(**{name: getattr(request, name) for name in SeriesId._fields})
        draw = Draw(request.stratum, request.inclusion_probability, Terms(*request.terms), request.share)
        self._asked.setdefault(request.verdict_id, Asked(key, draw, request.expires_at))

    def _count_label(self, record: Any, *, counted: bool) -> TrueRateAlert | None:
        try:
            label = Label.model_validate_json(record.value or b"")
        except ValidationError:
            result, asked = "unreadable", None
        else:
            asked = self._asked.get(label.verdict_id)
            result = _result(label, asked, record.timestamp)
        # The state of a request may be lost that was published just before a kill.
        kept = None if asked is None else self._kept.get(asked.key) or self._begin(asked.key)
        alert = None
        if result in _COUNT and asked is not None and kept is not None:
            before, again = (asked.good, *asked.pair), asked.is_bet_on
            asked.said[label.annotator] = label.rank, label.value
            asked.is_bet_on |= bool(asked.values)
            if record.offset < kept.labels:
                counted = True
            elif not counted:
                kept.labels, kept.calibration = record.offset + 1, None
                self._changed[asked.key] = None
                alert = self._apply(kept, label.verdict_id, asked, before, again=again)
        if not counted:
            self._metrics.label(result)
            _log.debug("a label came", result=result)
        return alert

    def _apply(
        self,
        kept: _Kept,
        verdict_id: str,
        asked: Asked,
        before: tuple[float | None, bool, bool],
        *,
        again: bool,
    ) -> TrueRateAlert | None:
        series, pair = kept.series, asked.pair
        series.pairs += pair[0] - before[1]
        series.pairs_agreed += pair[1] - before[2]
        cause = series.label(verdict_id, asked.draw, before[0], asked.good, again=again)
        if cause is None:
            return None
        kept.told += 1
        alert = alert_of(asked.key, series, cause, kept.told, datetime.fromtimestamp(self._clock(), UTC))
        self._outbox.append(alert_message(alert, self._topics))
        self._metrics.alert(alert.checker, cause)
        _log.warning(alert.kind, id=alert.id, summary=alert.summary)
        return alert

    def _calibration(self, key: SeriesId, kept: _Kept) -> Calibration:
        return calibration_of(key, kept.series, datetime.fromtimestamp(self._clock(), UTC))


def _result(label: Label, asked: Asked | None, timestamp: int) -> str:
    """Tell what becomes of a label that Kafka took at `timestamp`, in milliseconds since 1970."""
    if asked is None:
        return "unknown"
    said = asked.said.get(label.annotator)
    results = {
        "not_expert": label.kind != "expert",
        "other_rubric": label.rubric_version != asked.key.rubric_version,
        "late": timestamp > asked.expires_at.timestamp() * 1000,
        "repeat": said is not None and label.rank == said[0],
        "older": said is not None and label.rank < said[0],
        "too_many": said is None and len(asked.said) >= _MOST_ANNOTATORS,
        "withdrawn": label.withdrawn,
        "replaced": said is not None and said[1] is not None,
    }
    return next((result for result, holds in results.items() if holds), "counted")


def _stored(key: SeriesId, kept: _Kept) -> bytes:
    stored = StoredLabels(
        key=key,
        applied=(kept.outcomes, kept.labels),
        anew=kept.anew,
        counted_at=kept.counted_at,
        told=kept.told,
        series=kept.series,
    )
    return orjson.dumps(stored.model_dump())
