"""What a group has answered beyond its committed offsets, read when a worker takes partitions over.

A worker that is killed leaves answers behind whose offsets are not committed. Each answer names in a header the message
that it answers, and each commit notes since when there may be answers beyond it. So the next
owner of the partition reads the topics of answers from there on, and answers none of those messages again.

What a topic holds may be weeks of traffic, and each record costs a judge's calls. So only a deployment's first start
judges what is there. A checker that is added later begins with what comes, and `assay recheck` gives it the past.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import CommitFailedError, KafkaError
from aiokafka.structs import OffsetAndMetadata, TopicPartition
from faust.types import TP
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_fixed

from schemas import Origin
from streams.clients import Commit, Received, admin, single_consumer
from streams.connection import start
from streams.errors import StreamError
from streams.messages import ANSWERS, Outgoing
from streams.settings import KafkaSettings, StreamSettings
from streams.topic_reader import read_topic
from streams.topics import partitions_of

_CLOCKS = timedelta(seconds=5)
"""Answers are stamped by another machine's clock than the commit may be."""

_TRIES = 30
_PAUSE_SECONDS = 0.5
"""A cluster makes the topic of its groups when it is first asked, and replaces a coordinator, within seconds."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Takeover:
    """Reads one group's answers back."""

    name: str
    topic: str
    answers: Sequence[str]  # The topics of the answers to messages of `topic`, one message each.
    settings: StreamSettings
    follows: str  # The topic of a message that may follow an answer.
    follow_up: Callable[[bytes, Origin], Outgoing | None]  # Makes it from the answer and its position.
    restore: Callable[[Mapping[TP, Commit]], Awaitable[None]] | None = None  # Called with the commits first.

    async def read(self, committed: Mapping[TP, Commit]) -> dict[tuple[TP, int], Outgoing | None]:
        """What is answered from the committed offsets on, by partition and offset; and what is still to follow it."""
        if self.restore is not None:
            await self.restore(committed)
        noted = {partition: at for partition, at in committed.items() if at.since is not None}
        if not noted:
            return {}
        begun = time.monotonic()
        since = datetime.fromtimestamp(min(at.since or 0 for at in noted.values()), UTC) - _CLOCKS
        # What follows first: of what is written meanwhile the answer may be seen without it, never the other way round.
        following = read_topic(self.settings.kafka, self.follows, since=since)
        followed = {self._answered(message, noted) async for message in following}
        found: dict[tuple[TP, int], Outgoing | None] = {}
        async for message in read_topic(self.settings.kafka, *self.answers, since=since):
            if (place := self._answered(message, noted)) is not None:
                at = Origin(topic=message.topic, partition=message.partition, offset=message.offset)
                found[place] = None if place in followed else self.follow_up(message.value or b"", at)
        seconds = round(time.monotonic() - begun, 3)
        _log.info("answers read", checker=self.name, partitions=len(noted), answered=len(found), seconds=seconds)
        return found

    def _answered(self, message: Received, committed: Mapping[TP, Commit]) -> tuple[TP, int] | None:
        """The partition and offset that `message` answers, if it does so for this group beyond what is committed."""
        answers = next((value for key, value in message.headers if key == ANSWERS), b"///")
        name, topic, partition, offset = answers.decode(errors="replace").rsplit("/", 3)
        if name != self.name or topic != self.topic or not (partition.isdecimal() and offset.isdecimal()):
            return None
        place = TP(topic, int(partition))
        at = committed.get(place)
        return None if at is None or int(offset) < at.offset else (place, int(offset))


async def commits(kafka: KafkaSettings, topic: str, groups: Collection[str]) -> dict[str, dict[int, Commit]]:
    """By group and partition what was committed last; nothing of a partition of which nothing was."""
    places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
    found = {}
    async with admin(kafka) as client:
        for group in groups:
            try:
                offsets = await _offsets(client, group, places)
            except KafkaError as error:
                raise StreamError(f"the offsets of the group {group} cannot be read: {error!r}") from error
            found[group] = {place.partition: Commit.read(at) for place, at in offsets.items() if at.offset >= 0}
    return found


@retry(
    retry=retry_if_exception(lambda error: isinstance(error, KafkaError) and error.retriable),
    stop=stop_after_attempt(_TRIES),
    wait=wait_fixed(_PAUSE_SECONDS),
    reraise=True,
)
async def _offsets(
    client: AIOKafkaAdminClient, group: str, places: Sequence[TopicPartition]
) -> Mapping[TopicPartition, OffsetAndMetadata]:
    found: Mapping[TopicPartition, OffsetAndMetadata]
    found = await client.list_consumer_group_offsets(group, partitions=places)
    return found


async def commit_starting_offsets(settings: StreamSettings, checkers: Collection[str], known: Collection[str]) -> None:
    """Commit where those of `checkers` begin that have committed nothing, before any of them reads.

    The deployment runs already if one of the `known` checkers has worked off a record. A first start that was broken
    off, or that several workers make at once, is still the first: what it commits says so.
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
    consumer = single_consumer(kafka, group_id=group)
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
