"""The monitor's promises on a broker: every verdict counts once, whatever is killed, and no alert is lost."""

import asyncio
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewPartitions

from schemas import Alert, SeriesAnew, Verdict
from streams.clients import admin
from streams.errors import StreamError
from streams.topics import partitions_of
from tests.support.kafka import KafkaBroker
from tests.support.scenarios import Place
from tests.support.trust_verdicts import (
    FIXED,
    kept_when_counted,
    mixed,
    put_keyed,
    put_verdicts,
    read_all,
    replayed,
    stream,
    verdict,
)
from tests.support.waiting import until
from tests.support.workers import WorkerProcess, monitor_here

KEY = ("shop", "m", "fair")


async def test_kill_9_in_mid_stream_counts_each_verdict_once_and_loses_no_alert(place: Place):
    """Also of verdicts that came twice, and of series that begin anew; to the last bit: as if nothing had been."""
    raw, settings = await place.ready(partitions=2, instance_id="only")
    rng = random.Random(7)
    subjects = [
        stream([(1500, 0.9), (600, 0.6), (900, 0.95), (1000, 0.5)], model=f"m{number}", seed=number)
        for number in range(4)
    ]
    for verdicts in subjects[:2]:
        verdicts[:500] = [each.model_copy(update={"judge": "before"}) for each in verdicts[:500]]
    sent = list(mixed(*subjects))
    for _ in range(1300):
        at = rng.randrange(len(sent))
        again = sent[at].model_copy(update={"outcome": "reject", "score": 0.0})
        sent.insert(min(len(sent), at + rng.randrange(1, 5000)), rng.choice([sent[at], again]))
    await put_verdicts(place.servers, settings.topics, sent, begin_ms=_ago(3600), every_ms=60)
    trust = FIXED | {"flush_seconds": 0.05}
    progress = await asyncio.to_thread(_kill_often, place, raw, trust, kills=3)
    async with monitor_here(raw, **trust):
        found = await kept_when_counted(place.servers, settings.topics, 4 * 4000)
    assert sum(count > 0 for count in progress) >= 2, progress
    assert progress[-1] < 4 * 4000, progress
    unique: dict[str, Verdict] = {}
    for each in sent:
        unique.setdefault(each.id, each)
    told = {}
    for verdicts in subjects:
        key = ("shop", verdicts[0].model, "fair")
        statistics, alerts = replayed((each for each in unique.values() if each.model == key[1]), **FIXED)
        assert found.counted[key] == 4000
        assert found.statistics(*key) == statistics
        told |= {alert.id: alert for alert in alerts}
    assert len(told) >= 14
    assert len({each.id for each in found.anew}) == 2
    assert set(found.told) == set(told)
    assert all(_same(found.told[id_], alert) for id_, alert in told.items())
    # Published again are those alone that a kill met between their publishing and its being written down.
    assert len(found.alerts) + len(found.anew) - len(told) <= 5


async def test_a_monitor_that_was_thought_dead_does_no_harm_when_it_wakes_up(place: Place):
    raw, settings = await place.ready(session_seconds=2)
    sent = stream([(2001, 0.9)])
    with _monitor_process(FIXED | {"flush_seconds": 1}, raw, place.folder / "dead.log") as dead:
        await asyncio.to_thread(dead.wait_ready)
        await put_verdicts(place.servers, settings.topics, sent[:500])
        series = 'assay_trust_verdicts_total{checker="fair",outcome="accept"}'
        await asyncio.to_thread(dead.wait_for, series, 1)
        # With something counted and not written down.
        await put_verdicts(place.servers, settings.topics, sent[500:1000])
        dead.signal(signal.SIGSTOP)
        async with monitor_here(raw, **FIXED):
            await kept_when_counted(place.servers, settings.topics, 1000)
            dead.signal(signal.SIGCONT)
            await put_verdicts(place.servers, settings.topics, sent[1000:2000], pause=0.05)
            await kept_when_counted(place.servers, settings.topics, 2000)
            await asyncio.to_thread(dead.wait_ready)
        await put_verdicts(place.servers, settings.topics, sent[2000:])
        found = await kept_when_counted(place.servers, settings.topics, 2001)
    assert found.counted == {KEY: 2001}


async def test_a_state_written_late_by_a_predecessor_is_not_taken_up(place: Place):
    raw, settings = await place.ready()
    sent = stream([(700, 0.9)])
    for first, end in ((0, 200), (200, 400)):
        await put_verdicts(place.servers, settings.topics, sent[first:end], begin_ms=_ago(3600) + first)
        async with monitor_here(raw, **FIXED):
            await kept_when_counted(place.servers, settings.topics, end)
    oldest = (await read_all(place.servers, settings.topics.trust_state))[0]
    await put_keyed(place.servers, settings.topics.trust_state, oldest.key, oldest.value, headers=oldest.headers)
    await put_verdicts(place.servers, settings.topics, sent[400:], begin_ms=_ago(3600) + 400)
    async with monitor_here(raw, **FIXED):
        found = await kept_when_counted(place.servers, settings.topics, 700)
    assert found.counted == {KEY: 700}
    assert found.statistics(*KEY) == replayed(sent, **FIXED)[0]


