"""Where a checker begins that has read nothing yet: at the first record, or behind the last one.

What a topic holds may be weeks of traffic, and each record costs a judge's calls. So only a deployment's first start
judges what is there; a checker that is added to a running one begins with what comes, and `assay recheck` gives it as
much of the past as somebody wants.
"""

import time
from collections.abc import Collection, Mapping

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError, KafkaError
from aiokafka.structs import OffsetAndMetadata

from streams.clients import Consumer, connection, start
from streams.errors import StreamError
from streams.groups import commits
from streams.settings import StreamSettings
from streams.takeover import Note, read_note
from streams.topics import partitions_of

_log = structlog.get_logger(__name__)


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
    notes = [read_note(at.metadata) for each in found.values() for at in each.values()]
    runs = any(note is None or not note.is_first_start for note in notes)
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
        notes = {place: str(Note(now, at * at_end, not at_end)) for place, at in found.items()}
        await consumer.commit({place: OffsetAndMetadata(at, notes[place]) for place, at in found.items()})
    except CommitFailedError:
        # Another worker was as quick, and has joined: a group with members takes no commits of others.
        _log.info("a group has begun already", group=group)
    except KafkaError as error:
        raise StreamError(f"the first offsets of the group {group} cannot be committed: {error!r}") from error
    finally:
        await consumer.stop()
