"""Messages are read again from where they stand; neighbours cost one fetch; gone and out of reach are told apart."""

import asyncio

import pytest
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.structs import TopicPartition

from schemas import Origin
from streams import lookup as module
from streams.lookup import LookupFailed, RecordLookup
from streams.settings import StreamSettings
from tests.support.kafka import KafkaBroker
from tests.support.scenarios import Place
from tests.support.traffic import put, record


class LookupPromises:
    """To be inherited with a fixture `place`."""

    async def test_every_message_is_found_where_it_stands_in_any_order(self, place: Place):
        settings = await _prepared(place, partitions=2)
        values = [record(number) for number in range(500)]
        await put(place.servers, settings.topics.outputs, values)
        async with RecordLookup(settings).running() as lookup:
            offsets = [*range(0, 500, 7), *range(499, 0, -90), 0]
            assert [await lookup.read(_at(settings, offset)) for offset in offsets] == [values[one] for one in offsets]

    async def test_what_is_not_there_is_gone(self, place: Place):
        settings = await _prepared(place)
        await put(place.servers, settings.topics.outputs, [record(0)])
        async with RecordLookup(settings).running() as lookup:
            places = [_at(settings, 1), _at(settings, 99), _at(settings, 0, partition=7000)]
            places.append(Origin(topic=f"{place.prefix}.never", partition=0, offset=0))
            assert [await lookup.read(one) for one in places] == [None] * 4
            assert await lookup.read(_at(settings, 0)) == record(0)
            # What came since is found.
            await put(place.servers, settings.topics.outputs, [record(1)])
            assert await lookup.read(_at(settings, 1)) == record(1)


class TestOnApacheKafka(LookupPromises):
    async def test_neighbours_cost_one_fetch(self, place: Place):
        settings = await _prepared(place)
        await put(place.servers, settings.topics.outputs, (record(number) for number in range(2000)))
        async with RecordLookup(settings).running() as lookup:
            for offset in range(0, 2000, 20):
                assert await lookup.read(_at(settings, offset))
            assert lookup.fetches == 1
            await asyncio.gather(*(lookup.read(_at(settings, offset)) for offset in range(2000)))
            assert lookup.fetches == 1

    async def test_what_its_topic_no_longer_keeps_is_gone(self, place: Place):
        settings = await _prepared(place)
        await put(place.servers, settings.topics.outputs, [record(number) for number in range(10)])
        partition = TopicPartition(settings.topics.outputs, 0)
        admin = AIOKafkaAdminClient(bootstrap_servers=place.servers)
        await admin.start()
        await admin.delete_records({partition: RecordsToDelete(before_offset=5)})
        await admin.close()
        async with RecordLookup(settings).running() as lookup:
            assert [await lookup.read(_at(settings, offset)) for offset in (0, 4)] == [None, None]
            assert await lookup.read(_at(settings, 5)) == record(5)

    async def test_an_outage_is_no_loss_and_passes(
        self, own_kafka: KafkaBroker, tmp_path, monkeypatch: pytest.MonkeyPatch
    ):
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
            assert {type(one) for one in failed} == {LookupFailed}
            assert settings.topics.outputs in str(failed[0])
            await asyncio.to_thread(own_kafka.start)
            monkeypatch.setattr(module, "_READ_SECONDS", 20)
            assert await lookup.read(_at(settings, 0)) == record(0)


class TestOnTheEmbeddedBroker(LookupPromises):
    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place


def _at(settings: StreamSettings, offset: int, *, partition: int = 0) -> Origin:
    return Origin(topic=settings.topics.outputs, partition=partition, offset=offset)


async def _prepared(place: Place, partitions: int = 1) -> StreamSettings:
    return await asyncio.to_thread(place.prepare, place.settings(partitions=partitions))
