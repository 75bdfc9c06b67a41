"""Offsets of consumer groups: how far each has come on a topic, and where a new checker begins.

What a topic holds may be weeks of traffic, and each record costs a judge's calls. So only a deployment's first start
judges what is there. A checker that is added later begins with what comes, and `assay recheck` gives it the past.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence

import structlog
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import CommitFailedError, KafkaError
from aiokafka.structs import OffsetAndMetadata

from streams.clients import Consumer, admin
from streams.connection import connection, start
from streams.errors import StreamError
from streams.settings import KafkaSettings, StreamSettings
from streams.takeover import Commit
from streams.topics import partitions_of

_TRIES = 30
_PAUSE_SECONDS = 0.5
"""A cluster makes the topic of its groups when it is first asked about one, and a coordinator that is gone is replaced,
within seconds."""

_log = structlog.get_logger(__name__)


async def commits(kafka: KafkaSettings, topic: str, groups: Collection[str]) -> dict[str, dict[int, Commit]]:
    """By group and partition what was committed last; nothing of a partition of which nothing was.

    Raises:
        StreamError: no broker answered, there is no such topic, or the broker refused.
    """
    places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
    found = {}
    async with admin(kafka) as client:
        for group in groups:
            offsets = await _offsets(client, group, places)
            found[group] = {place.partition: Commit.read(at) for place, at in offsets.items() if at.offset >= 0}
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


async def commit_starting_offsets(settings: StreamSettings, checkers: Collection[str], known: Collection[str]) -> None:
    """Commit where those of `checkers` begin that have committed nothing, before any of them reads.

    The deployment runs already if one of the `known` checkers has worked off a record. A first start that was broken
    off, or that several workers make at once, is still the first: what it commits says so.

    Raises:
        BrokerUnavailable: no broker answered.
        StreamError: the broker refused.
    """
    topic, prefix = settings.topics.outputs, settings.topics.prefix
    groups = {name: f"{prefix}.{name}" for name in {*checkers, *known}}
    found = await commits(settings.kafka, topic, groups.values())
    new = sorted(name for name in checkers if not found[groups[name]])
    runs = any(not at.is_first_start for each in found.values() for at in each.values())
    for name in new:
        await _commit(settings, groups[name], at_end=runs)
        if runs:
            _log.info("a new checker begins with what comes; assay recheck gives it the past", checker=name)


async def _commit(settings: StreamSettings, group: str, *, at_end: bool) -> None:
    kafka, topic = settings.kafka, settings.topics.outputs
    consumer = Consumer(**connection(kafka, kafka.consumer), group_id=group, enable_auto_commit=False)
    await start(consumer, kafka)
    try:
        places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
        consumer.assign(places)
        found: Mapping[TopicPartition, int]
        found = await (consumer.end_offsets(places) if at_end else consumer.beginning_offsets(places))
        now = time.time()
        await consumer.commit({place: Commit(at, now, at * at_end, not at_end).noted for place, at in found.items()})
    except CommitFailedError:
        # Another worker was as quick, and has joined: a group with members takes no commits of others.
        _log.info("a group has begun already", group=group)
    except KafkaError as error:
        raise StreamError(f"the first offsets of the group {group} cannot be committed: {error!r}") from error
    finally:
        await consumer.stop()