async def test_two_monitors_share_the_partitions_and_hand_them_over_in_mid_stream(place: Place):
    raw, settings = await place.ready(partitions=4)
    subjects = [stream([(1500, 0.9), (500, 0.5)], model=f"m{number}", seed=number) for number in range(8)]
    sent = list(mixed(*subjects))
    third = len(sent) // 3
    async with monitor_here(raw, **FIXED) as first:
        await put_verdicts(place.servers, settings.topics, sent[:third])
        sending = asyncio.create_task(put_verdicts(place.servers, settings.topics, sent[third:], pause=0.05))
        await first.wait_for("assay_trust_verdicts_total", 100, checker="fair", outcome="reject")
        async with monitor_here(raw, **FIXED) as second:
            await second.wait_for("assay_trust_verdicts_total", 100, checker="fair", outcome="reject")
            of = {"checker": "fair", "source": "shop", "model": "m0"}
            found = [each.metric("assay_trust_baseline_ratio", **of) for each in (first, second)]
            assert sum(found) == pytest.approx(0.895)
            await first.stop()
            await sending
            there = await kept_when_counted(place.servers, settings.topics, len(sent))
    assert set(there.counted.values()) == {2000}
    drops = [alert for alert in there.alerts if alert.kind == "trust_drop"]
    assert sorted({alert.model for alert in drops}) == [f"m{number}" for number in range(8)]
    assert len({alert.id for alert in there.alerts}) == len(there.alerts)


async def test_topics_of_different_partition_counts_are_refused_with_what_to_do(place: Place):
    raw, settings = await place.ready(partitions=2)
    async with admin(settings.kafka) as client:
        await client.create_partitions({settings.topics.outcomes: NewPartitions(3)})

    async def raised() -> bool:
        return len(await partitions_of(settings.kafka, settings.topics.outcomes)) == 3

    await until(raised)
    with pytest.raises(StreamError, match=r"outcomes has 3.*raise the others to 3"):
        async with monitor_here(raw):
            pass


async def test_a_topic_made_anew_is_counted_from_its_beginning(place: Place):
    raw, settings = await place.ready()
    await put_verdicts(place.servers, settings.topics, stream([(200, 0.9)]))
    async with monitor_here(raw):
        await kept_when_counted(place.servers, settings.topics, 200)
    async with admin(settings.kafka) as client:
        await client.delete_topics([settings.topics.outcomes])

        async def is_gone() -> bool:
            return settings.topics.outcomes not in await client.list_topics()

        await until(is_gone)
    await asyncio.to_thread(place.prepare, raw)
    for first, end in ((200, 250), (250, 260)):
        # And what is written from then on holds, although what was written before had come farther.
        await put_verdicts(place.servers, settings.topics, _later(first, end - first))
        async with monitor_here(raw):
            found = await kept_when_counted(place.servers, settings.topics, end)
        assert found.counted == {KEY: end}


async def test_it_outlives_its_broker(own_kafka: KafkaBroker, tmp_path: Path):
    place = Place(own_kafka.bootstrap_servers, "outlives", tmp_path)
    raw, settings = await place.ready()
    async with monitor_here(raw, **FIXED) as monitor:
        await put_verdicts(place.servers, settings.topics, stream([(500, 0.9)]))
        await kept_when_counted(place.servers, settings.topics, 500)
        await asyncio.to_thread(own_kafka.kill)
        await asyncio.to_thread(own_kafka.start)
        await put_verdicts(place.servers, settings.topics, _later(500, 500))
        found = await kept_when_counted(place.servers, settings.topics, 1000)
        assert monitor.metric("assay_consumer_lag_records", agent="trust-monitor") >= 0
    assert found.counted == {KEY: 1000}


def _later(first: int, count: int, **subject: str) -> list[Verdict]:
    return [verdict(number, number % 10 > 0, **subject) for number in range(first, first + count)]


def _same(one: Alert | SeriesAnew, other: Alert | SeriesAnew) -> bool:
    """The same but for when they were raised, and where the verdicts stand that they name."""
    apart = {"raised_at": True, "rejected": {"__all__": {"verdict_origin"}}}
    return one.model_dump(exclude=apart) == other.model_dump(exclude=apart)


def _monitor_process(trust: dict[str, Any], raw: dict[str, Any], log: Path) -> WorkerProcess:
    return WorkerProcess([{"type": "monitor", **trust}], raw, log)


def _kill_often(place: Place, raw: dict[str, Any], trust: dict[str, Any], *, kills: int, seed: int = 7) -> list[int]:
    """The verdicts that each had counted when it was killed."""
    rng = random.Random(seed)
    counted = []
    for number in range(kills):
        with _monitor_process(trust, raw, place.folder / f"monitor-{number}.log") as monitor:
            monitor.wait_ready()
            if number:
                monitor.wait_for("assay_trust_verdicts_total", 1)
            time.sleep(rng.uniform(0, 0.3))
            counted.append(int(monitor.metric("assay_trust_verdicts_total")))
            monitor.kill()
    return counted


def _ago(seconds: float) -> int:
    return int((time.time() - seconds) * 1000)
