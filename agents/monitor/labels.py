"""The labels' agent: asks people about some verdicts, and corrects the success rate by what they say."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import chain
from typing import Final

from prometheus_client import Counter
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from pydantic import TypeAdapter, ValidationError

from agents.monitor.counter import Entry, Key, Partition, encoded, labels_of, series_gauge
from agents.monitor.counter_agent import CounterAgent
from agents.monitor.label_series import Draw, LabelKey, LabelSeries, alert_of, calibration_of
from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.settings import LabelSettings
from agents.monitor.versions import ids_of
from agents.routing import sample_point
from agents.runtime import Runtime
from schemas import Calibration, Label, ReviewRequest, content_id
from schemas.base import Name
from streams.clients import Received
from streams.messages import Outgoing, calibration_message, request_message
from streams.metrics import OTHER, StreamMetrics
from streams.settings import KafkaSettings
from streams.topic_reader import read_topic

EXPIRES_AFTER: Final = timedelta(days=14)  # A label is waited for that long, and can be replaced as long.
_SECOND: Final = 0.1  # The share of the drawn verdicts that a second person is asked about.
_FLUSH_SECONDS: Final = 2.0  # Between writes of the state: a request, and what a label changes, is seen after that.
_PUBLISH_SECONDS: Final = 60.0  # Pause between two calibrations whose labels are the same.
_MOST_ANNOTATORS: Final = 20
_MOST_SERIES: Final = 2_000
_COUNT: Final = ("counted", "replaced", "withdrawn")
_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)

RESULTS: Final = (
    *("counted", "replaced", "withdrawn", "repeat", "older", "unknown"),
    *("not_expert", "other_rubric", "late", "too_many", "unreadable"),
)  # What may become of a label.

LabelEntry = Entry[LabelSeries]


class LabelMetrics(Collector):
    """Counts of requests and labels, and what is known of each subject by the latest configuration of a checker."""

    def __init__(self, metrics: StreamMetrics) -> None:
        counter = partial(Counter, registry=metrics.registry)
        self.requests = counter("assay_review_requests", "Verdicts that people were asked about", ["checker"])
        self.labels = counter("assay_labels", "Labels, by what became of them", ["result"])
        self.alerts = counter("assay_true_rate_alerts", "Alerts on the true success rate", ["checker", "cause"])
        for result in RESULTS:
            # Prometheus sees no increase in a series that begins at 1.
            self.labels.labels(result)
        self._metrics = metrics
        self.rows: Callable[[], Iterable[tuple[Key, Calibration]]] = tuple  # Called at every scrape.
        metrics.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        seen = "success rate as people see it, by an interval of 95% that holds at every look"
        rate = {
            "estimate": series_gauge("assay_true_success_ratio", "Success rate as people see it"),
            "low": series_gauge("assay_true_success_lower_ratio", f"Least {seen}"),
            "high": series_gauge("assay_true_success_upper_ratio", f"Highest {seen}"),
        }
        kappa = series_gauge("assay_judge_kappa", "Agreement of the judge with people")
        answered = series_gauge("assay_review_answered_ratio", "Share of the requests that have a label", "outcome")
        fallen = series_gauge("assay_true_rate_fallen", "1 from an alarm on the true success rate to its recovery")
        rows = sorted(self.rows(), key=lambda each: each[1].updated_at)
        for labels, row in {labels_of(self._metrics, key): row for key, row in rows}.items():
            if labels[1:] == (OTHER, OTHER):
                continue
            for name, gauge in rate.items() if row.rate is not None else ():
                gauge.add_metric(labels, getattr(row.rate, name))
            if row.kappa is not None:
                kappa.add_metric(labels, row.kappa.estimate)
            for each in row.strata:
                if each.asked:
                    answered.add_metric([*labels, each.stratum], each.answered)
            fallen.add_metric(labels, row.fallen)
        yield from (*rate.values(), kappa, answered, fallen)


@dataclass(slots=True)
class AskedRequest:
    """A drawn verdict, and what people have said of it so far."""

    key: LabelKey
    draw: Draw
    expires_at: datetime
    # By annotator, the rank and the value of the last label; no value if it takes back the one before.
    labels: dict[str, tuple[tuple[datetime, bool, float], float | None]] = field(default_factory=dict)
    is_bet_on: bool = False  # True from its first label on, also if that was taken back.

    @property
    def said(self) -> tuple[float | None, bool, bool]:
        """The mean of what people say, whether two of them say something, and whether all say the same then."""
        values = [value for _, value in self.labels.values() if value is not None]
        two = len(values) > 1
        return sum(values) / len(values) if values else None, two, two and len(set(values)) == 1


class LabelPartition(Partition[LabelSeries, LabelSettings, LabelMetrics]):
    """Counts the outcomes and labels of the partitions with one number.

    Requests are published before the state that has them as asked for. They are then facts: the next owner reads
    them back, and draws the same ones again, from the same state.
    """

    @cached_property
    def _asked(self) -> dict[str, AskedRequest]:
        return {}

    @cached_property
    def calibrations(self) -> dict[Key, Calibration]:
        """The last calibration of each series; of one that is without, another is to be published."""
        return {}

    async def begin(self, kafka: KafkaSettings) -> None:
        since = self._now - EXPIRES_AFTER
        async for each in read_topic(kafka, self._topics.review_requests, numbers=[self.number], since=since):
            self.ask_again(each.value or b"")

    def ask_again(self, request: bytes) -> None:
        """Wait for the answer to a request that was published before."""
        with suppress(ValidationError):
            self._ask(ReviewRequest.model_validate_json(request))

    def forget_old(self) -> list[Key]:
        """Forget also the requests that are not waited for any more."""
        self._asked = {id_: asked for id_, asked in self._asked.items() if asked.expires_at >= self._now}
        old = super().forget_old()
        self.calibrations = {key: each for key, each in self.calibrations.items() if key in self.entries}
        return old

    def _read(self, stored: bytes) -> LabelEntry:
        entry = LabelEntry.model_validate_json(stored)
        if entry.series.labels:
            self.calibrations[entry.key] = calibration_of(LabelKey(*entry.key), entry.series, self._now)
        return entry

    def _key(self, outcome: SeriesOutcome) -> LabelKey:
        digest = _NAME.validate_python(outcome.version.get("config_digest"))
        return LabelKey(*outcome.key, digest, self._settings.rubric_version)

    def _begin(self, key: Key) -> LabelEntry:
        return LabelEntry(key=key, series=LabelSeries())

    def _before_storing(self, entry: LabelEntry) -> Iterable[Outgoing]:
        entry.series.settle()
        last = self.calibrations.get(entry.key)
        if last is not None and last.updated_at.timestamp() >= self._clock() - _PUBLISH_SECONDS:
            return ()
        self.calibrations[entry.key] = new = calibration_of(LabelKey(*entry.key), entry.series, self._now)
        return (calibration_message(new, self._topics, encoded(entry.key), self.number),)

    def _count(self, record: Received, *, before: bool) -> None:
        count = self._count_label if record.topic == self._topics.labels else super()._count
        count(record, before=before)

    def _count_verdict(self, entry: LabelEntry, outcome: SeriesOutcome) -> None:
        if (draw := entry.series.count(outcome, self._settings.per_hour)) is not None:
            self._request(LabelKey(*entry.key), outcome, draw)

    def _request(self, key: LabelKey, outcome: SeriesOutcome, draw: Draw) -> None:
        second = sample_point("second opinion", outcome.verdict_id) < _SECOND
        for reason in ("sample", "second_opinion")[: 1 + second]:
            request = ReviewRequest(
                **key._asdict(),
                **outcome.model_dump(include={"verdict_id", "record_id", "score", "origin", "share"}),
                id=content_id("req", [outcome.verdict_id, key.rubric_version, reason]),
                version=outcome.version,
                outcome=outcome.outcome,
                stratum=draw.stratum,
                inclusion_probability=draw.probability,
                reason=reason,
                asked_at=self._now,
                expires_at=self._now + EXPIRES_AFTER,
                terms=draw.terms,
            )
            self._ask(request)
            self._outbox.append(request_message(request, self._topics))
            self._metrics.requests.labels(key.checker).inc()

    def _ask(self, request: ReviewRequest) -> None:
        if request.inclusion_probability is None or request.terms is None:
            # A complaint: with no known probability, what is said of it would shift the rate.
            return
        key = LabelKey(**{name: getattr(request, name) for name in LabelKey._fields})
        how = request.stratum, request.inclusion_probability, request.terms, request.share
        draw = Draw(*how, ids_of(request.version)[-1])
        self._asked.setdefault(request.verdict_id, AskedRequest(key, draw, request.expires_at))

    def _count_label(self, record: Received, *, before: bool) -> None:
        label = asked = None
        with suppress(ValidationError):
            label = Label.model_validate_json(record.value or b"")
            asked = self._asked.get(label.verdict_id)
        result = _result(label, asked, record.timestamp)
        # The state of a request may be lost that was published just before a kill: its series then begins with it.
        entry = None if asked is None else self._entry(asked.key)
        if result in _COUNT and label is not None and asked is not None and entry is not None:
            (good, two, same), again = asked.said, asked.is_bet_on
            asked.labels[label.annotator] = label.rank, label.value
            good_now, two_now, same_now = asked.said
            asked.is_bet_on |= good_now is not None
            before = before or entry.is_counted(record)
            if not before:
                self.calibrations.pop(entry.key, None)
                self._note(entry, record)
                entry.series.pairs += two_now - two
                entry.series.pairs_agreed += same_now - same
                if cause := entry.series.label(label.verdict_id, asked.draw, good, good_now, again=again):
                    published = self._metrics.alerts.labels(asked.key.checker, cause).inc
                    self._raise(alert_of(asked.key, entry.series, cause, self._now), published)
        if not before:
            self._metrics.labels.labels(result).inc()


def _result(label: Label | None, asked: AskedRequest | None, timestamp: int) -> str:
    """Return what becomes of a label that Kafka took at `timestamp`, in milliseconds since 1970."""
    if label is None or asked is None:
        return "unreadable" if label is None else "unknown"
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


def labels_agent(
    settings: LabelSettings, runtime: Runtime, *, flush_seconds: float = _FLUSH_SECONDS
) -> CounterAgent[LabelPartition]:
    """The agent, which counts each verdict and each label once, and loses no request, even if workers are killed."""
    topics, metrics = runtime.settings.topics, LabelMetrics(runtime.metrics)
    agent = CounterAgent(
        runtime,
        "labels",
        partial(LabelPartition, settings, topics, metrics),
        reads=[topics.outcomes, topics.labels],
        writes=[topics.review_requests, topics.calibration, topics.alerts],
        state=topics.label_state,
        most_series=_MOST_SERIES,
        flush_seconds=flush_seconds,
    )
    metrics.rows = lambda: chain.from_iterable(each.calibrations.items() for each in agent.partitions.values())
    return agent
