"""Topics are created once, and a worker says when one is missing."""

from streams.clients import admin
from streams.settings import StreamSettings
from streams.topics import (
    FOREVER,
    Retention,
    create_topics,
    partitions_of,
    retentions,
)
from tests.support.scenarios import Place
from tests.support.waiting import until

DAY = 24 * 3600 * 1000


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
