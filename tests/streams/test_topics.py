"""Topics, the clients that find and read them, and messages that are read again from where they stand."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.structs import BrokerMetadata, TopicPartition

from schemas import Origin
from streams import lookup as module
from streams.clients import admin, group_consumer
from streams.errors import BrokerUnavailable
from streams.lookup import RecordLookup
from streams.settings import StreamSettings
from streams.topic_reader import read_topic
from streams.topics import FOREVER, Retention, create_topics, partitions_of, retentions
from tests.support.kafka import KafkaBroker
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.waiting import PATIENCE_SECONDS, until

DAY = 24 * 3600 * 1000


async def test_a_topic_that_is_added_later_has_as_many_partitions_as_those_that_are_there(place: Place):
    older = place.checked(partitions=3)
    await create_topics(older)
    async with admin(older.kafka) as client:
        await client.delete_topics([older.topics.label_state])
    newer = place.checked(partitions=24)
    assert await until(lambda: create_topics(newer)) == [newer.topics.label_state]
    assert await partitions_of(newer.kafka, newer.topics.label_state) == [0, 1, 2]


async def test_topics_keep_messages_as_long_as_is_configured(place: Place):
    raw = place.settings()
    first = StreamSettings.model_validate(raw)
    await create_topics(first)
    topics = first.topics
    kept = await retentions(first)
    week = 7 * DAY
    assert kept[topics.outputs] == Retention(compacted=False, present=week, wanted=None)
    assert kept[topics.labels] == Retention(compacted=False, present=FOREVER, wanted=FOREVER)
    assert kept[topics.trust_state].compacted
    assert not any(one.differs for one in kept.values())

    days = {"outputs": 2, "verdicts": 30, "dead_letters": "forever"}
    raw["topics"]["retention_days"] = days
    asked = StreamSettings.model_validate(raw)
    raw["topics"]["prefix"] = f"{place.prefix}-new"
    new = StreamSettings.model_validate(raw)
    await create_topics(new)
    made = await retentions(new)
    assert (made[new.topics.outputs].present, made[new.topics.outcomes].present) == (2 * DAY, 30 * DAY)
    assert made[new.topics.dead_letter].present == FOREVER
    assert not any(one.differs for one in made.values())

    different = {topic for topic, one in (await retentions(asked)).items() if one.differs}
    verdicts = (topics.accepted, topics.rejected, topics.abstained, topics.improved, topics.outcomes, topics.alerts)
    assert different == {topics.outputs, *verdicts, topics.dead_letter}


async def test_the_embedded_broker_has_the_topics_that_it_was_asked_for(embedded_place: Place):
    settings = embedded_place.checked()
    assert await create_topics(settings) == []
    # It tells no retention, and loses everything with its process.
    assert await retentions(settings) == {}


async def test_partitions_are_merged_by_time_each_in_its_own_order(place: Place):
    settings = await asyncio.to_thread(place.prepare, place.settings(partitions=4))
    sent = [(number % 3, 1000 + number * 10) for number in range(900)]
    await _send(place, settings.topics.alerts, [*sent, (0, 500)])
    found = [
        (message.partition, message.timestamp) async for message in read_topic(settings.kafka, settings.topics.alerts)
    ]
    # What bears an earlier time than the one before it in its partition comes right after that one.
    assert found == [*sent[:898], (0, 500), *sent[898:]]


async def test_what_arrives_while_it_reads_is_left_out_unless_it_follows(place: Place):
    settings = await asyncio.to_thread(place.prepare, place.settings(partitions=2))
    topic, other = settings.topics.accepted, settings.topics.rejected
    await _send(place, topic, [(0, 1), (0, 3)])
    await _send(place, other, [(1, 2)])
    stamps = []
    async for message in read_topic(settings.kafka, topic, other):
        stamps.append(message.timestamp)
        if len(stamps) == 1:
            await _send(place, topic, [(0, 4), (1, 5)])
    assert stamps == [1, 2, 3]
    followed = []
    async with aclosing(read_topic(settings.kafka, topic, other, follow=True)) as messages:
        async for message in messages:
            followed.append(message.timestamp)
            if len(followed) == 1:
                await _send(place, other, [(1, 6)])
                await _send(place, topic, [(0, 7)])
            if len(followed) == 7:
                break
    assert followed[:5] == [1, 2, 3, 4, 5]
    assert sorted(followed[5:]) == [6, 7]


async def _send(place: Place, topic: str, sent: list[tuple[int, int]]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=place.servers)
    await producer.start()
    try:
        for partition, stamp in sent:
            await producer.send(topic, b"x", partition=partition, timestamp_ms=stamp)
        await producer.flush()
    finally:
        await producer.stop()


async def test_a_broker_that_names_none_as_it_has_just_started_is_asked_again(
    prepared: Place, monkeypatch: pytest.MonkeyPatch
):
    settings = prepared.checked()
    await put(prepared.servers, settings.topics.outputs, [record(1)])
    update, asked = ClusterMetadata.update_metadata, 0

    def late(self: ClusterMetadata, metadata: Any) -> None:
        nonlocal asked
        asked += 1
        # aiokafka passes over an answer without brokers.
        if asked > 6:
            update(self, metadata)

    monkeypatch.setattr(ClusterMetadata, "update_metadata", late)
    consumer = group_consumer(settings, f"{prepared.prefix}.late", RangePartitionAssignor)
    async with consumer:
        # Faust subscribes once it has started.
        consumer.subscribe([settings.topics.outputs])
        message = await asyncio.wait_for(consumer.getone(), PATIENCE_SECONDS)
    assert message.value == record(1)
    asked = 0
    async with admin(settings.kafka) as client:
        assert settings.topics.outputs in await client.list_topics()


async def test_where_a_broker_is_gone_the_next_one_is_asked(prepared: Place, monkeypatch: pytest.MonkeyPatch):
    update = ClusterMetadata.update_metadata

    def with_one_that_is_gone(self: ClusterMetadata, metadata: Any) -> None:
        update(self, metadata)
        self._brokers[99] = BrokerMetadata(99, "127.0.0.1", free_port(), None)

    monkeypatch.setattr(ClusterMetadata, "update_metadata", with_one_that_is_gone)
    settings = prepared.checked()
    async with admin(settings.kafka) as client:
        for _ in range(20):
            assert settings.topics.outputs in await client.list_topics()


async def test_what_is_not_there_is_gone(place: Place):
    settings = await _prepared(place)
    await put(place.servers, settings.topics.outputs, [record(0)])
    async with RecordLookup(settings).running() as lookup:
        places = [_at(settings, 1), _at(settings, 99), _at(settings, 0, partition=7000)]
        places.append(Origin(topic=f"{place.prefix}.never", partition=0, offset=0))
        assert [await lookup.read(one) for one in places] == [None] * 4
        assert await lookup.read(_at(settings, 0)) == record(0)
        # What came since is found.
        await put(place.servers, settings.topics.outputs, [record(number) for number in range(1, 10)])
        assert await lookup.read(_at(settings, 1)) == record(1)
    admin = AIOKafkaAdminClient(bootstrap_servers=place.servers)
    await admin.start()
    await admin.delete_records({TopicPartition(settings.topics.outputs, 0): RecordsToDelete(before_offset=5)})
    await admin.close()
    async with RecordLookup(settings).running() as lookup:
        assert [await lookup.read(_at(settings, offset)) for offset in (0, 4)] == [None, None]
        assert await lookup.read(_at(settings, 5)) == record(5)


async def test_neighbours_cost_one_fetch(place: Place):
    settings = await _prepared(place)
    await put(place.servers, settings.topics.outputs, (record(number) for number in range(2000)))
    async with RecordLookup(settings).running() as lookup:
        for offset in range(0, 2000, 20):
            assert await lookup.read(_at(settings, offset))
        assert lookup.fetches == 1
        await asyncio.gather(*(lookup.read(_at(settings, offset)) for offset in range(2000)))
        assert lookup.fetches == 1


async def test_an_outage_is_no_loss_and_passes(own_kafka: KafkaBroker, tmp_path, monkeypatch: pytest.MonkeyPatch):
    place = Place(own_kafka.bootstrap_servers, "lookup", tmp_path)
    settings = await _prepared(place)
    await put(place.servers, settings.topics.outputs, [record(0)])
    monkeypatch.setattr(module, "_READ_SECONDS", 1.5)
    async with RecordLookup(settings).running() as lookup:
        await asyncio.to_thread(own_kafka.stop)
        # However many wait, none waits longer than its own time.
        reads = [lookup.read(_at(settings, 0)) for _ in range(20)]
        # One after the other they would take 30 s.
        failed = await asyncio.wait_for(asyncio.gather(*reads, return_exceptions=True), 20)
        assert {type(one) for one in failed} == {BrokerUnavailable}
        assert settings.topics.outputs in str(failed[0])
        await asyncio.to_thread(own_kafka.start)
        monkeypatch.setattr(module, "_READ_SECONDS", 20)
        assert await lookup.read(_at(settings, 0)) == record(0)


def _at(settings: StreamSettings, offset: int, *, partition: int = 0) -> Origin:
    return Origin(topic=settings.topics.outputs, partition=partition, offset=offset)


async def _prepared(place: Place, partitions: int = 1) -> StreamSettings:
    return await asyncio.to_thread(place.prepare, place.settings(partitions=partitions))
