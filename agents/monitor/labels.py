"""The labels' agent: asks people about some verdicts, and corrects the success rate by what they say."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

import structlog
from pydantic import Field, TypeAdapter, ValidationError

from agents.monitor.counter import Entry, Key, Partition, Raised, encoded
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.label_series import Draw, LabelKey, LabelSeries, alert_of, calibration_of
from agents.monitor.metrics import LabelMetrics
from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.rate_alarm import Worth
from agents.monitor.settings import LabelSettings
from agents.monitor.versions import counted, ids_of
from agents.routing import sample_point
from agents.runtime import Runtime
from schemas import Calibration, Label, ReviewRequest, TrueRateAlert, content_id
from schemas.base import Name
from streams.messages import Outgoing, calibration_message, request_message
from streams.topic_reader import read_topic

EXPIRES_AFTER: Final = timedelta(days=14)  # A label is waited for that long, and can be replaced as long.
_SECOND: Final = 0.1  # The share of the drawn verdicts that a second person is asked about.
_FLUSH_SECONDS: Final = 2.0  # Between writes of the state: a request, and what a label changes, is seen after that.
_PUBLISH_SECONDS: Final = 60.0  # Pause between two calibrations whose labels are the same.
_MOST_ANNOTATORS: Final = 20
_COUNT: Final = ("counted", "replaced", "withdrawn")
_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)

_log = structlog.get_logger(__name__)


class LabelEntry(Entry):
    """A series of verdicts and labels."""

    key: LabelKey
    series: LabelSeries = Field(default_factory=LabelSeries)
    alerts: int = 0  # Raised so far.
    # The last that was published; None if another is to be.
    calibration: Calibration | None = Field(default=None, exclude=True)


@dataclass(slots=True)
class Asked:
    """A drawn verdict, and what people have said of it so far."""

    key: LabelKey
    draw: Draw
    expires_at: datetime
    labels: dict[str, tuple[tuple[Any, ...], float | None]] = field(default_factory=dict)
    """By annotator, the rank and the value of the last label; no value if it takes back the one before."""
    is_bet_on: bool = False  # True from its first label on, also if that was taken back.

    @property
    def said(self) -> tuple[float | None, bool, bool]:
        """The mean of what people say, whether two of them say something, and whether all say the same then."""
        values = [value for _, value in self.labels.values() if value is not None]
        two = len(values) > 1
        return sum(values) / len(values) if values else None, two, two and len(set(values)) == 1


class LabelPartition(Partition[LabelEntry, LabelSettings, LabelMetrics]):
    """Counts the outcomes and labels of the partitions with one number.

    Requests are published before the state that has them as asked for. They are then facts: the next owner reads
    them back, and draws the same ones again, from the same state.
    """

    @cached_property
    def _asked(self) -> dict[str, Asked]:
        return {}

    @property
    def calibrations(self) -> Iterator[tuple[Key, Calibration]]:
        """The last calibration of each series."""
        return ((key, each.calibration) for key, each in self.entries.items() if each.calibration is not None)

    def ask_again(self, requests: Iterable[bytes]) -> None:
        """Wait for the answers to requests that were published before."""
        for value in requests:
            try:
                self._ask(ReviewRequest.model_validate_json(value))
            except ValidationError as error:
                _log.warning("no request", faults=error.error_count())

    def forget_old(self) -> list[Key]:
        """Forget also the requests that are not waited for any more."""
        self._asked = {id_: asked for id_, asked in self._asked.items() if asked.expires_at >= self._now}
        return super().forget_old()

    def _read(self, stored: bytes) -> LabelEntry:
        entry = LabelEntry.model_validate_json(stored)
        if entry.series.labels:
            entry.calibration = calibration_of(entry.key, entry.series, self._now)
        return entry

    def _key(self, outcome: SeriesOutcome) -> LabelKey:
        digest = _NAME.validate_python(outcome.version.get("config_digest"))
        return LabelKey(*outcome.key, digest, self._settings.rubric_version)

    def _begin(self, key: Key) -> LabelEntry:
        return LabelEntry(key=LabelKey(*key))

    def _before_storing(self, entry: LabelEntry) -> Iterable[Outgoing]:
        entry.series.settle()
        last = entry.calibration
        if last is not None and last.updated_at.timestamp() >= self._clock() - _PUBLISH_SECONDS:
            return ()
        entry.calibration = calibration_of(entry.key, entry.series, self._now)
        return (calibration_message(entry.calibration, self._topics, encoded(entry.key), self.number),)

    def _count(self, record: Any, *, before: bool) -> object | None:
        if record.topic == self._topics.labels:
            return self._count_label(record, before=before)
        return super()._count(record, before=before)

    def _count_verdict(self, entry: LabelEntry, outcome: SeriesOutcome) -> None:
        draw = entry.series.count(
            outcome.verdict_id,
            accepted=outcome.accepted,
            at=outcome.checked_at.timestamp(),
            budget=self._settings.per_hour,
            score=outcome.score,
            share=outcome.share,
            attributes=outcome.attributes,
        )
        if len(ids := ids_of(outcome.version)) > 1:
            entry.series.versions = counted(entry.series.versions, outcome, ids, drawn=draw is not None)
        if draw is not None:
            self._request(entry.key, outcome, draw)

    def _request(self, key: LabelKey, outcome: SeriesOutcome, draw: Draw) -> None:
        second = sample_point("second opinion", outcome.verdict_id) < _SECOND
        for reason in ("sample", "second_opinion")[: 1 + second]:
            request = ReviewRequest(
                **key._asdict(),
                **outcome.model_dump(include={"verdict_id", "record_id", "score", "origin", "share"}),
                id=content_id("req", [outcome.verdict_id, key.rubric_version, reason]),
                version=outcome.version,
                outcome="accept" if outcome.accepted else "reject",
                stratum=draw.stratum,
                inclusion_probability=draw.probability,
                reason=reason,
                asked_at=self._now,
                expires_at=self._now + EXPIRES_AFTER,
                terms=draw.worth,
            )
            self._ask(request)
            self._outbox.append(request_message(request, self._topics))
            self._metrics.requests.labels(key.checker).inc()

    def _ask(self, request: ReviewRequest) -> None:
        if request.inclusion_probability is None or request.terms is None:
            # A complaint: with no known probability, what is said of it would shift the rate.
            return
        key = LabelKey(**{name: getattr(request, name) for name in LabelKey._fields})
        how = request.stratum, request.inclusion_probability, Worth(*request.terms), request.share
        draw = Draw(*how, ids_of(request.version)[-1])
        self._asked.setdefault(request.verdict_id, Asked(key, draw, request.expires_at))

    def _count_label(self, record: Any, *, before: bool) -> TrueRateAlert | None:
        try:
            label = Label.model_validate_json(record.value or b"")
        except ValidationError:
            result, asked = "unreadable", None
        else:
            asked = self._asked.get(label.verdict_id)
            result = _result(label, asked, record.timestamp)
        alert = None
        # The state of a request may be lost that was published just before a kill: its series then begins with it.
        entry = None if asked is None else self._entry(asked.key)
        if result in _COUNT and asked is not None and entry is not None:
            (good, two, same), again = asked.said, asked.is_bet_on
            asked.labels[label.annotator] = label.rank, label.value
            good_now, two_now, same_now = asked.said
            asked.is_bet_on |= good_now is not None
            before = before or entry.is_counted(record)
            if not before:
                entry.calibration = None
                self._note(entry, record)
                entry.series.pairs += two_now - two
                entry.series.pairs_agreed += same_now - same
                if cause := entry.series.label(label.verdict_id, asked.draw, good, good_now, again=again):
                    entry.alerts += 1
                    alert = alert_of(asked.key, entry.series, cause, entry.alerts, self._now)
                    self._raise(alert)
        if not before:
            self._metrics.labels.labels(result).inc()
            _log.debug("a label came", result=result)
        return alert


def _result(label: Label, asked: Asked | None, timestamp: int) -> str:
    """Return what becomes of a label that Kafka took at `timestamp`, in milliseconds since 1970."""
    if asked is None:
        return "unknown"
    last = asked.labels.get(label.annotator)
    results = {
        "not_expert": label.kind != "expert",
        "other_rubric": label.rubric_version != asked.key.rubric_version,
        "late": timestamp > asked.expires_at.timestamp() * 1000,
        "repeat": last is not None and label.rank == last[0],
        "older": last is not None and label.rank < last[0],
        "too_many": last is None and len(asked.labels) >= _MOST_ANNOTATORS,
        "withdrawn": label.withdrawn,
        "replaced": last is not None and last[1] is not None,
    }
    return next((result for result, holds in results.items() if holds), "counted")


class LabelsAgent(CounterAgent[LabelPartition]):
    """Counts each verdict and each label once, and loses no request, even if workers are killed."""

    name = "labels"
    most_series = 2_000

    def __init__(self, settings: LabelSettings, runtime: Runtime, *, flush_seconds: float = _FLUSH_SECONDS) -> None:
        topics = runtime.settings.topics
        reads, writes = [topics.outcomes, topics.labels], [topics.review_requests, topics.calibration, topics.alerts]
        super().__init__(runtime, reads, writes, topics.label_state, flush_seconds)
        self._settings = settings
        self._metrics = LabelMetrics(runtime.metrics)
        self._metrics.watch(lambda: (each for one in self._partitions.values() for each in one.calibrations))

    async def _new(self, number: int) -> LabelPartition:
        most, remember = self._most, self.remembered
        partition = LabelPartition(number, self._settings, self._topics, self._metrics, most=most, remember=remember)
        kafka, since = self._runtime.settings.kafka, datetime.now(UTC) - EXPIRES_AFTER
        requests = read_topic(kafka, self._topics.review_requests, numbers=[number], since=since)
        partition.ask_again([each.value or b"" async for each in requests])
        return partition

    def _published(self, alert: Raised) -> None:
        if isinstance(alert, TrueRateAlert):
            self._metrics.alerts.labels(alert.checker, alert.cause).inc()
