"""Restoring the state of partitions: their series, and the ids of recently counted verdicts."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.trust.partition_state import PROGRESS, PartitionState
from streams.clients import reader
from streams.settings import StreamSettings

_POLL_SECONDS = 1.0


async def restore(states: Sequence[PartitionState], settings: StreamSettings, *, remember: int) -> None:
    """Fill `states`, whose `next` says from where on each will read.

    A state's series come from the topic that keeps them. Its memory of verdicts comes from the topics themselves: the
    last `remember` messages of each before `next`, and those from there up to the last mark of a series, of which
    each series says for itself whether they are in it.

    Raises:
        BrokerUnavailable: no broker answered.
        KafkaError: a topic must not be read.
    """
    topics = (settings.topics.accepted, settings.topics.rejected)
    async with reader(settings.kafka) as consumer:
        for state in states:
            places = [TopicPartition(topic, state.partition) for topic in topics]
            ends = await consumer.end_offsets(places)
            kept = await _latest(consumer, TopicPartition(settings.topics.trust_state, state.partition))
            state.restore(kept.items(), (ends[places[0]], ends[places[1]]))
            await _remember(consumer, state, places, ends, remember)


async def _latest(consumer: AIOKafkaConsumer, place: TopicPartition) -> dict[bytes, bytes]:
    """The messages that keep the series of a partition: of each that which has come farthest, as a rule the last.

    It is not the last where a monitor froze in the middle of writing, was taken for dead, and woke up behind its
    successor.
    """
    begin = (await consumer.beginning_offsets([place]))[place]
    end = (await consumer.end_offsets([place]))[place]
    latest: dict[bytes, tuple[tuple[int, ...], bytes]] = {}
    async for record in _between(consumer, place, begin, end):
        if record.key is None:
            continue
        if record.value is None:
            latest.pop(record.key, None)
            continue
        progress = _progress(record.headers)
        if record.key not in latest or progress is None or progress >= latest[record.key][0]:
            latest[record.key] = (progress or (0, 0), record.value)
    return {key: value for key, (_, value) in latest.items()}


def _progress(headers: Sequence[tuple[str, bytes]]) -> tuple[int, ...] | None:
    given = next((value for name, value in headers if name == PROGRESS), b"")
    try:
        return tuple(map(int, given.split())) or None
    except ValueError:
        return None


async def _remember(
    consumer: AIOKafkaConsumer,
    state: PartitionState,
    places: Sequence[TopicPartition],
    ends: Mapping[TopicPartition, int],
    remember: int,
) -> None:
    begins = await consumer.beginning_offsets(list(places))
    found: list[tuple[int, str]] = []
    for side, place in enumerate(places):
        start = state.next[side]
        begin = max(begins[place], start - remember)
        end = min(ends[place], max(start, state.counted_up_to(side)))
        async for record in _between(consumer, place, begin, end):
            id_ = state.counted_id(side, record, certain=record.offset < start)
            if id_ is not None:
                found.append((record.timestamp, id_))
    # Oldest first, over both topics, as they were counted: the oldest are forgotten first.
    for _, id_ in sorted(found):
        state.remember(id_)


async def _between(consumer: AIOKafkaConsumer, place: TopicPartition, begin: int, end: int) -> AsyncIterator[Any]:
    """The messages of a partition with offsets from `begin` to below `end`."""
    if begin >= end:
        return
    consumer.assign([place])
    consumer.seek(place, begin)
    while await consumer.position(place) < end:
        for record in (await consumer.getmany(place, timeout_ms=int(_POLL_SECONDS * 1000))).get(place, ()):
            if record.offset < end:
                yield record
