"""Topics: created by command, and checked before anything reads them."""

import asyncio
from typing import NamedTuple

from aiokafka.admin import NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import IncompatibleBrokerVersion, KafkaError, TopicAlreadyExistsError, for_code

from streams.clients import admin
from streams.errors import StreamError
from streams.settings import KafkaSettings, StreamSettings, TopicSettings

_COMPACTED = {
    "cleanup.policy": "compact",
    # The active segment is never compacted, and stays active for a week by default; a start reads all of it.
    "segment.ms": "3600000",
    "max.compaction.lag.ms": "3600000",
    "min.cleanable.dirty.ratio": "0.1",
    # A thousand busy series would otherwise write gigabytes in that hour.
    "segment.bytes": "33554432",
}

_DAY = 24 * 3600 * 1000
_LONGEST_SEGMENT, _SHORTEST_SEGMENT = 7 * _DAY, 60_000
"""Kafka's default, in milliseconds, and what a broker's search for old segments can follow."""

FOREVER = -1
"""A retention without an end, as Kafka writes it."""

_LOOK_AGAIN_SECONDS = 0.05
_LOOKS = 1200


class Retention(NamedTuple):
    """For how long a topic keeps messages, in milliseconds; `FOREVER` without an end."""

    compacted: bool  # Only the last message of each key is kept, and that for ever.
    present: int
    wanted: int | None  # The configured one; None: as the brokers say.

    @property
    def differs(self) -> bool:
        return self.wanted not in (None, self.present) and not self.compacted


def _configs(topic: str, topics: TopicSettings) -> dict[str, str]:
    # A broker's own default would let a message be written that the next failure loses.
    configs = {"min.insync.replicas": str(topics.in_sync)}
    if topic in topics.compacted:
        return configs | _COMPACTED
    if (retention := _wanted(topic, topics)) is not None:
        configs["retention.ms"] = str(retention)
        if retention != FOREVER:
            # A segment is deleted as a whole, once its last message is old enough.
            configs["segment.ms"] = str(min(_LONGEST_SEGMENT, max(_SHORTEST_SEGMENT, retention // 4)))
    return configs


def _wanted(topic: str, topics: TopicSettings) -> int | None:
    days = topics.kept_days(topic)
    return FOREVER if days == "forever" else None if days is None else round(days * _DAY)


async def create_topics(settings: StreamSettings) -> list[str]:
    """Create the topics that are not there yet, with as many partitions as those that are; return their names."""
    async with admin(settings.kafka) as client:
        present = set(await client.list_topics())
        wanted = [topic for topic in settings.topics.all if topic not in present]
        if not wanted:
            return []
        partitions = settings.topics.partitions
        if settings.topics.outcomes in present:
            # The monitors read several topics, partition by partition.
            (described,) = await client.describe_topics([settings.topics.outcomes])
            partitions = len(described["partitions"])
        replicas = settings.topics.replication
        new = [NewTopic(one, partitions, replicas, topic_configs=_configs(one, settings.topics)) for one in wanted]
        try:
            response = await client.create_topics(new)
        except KafkaError as error:
            raise StreamError(f"topics {', '.join(wanted)} could not be created: {error!r}") from error
        created = []
        for topic, code, *detail in response.topic_errors:
            if code == 0:
                created.append(topic)
            elif code != TopicAlreadyExistsError.errno:
                why = next((str(each) for each in detail if each), for_code(code).__name__)
                raise StreamError(f"topic {topic} could not be created: {why}")
        # A broker acknowledges new topics a moment before it lists them; the next reader must find them.
        for _ in range(_LOOKS):
            if set(wanted) <= set(await client.list_topics()):
                return created
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    raise StreamError(f"topics {', '.join(wanted)} were created, and the broker still does not list them all")


async def retentions(settings: StreamSettings) -> dict[str, Retention]:
    """For how long each of the topics keeps messages; without those of which the broker says nothing."""
    topics, found = settings.topics, dict[str, Retention]()
    asked = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics.all]
    async with admin(settings.kafka) as client:
        try:
            responses = await client.describe_configs(asked)
        except IncompatibleBrokerVersion:
            return {}
    for code, _, _, topic, entries in (each for response in responses for each in response.resources):
        if code == 0:
            configs = {name: value for name, value, *_ in entries}
            present, compacted = int(configs["retention.ms"]), "compact" in configs["cleanup.policy"]
            found[topic] = Retention(compacted=compacted, present=present, wanted=_wanted(topic, topics))
    return found


async def require_topics(kafka: KafkaSettings, topics: list[str]) -> None:
    """Raise StreamError naming `topics` that are missing: a consumer of one waits for ever, without a message."""
    async with admin(kafka) as client:
        present = set(await client.list_topics())
    missing = [topic for topic in topics if topic not in present]
    if missing:
        raise StreamError(
            f"no topic {', '.join(missing)} at {kafka.bootstrap_servers}; "
            "`assay topics create` creates assay's own topics; create those of an OpenTelemetry collector yourself"
        )


async def partitions_of(kafka: KafkaSettings, topic: str) -> list[int]:
    """The partitions of `topic`, in order."""
    await require_topics(kafka, [topic])
    async with admin(kafka) as client:
        (described,) = await client.describe_topics([topic])
    return sorted(partition["partition"] for partition in described["partitions"])
