"""Consumer groups: how far each has come on a topic."""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata

from streams.clients import admin
from streams.errors import StreamError
from streams.settings import KafkaSettings
from streams.topics import partitions_of

_TRIES = 30
_PAUSE_SECONDS = 0.5
"""A cluster makes the topic of its groups when it is first asked about one, and a coordinator that is gone is replaced,
within seconds."""


async def commits(kafka: KafkaSettings, topic: str, groups: Collection[str]) -> dict[str, dict[int, OffsetAndMetadata]]:
    """By group and partition what was committed last; nothing of a partition of which nothing was.

    Raises:
        BrokerUnavailable: no broker answered.
        TopicsMissing: naming the command that creates it.
        StreamError: the broker refused.
    """
    places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
    found = {}
    async with admin(kafka) as client:
        for group in groups:
            offsets = await _offsets(client, group, places)
            found[group] = {place.partition: at for place, at in offsets.items() if at.offset >= 0}
    return found


async def _offsets(
    client: AIOKafkaAdminClient, group: str, places: Sequence[TopicPartition]
) -> Mapping[TopicPartition, OffsetAndMetadata]:
    for _ in range(_TRIES):
        try:
            found: Mapping[TopicPartition, OffsetAndMetadata] = await client.list_consumer_group_offsets(
                group, partitions=places
            )
        except KafkaError as error:
            refused = error
            if not error.retriable:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return found
    raise StreamError(f"the offsets of the group {group} cannot be read: {refused!r}") from refused
