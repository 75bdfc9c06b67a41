"""Verdicts and their outcomes, straight onto their topics, and what the trust monitor made of them."""

import asyncio
import copy
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiokafka import AIOKafkaProducer
from pydantic import TypeAdapter

from agents.checker_agent import outcome_message
from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.settings import TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from schemas import Alert, SeriesAnew, Verdict, verdict_id
from schemas.evidence import PluginEvidence
from streams.messages import verdict_message
from streams.settings import KafkaSettings, TopicSettings
from streams.topic_reader import read_topic
from tests.support.rejections import rejection
from tests.support.waiting import until

FIXED: dict[str, Any] = {"baselines": [{"rate": 0.9}]}
"""Settings of a monitor that learns nothing."""


def verdict(
    number: int, accepted: bool, *, source: str = "shop", model: str = "m", checker: str = "fair", **more: Any
) -> Verdict:
    """The verdict on a subject's record of that number."""
    given: dict[str, Any] = {
        "id": verdict_id(source + model, f"r{number}", checker, "d"),
        "checker": checker,
        "outcome": "accept" if accepted else "reject",
        "score": 1.0 if accepted else 0.0,
        "reason": f"Reason {number}.",
        "evidence": PluginEvidence(checker=checker, findings={}),
        "source": source,
        "model": model,
        "judge": "",
        "checked_at": datetime.now(UTC),
    }
    return rejection(number, "outputs", **given | more)


def outcome_of(each: Verdict) -> SeriesOutcome:
    """The part of a verdict that the monitor reads."""
    return SeriesOutcome.model_validate_json(outcome_message(each, TopicSettings()).value or b"")


def stream(rates: list[tuple[int, float]], *, seed: int = 1, **subject: Any) -> list[Verdict]:
    """Verdicts on one subject: so many at each success rate."""
    rng = random.Random(seed)
    outcomes = [rng.random() < rate for count, rate in rates for _ in range(count)]
    return [verdict(number, accepted, **subject) for number, accepted in enumerate(outcomes)]


def mixed(*streams: list[Verdict]) -> Iterator[Verdict]:
    """In turns."""
    for group in zip(*streams, strict=True):
        yield from group


async def put_verdicts(
    servers: str,
    topics: TopicSettings,
    verdicts: Iterable[Verdict],
    *,
    begin_ms: int | None = None,
    every_ms: int = 1,
    pause: float = 0.0,
) -> int:
    """Send them in order, stamped as made `every_ms` one after the other from `begin_ms` on, or now; how many.

    `pause`: seconds between any hundred and the next.
    """
    producer = AIOKafkaProducer(bootstrap_servers=servers, linger_ms=5, acks="all")
    await producer.start()
    try:
        acks = []
        for number, each in enumerate(verdicts):
            if pause and number % 100 == 0:
                await asyncio.sleep(pause)
            acks += [
                await producer.send(
                    message.topic,
                    message.value,
                    key=message.key,
                    headers=message.headers,
                    timestamp_ms=None if begin_ms is None else begin_ms + number * every_ms,
                )
                for message in (verdict_message(each, topics), outcome_message(each, topics))
            ]
        await asyncio.gather(*acks)
        return len(acks) // 2
    finally:
        await producer.stop()


async def put_keyed(servers: str, topic: str, key: bytes, value: bytes | None, *, headers: Any = ()) -> None:
    """Send one message as it is, to the first partition."""
    producer = AIOKafkaProducer(bootstrap_servers=servers, acks="all")
    await producer.start()
    try:
        await producer.send_and_wait(topic, value, key=key, partition=0, headers=list(headers))
    finally:
        await producer.stop()


async def read_all(servers: str, topic: str) -> list[Any]:
    """The messages that are on a topic now."""
    return [message async for message in read_topic(KafkaSettings(bootstrap_servers=servers), topic)]


def statistics(series: dict[str, Any]) -> dict[str, Any]:
    """A series' state as JSON, but for when its alert was raised, and where its verdicts stand on topics."""
    rejected = [record for test in series["tests"].values() for _, record in test["rejected"]]
    if series["alert"] is not None:
        del series["alert"]["raised_at"]
        rejected += series["alert"]["rejected"]
    for record in rejected:
        del record["verdict_origin"]
    return series


def replayed(verdicts: Iterable[Verdict], **trust: Any) -> tuple[dict[str, Any], list[Alert | SeriesAnew]]:
    """The result of one subject's series without a broker: its statistics, and the alerts on the way."""
    series: TrustSeries | None = None
    alerts = []
    for each in verdicts:
        outcome = outcome_of(each)
        series = series or TrustSeries(Plan.of(TrustSettings.model_validate(trust), outcome.key))
        alert = series.update(outcome, datetime.now(UTC))
        if alert is not None:
            alerts.append(alert)
    assert series is not None
    return statistics(TypeAdapter(TrustSeries).dump_python(series, mode="json")), alerts


@dataclass
class Kept:
    """The messages that the monitor has written."""

    series: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    alerts: list[Alert] = field(default_factory=list)
    """As published, repeats included."""
    anew: list[SeriesAnew] = field(default_factory=list)
    """The series begun anew, as published."""

    @property
    def counted(self) -> dict[tuple[str, ...], int]:
        """Verdicts counted, by series."""
        return {key: state["series"]["counted"] for key, state in self.series.items()}

    def statistics(self, *key: str) -> dict[str, Any]:
        """Those of a series, to be compared with the ones of `replayed`."""
        return statistics(copy.deepcopy(self.series[key]["series"]))

    @property
    def told(self) -> dict[str, Alert | SeriesAnew]:
        """Alerts and series begun anew, by id."""
        return {each.id: each for each in (*self.alerts, *self.anew)}


async def kept(servers: str, topics: TopicSettings) -> Kept:
    found = Kept()
    latest = {record.key: record.value for record in await read_all(servers, topics.trust_state)}
    for state in map(json.loads, filter(None, latest.values())):
        found.series[tuple(state["key"])] = state
    told: TypeAdapter[Alert | SeriesAnew] = TypeAdapter(Alert | SeriesAnew)
    for each in [told.validate_json(record.value) for record in await read_all(servers, topics.alerts)]:
        if isinstance(each, Alert):
            found.alerts.append(each)
        else:
            found.anew.append(each)
    return found


async def kept_when_counted(servers: str, topics: TopicSettings, verdicts: int) -> Kept:
    """Read it once so many verdicts are counted, over all series."""

    async def complete() -> Kept | None:
        found = await kept(servers, topics)
        return found if sum(found.counted.values()) >= verdicts else None

    return await until(complete)
