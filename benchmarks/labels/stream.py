"""The same figures by way of Kafka: many series in one topic, drawn, asked about, answered and corrected by the agent.

Verdicts go onto a broker in rounds, people answer every request of a round, and what the agent tells on its topics is
held against the truth, and against the same verdicts and answers without a broker.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

import numpy as np
import orjson
from aiokafka import AIOKafkaProducer, TopicPartition

from agents.monitor.label_series import LabelSeries
from agents.monitor.labels import labels_agent
from agents.monitor.settings import LabelSettings
from benchmarks.labels.simulation import JUDGES, SCORED_LOW
from benchmarks.tables import table
from schemas import Calibration, Label, ReviewRequest, TrueRateAlert, to_json
from streams.clients import admin, reader
from streams.logs import configure_logs
from streams.messages import subject_key
from streams.settings import KafkaSettings, StreamSettings, TopicSettings
from streams.topics import create_topics
from tests.support.kafka import running_kafka
from tests.support.workers import agents_here

_ROUNDS: Final = 24
_OF_A_ROUND: Final = 250
"""Verdicts of each series in a round, at 1,000 an hour: of 6,000 some 850 are drawn."""
_PARTITIONS: Final = 4
_SECONDS: Final = 3.6
_AN_HOUR: Final = 100.0
_BELOW: Final = 0.90
_RATES: Final = {"stays": 0.90, "is lower": 0.80}
_BEGUN: Final = datetime(2026, 3, 2, tzinfo=UTC)
_FALLS: Final = ("unknown", "model", "judge_blind")
_CHECKED_AT: Final = 300
_COVERED: Final = 0.95
_CLOSE: Final = 1e-9


@dataclass
class Subject:
    """A series: its verdicts and their truth, and what was told of it."""

    judge: str
    course: str
    seed: int
    told: list[Calibration] = field(default_factory=list)
    alerts: list[int] = field(default_factory=list)
    """Labels at each alarm."""

    @property
    def name(self) -> str:
        return f"{self.judge} {self.course} {self.seed}"

    @cached_property
    def drawn(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Whether each output is good, whether it is accepted, and its score."""
        rng = np.random.default_rng([self.seed, *self.name.encode()])
        count, (accepts, rejects) = _ROUNDS * _OF_A_ROUND, JUDGES[self.judge]
        good = rng.random(count) < _RATES[self.course]
        accepted = rng.random(count) < np.where(good, accepts, 1 - rejects)
        low = rng.random(count) < np.where(good, *SCORED_LOW)
        return good, accepted, np.round((rng.random(count) + ~low) / 2, 3)

    def verdict_id(self, number: int) -> str:
        return f"{self.name}/{number}"

    def outcomes(self, begin: int) -> Iterator[bytes]:
        """The messages of a round."""
        _, accepted, scores = self.drawn
        for number in range(begin, begin + _OF_A_ROUND):
            id_, at = self.verdict_id(number), _BEGUN + timedelta(seconds=_SECONDS * number)
            rejected = {"verdict_id": id_, "record_id": id_, "reason": "no", "checked_at": at, "origin": None}
            yield orjson.dumps(
                {
                    "source": "shop",
                    "model": self.name,
                    "checker": self.judge,
                    "verdict_id": id_,
                    "version": {"config_digest": "d"},
                    "moment": at,
                    "rejected": None if accepted[number] else rejected,
                    "record_id": id_,
                    "score": float(scores[number]),
                    "checked_at": at,
                }
            )

    def truth(self, verdicts: int) -> float:
        return float(self.drawn[0][:verdicts].mean())

    def figures(self, looks: list[tuple[float, float, float, int]]) -> tuple[bool, float]:
        """Whether all looks (low, high, truth, labels) hold the truth, and half the width from 300 labels on."""
        first = next(look for look in looks if look[3] >= _CHECKED_AT)
        return all(low <= truth <= high for low, high, truth, _ in looks), (first[1] - first[0]) / 2

    def without_a_broker(self) -> tuple[tuple[bool, float], int | None]:
        """The same figures by the formulas alone, and the labels at the first alarm."""
        good, accepted, scores = self.drawn
        series, looks, alarm = LabelSeries(), [], None
        series.settle(_BELOW)
        for begin in range(0, len(good), _OF_A_ROUND):
            draws = []
            for number in range(begin, begin + _OF_A_ROUND):
                at, score = (_BEGUN + timedelta(seconds=_SECONDS * number)).timestamp(), float(scores[number])
                id_ = self.verdict_id(number)
                draw = series.count(id_, accepted=bool(accepted[number]), at=at, budget=_AN_HOUR, score=score)
                draws += [] if draw is None else [(number, draw)]
            for number, draw in draws:
                if series.label(self.verdict_id(number), draw, None, float(good[number])) in _FALLS:
                    alarm = alarm or series.labels
            series.settle(_BELOW)
            if (rate := series.rate()) is not None:
                looks.append((rate.low, rate.high, self.truth(begin + _OF_A_ROUND), series.labels))
        return self.figures(looks), alarm


