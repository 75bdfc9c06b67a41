"""Reading back what the owner of a partition before this one has stored."""

from collections.abc import Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.clients import reader
from streams.settings import KafkaSettings

PROGRESS = "assay-progress"
"""Header of a message that stores a series: its progress, two numbers."""

_POLL_SECONDS = 1.0


async def stored_messages(kafka: KafkaSettings, topic: str, partitions: Sequence[int]) -> dict[int, dict[bytes, bytes]]:
    """By partition the newest message of each key.

    Raises:
        BrokerUnavailable: no broker answered.
        KafkaError: the topic must not be read.
    """
    async with reader(kafka) as consumer:
        return {number: await _newest(consumer, TopicPartition(topic, number)) for number in partitions}


async def _newest(consumer: AIOKafkaConsumer, place: TopicPartition) -> dict[bytes, bytes]:
    """The message with the highest progress for each key.

    It is not the last where a monitor froze in the middle of writing, was taken for dead, and woke up behind its
    successor.
    """
    end = (await consumer.end_offsets([place]))[place]
    newest: dict[bytes, tuple[tuple[int, ...], bytes]] = {}
    consumer.assign([place])
    await consumer.seek_to_beginning(place)
    while await consumer.position(place) < end:
        for record in (await consumer.getmany(place, timeout_ms=int(_POLL_SECONDS * 1000))).get(place, ()):
            if record.key is None:
                continue
            if record.value is None:
                newest.pop(record.key, None)
                continue
            progress = _progress(record.headers)
            if record.key not in newest or progress is None or progress >= newest[record.key][0]:
                newest[record.key] = (progress or (0, 0), record.value)
    return {key: value for key, (_, value) in newest.items()}


def _progress(headers: Sequence[tuple[str, bytes]]) -> tuple[int, ...] | None:
    given = next((value for name, value in headers if name == PROGRESS), b"")
    try:
        return tuple(map(int, given.split())) or None
    except ValueError:
        return None


async def messages_since(kafka: KafkaSettings, topic: str, partition: int, since: float) -> list[bytes]:
    """The messages of a partition that are there now, from those of `since`, in seconds since 1970, on.

    Raises:
        BrokerUnavailable: no broker answered.
        KafkaError: the topic must not be read.
    """
    place = TopicPartition(topic, partition)
    found: list[bytes] = []
    async with reader(kafka) as consumer:
        consumer.assign([place])
        end = (await consumer.end_offsets([place]))[place]
        first = (await consumer.offsets_for_times({place: int(since * 1000)}))[place]
        if first is None:
            return found
        consumer.seek(place, first.offset)
        while await consumer.position(place) < end:
            records = (await consumer.getmany(place, timeout_ms=int(_POLL_SECONDS * 1000))).get(place, ())
            found += [record.value for record in records if record.value is not None]
    return found
