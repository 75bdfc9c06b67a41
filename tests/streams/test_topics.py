"""Topics are created once, and a worker says when one is missing."""

import asyncio

import pytest

from streams.clients import admin
from streams.errors import TopicsMissing
from streams.topics import create_topics, partitions_of, require_topics
from tests.support.scenarios import Place
from tests.support.waiting import until


async def test_creating_topics_a_second_time_creates_none(place: Place):
    settings = place.checked(partitions=3)
    assert set(await create_topics(settings)) == set(settings.topics.all)
    assert await create_topics(settings) == []
    assert await partitions_of(settings.kafka, settings.topics.outputs) == [0, 1, 2]


async def test_a_topic_that_is_added_later_has_as_many_partitions_as_those_that_are_there(place: Place):
    older = place.checked(partitions=3)
    await create_topics(older)
    async with admin(older.kafka) as client:
        await client.delete_topics([older.topics.label_state])
    newer = place.checked(partitions=24)
    assert await until(lambda: create_topics(newer)) == [newer.topics.label_state]
    assert await partitions_of(newer.kafka, newer.topics.label_state) == [0, 1, 2]


async def test_a_missing_topic_is_named_with_the_command_that_creates_it(place: Place):
    settings = place.checked()
    with pytest.raises(TopicsMissing, match=rf"{settings.topics.outputs}.*assay topics create"):
        await require_topics(settings.kafka, [settings.topics.outputs])


async def test_a_worker_without_its_topics_ends_with_that_error(place: Place):
    with place.worker([{"type": "accept"}], place.settings()) as worker:
        assert await asyncio.to_thread(worker.wait) != 0
    assert f"no topic {place.prefix}.outputs" in worker.log.read_text()


async def test_the_embedded_broker_has_the_topics_that_it_was_asked_for(embedded_place: Place):
    assert await create_topics(embedded_place.checked()) == []