def run(series: int) -> bool:
    """Print the figures by way of Kafka beside those without; false if they differ or miss a bound."""
    subjects = {
        each.name: each
        for judge in JUDGES
        for course in _RATES
        for each in (Subject(judge, course, seed) for seed in range(series if course == "stays" else series // 2))
    }
    configure_logs("error")
    with running_kafka(fast=True) as broker:
        begun, processor = time.monotonic(), time.process_time()
        labels, off = asyncio.run(_through(broker.bootstrap_servers, subjects))
        seconds, processor = time.monotonic() - begun, time.process_time() - processor
    rows, held = [], off < _CLOSE
    for judge in JUDGES:
        of = [each for each in subjects.values() if each.judge == judge]
        stays, lower = ([each for each in of if each.course == course] for course in _RATES)
        looks = {
            each.name: [
                (told.rate.low, told.rate.high, each.truth(told.verdicts), told.labels)
                for told in each.told
                if told.rate is not None
            ]
            for each in stays
        }
        told = _row([each.figures(looks[each.name]) for each in stays], stays, [each.alerts[:1] for each in lower])
        alone = [each.without_a_broker() for each in of]
        by_formula = _row(
            [figures for figures, _ in alone[: len(stays)]],
            [None] * len(stays),
            [[alarm] if alarm else [] for _, alarm in alone[len(stays) :]],
            false=sum(alarm is not None for _, alarm in alone[: len(stays)]),
        )
        held &= told[0] >= _COVERED
        rows += [[judge, "Kafka", *_shown(told)], [judge, "formulas alone", *_shown(by_formula)]]
    print(table(["judge", "by way of", "covered at all looks", "half-width at 300", "false alarms", "fall told"], rows))
    count = len(subjects) * _ROUNDS * _OF_A_ROUND
    print(
        f"\n{len(subjects)} series on one topic: {count:,} verdicts, {labels:,} labels in {seconds:.0f} s, of the "
        f"processor {processor / (count + labels) * 1e6:.0f} µs each. The last rates differ from those of the "
        f"requests and labels on the topics by at most {off:.1g}."
    )
    return held


def _row(
    figures: list[tuple[bool, float]], stays: list[Any], found: list[list[int]], *, false: int | None = None
) -> tuple[float, float, float, float]:
    covered, widths = zip(*figures, strict=True)
    alarms = sum(bool(each.alerts) for each in stays) if false is None else false
    first = [each[0] if each else float("inf") for each in found]
    return float(np.mean(covered)), float(np.mean(widths)), alarms / len(stays), float(np.median(first))


def _shown(row: tuple[float, float, float, float]) -> list[str]:
    return [f"{row[0]:.3f}", f"{row[1]:.3f}", f"{row[2]:.4f}", f"{row[3]:.0f}"]


async def _through(servers: str, subjects: Mapping[str, Subject]) -> tuple[int, float]:
    """Send verdicts, answer what is asked, and collect what is told; labels, and how far the last rates are off."""
    topics = TopicSettings(prefix="labels", partitions=_PARTITIONS)
    settings = StreamSettings(kafka=KafkaSettings(bootstrap_servers=servers), topics=topics)
    await create_topics(settings)
    agent = labels_agent(LabelSettings(per_hour=_AN_HOUR, alarm_below=_BELOW), flush_seconds=0.2)
    producer = AIOKafkaProducer(bootstrap_servers=servers, linger_ms=20, acks="all", max_batch_size=1 << 18)
    await producer.start()
    asked: defaultdict[str, list[ReviewRequest]] = defaultdict(list)
    labels = 0
    async with agents_here([agent], settings), reader(settings.kafka) as consumer, admin(settings.kafka) as client:
        places = [
            TopicPartition(topic, number)
            for topic in (topics.review_requests, topics.calibration, topics.alerts)
            for number in range(_PARTITIONS)
        ]
        consumer.assign(places)
        await consumer.seek_to_beginning(*places)
        for begin in range(0, _ROUNDS * _OF_A_ROUND, _OF_A_ROUND):
            for each in subjects.values():
                key = subject_key("shop", each.name)
                for value in each.outcomes(begin):
                    await producer.send(topics.outcomes, value, key=key)
            await producer.flush()
            await _counted(client, consumer, topics)
            for request in await _told(consumer, topics, subjects):
                if request.reason == "second_opinion":
                    continue
                asked[request.model].append(request)
                good = subjects[request.model].drawn[0][int(request.verdict_id.rpartition("/")[2])]
                answer = Label(
                    verdict_id=request.verdict_id,
                    source=request.source,
                    model=request.model,
                    annotator="ada",
                    label="good" if good else "bad",
                )
                key = subject_key(request.source, request.model)
                await producer.send(topics.labels, to_json(answer), key=key)
                labels += 1
            await producer.flush()
            await _counted(client, consumer, topics)
            await _told(consumer, topics, subjects)
    await producer.stop()
    return labels, max(_off(each, asked[name]) for name, each in subjects.items())


def _off(subject: Subject, asked: list[ReviewRequest]) -> float:
    """Distance of the last share of good accepts from that of the requests' own probabilities."""
    last = subject.told[-1]
    of = [each for each in asked if each.outcome == "accept"]
    weights = np.array([1 / (each.inclusion_probability or 1.0) for each in of])
    good = subject.drawn[0][[int(each.verdict_id.rpartition("/")[2]) for each in of]]
    return abs(float((weights * good).sum() / weights.sum()) - last.strata[0].good)


async def _counted(client: Any, consumer: Any, topics: TopicSettings) -> None:
    """Wait until the agent has committed all that is on its topics."""
    ends = await consumer.end_offsets(
        [TopicPartition(topic, number) for topic in (topics.outcomes, topics.labels) for number in range(_PARTITIONS)]
    )
    while True:
        found = await client.list_consumer_group_offsets(f"{topics.prefix}.labels")
        if all((found[place].offset if place in found else 0) >= end for place, end in ends.items()):
            return
        await asyncio.sleep(0.1)


async def _told(consumer: Any, topics: TopicSettings, subjects: Mapping[str, Subject]) -> list[ReviewRequest]:
    """Read what the agent has told since the last time; the requests."""
    requests = []
    ends = await consumer.end_offsets(list(consumer.assignment()))
    while any([await consumer.position(place) < end for place, end in ends.items()]):
        for place, messages in (await consumer.getmany(timeout_ms=500)).items():
            for message in messages:
                if place.topic == topics.review_requests:
                    requests.append(ReviewRequest.model_validate_json(message.value))
                elif place.topic == topics.calibration:
                    told = Calibration.model_validate_json(message.value)
                    subjects[told.model].told.append(told)
                else:
                    alert = TrueRateAlert.model_validate_json(message.value)
                    if alert.cause in _FALLS:
                        subjects[alert.model].alerts.append(alert.labels)
    return requests
