"""A topic is read from its beginning to now, in order, and followed where that is wanted."""

import asyncio
from contextlib import aclosing

import pytest
from aiokafka import AIOKafkaProducer

from streams.errors import TopicsMissing
from streams.topic_reader import read_topic
from tests.support.scenarios import Place


class Reading:
    """To be inherited with a fixture `place`."""

    async def test_partitions_are_merged_by_time_each_in_its_own_order(self, place: Place):
        settings = await asyncio.to_thread(place.prepare, place.settings(partitions=4))
        sent = [(number % 3, 1000 + number * 10) for number in range(900)]
        await _send(place, settings.topics.alerts, [*sent, (0, 500)])
        found = [
            (message.partition, message.timestamp)
            async for message in read_topic(settings.kafka, settings.topics.alerts)
        ]
        # What bears an earlier time than the one before it in its partition comes right after that one.
        assert found == [*sent[:898], (0, 500), *sent[898:]]

    async def test_what_arrives_while_it_reads_is_left_out_unless_it_follows(self, place: Place):
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


class TestOnTheEmbeddedBroker(Reading):
    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place


class TestOnApacheKafka(Reading):
    async def test_a_topic_that_is_missing_is_named_with_what_creates_it(self, place: Place):
        settings = place.checked()
        with pytest.raises(TopicsMissing, match=rf"{settings.topics.alerts}.*assay topics create"):
            [message async for message in read_topic(settings.kafka, settings.topics.alerts)]


async def _send(place: Place, topic: str, sent: list[tuple[int, int]]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=place.servers)
    await producer.start()
    try:
        for partition, stamp in sent:
            await producer.send(topic, b"x", partition=partition, timestamp_ms=stamp)
        await producer.flush()
    finally:
        await producer.stop()
