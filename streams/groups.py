"""Consumer groups: how far each has come on a topic."""

from collections.abc import Collection, Mapping

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from streams.clients import admin, reader
from streams.errors import StreamError
from streams.settings import KafkaSettings
from streams.topics import partitions_of


async def committed_offsets(kafka: KafkaSettings, topic: str, groups: Collection[str]) -> dict[str, dict[int, int]]:
    """By group, the offset behind what it has finished in each partition; none of a partition that it never finished.

    Raises:
        BrokerUnavailable: no broker answered.
        TopicsMissing: naming the command that creates it.
        StreamError: the broker refused.
    """
    places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
    found = {}
    async with admin(kafka) as client:
        for group in groups:
            try:
                offsets = await client.list_consumer_group_offsets(group, partitions=places)
            except KafkaError as error:
                raise StreamError(f"the offsets of the group {group} cannot be read: {error!r}") from error
            found[group] = {place.partition: at.offset for place, at in offsets.items() if at.offset >= 0}
    return found


async def end_offsets(kafka: KafkaSettings, topic: str) -> Mapping[int, int]:
    """The offset behind the last message of each partition; raises as `committed_offsets`."""
    places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
    async with reader(kafka) as consumer:
        return {place.partition: end for place, end in (await consumer.end_offsets(places)).items()}
