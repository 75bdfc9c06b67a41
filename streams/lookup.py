"""Reading single messages again, by where they stand; neighbours come out of one fetch."""

import asyncio
from collections import OrderedDict

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, OffsetOutOfRangeError

from schemas import Origin
from streams.clients import connection, start
from streams.errors import StreamError
from streams.settings import KafkaSettings

_READ_SECONDS = 10.0
"""A broker answers a fetch within milliseconds; one that is started anew takes longer, and whoever asks holds on."""

_POLL_SECONDS = 1.0
"""After this long without a message it is looked up whether there is one to come."""

_FETCH_BYTES = 1_048_576
"""What one fetch brings at most, a single larger message aside: of records of 2 KB, those between some 500."""

_KEPT_BYTES = 16 * _FETCH_BYTES
"""What is kept of the last fetches of all partitions together."""


class LookupFailed(StreamError):
    """The broker did not say what stands there; it may be there all the same."""


class RecordLookup:
    """Reads messages outside any consumer group; belongs to one event loop, reads may be asked for concurrently.

    Of each partition the last fetch is kept, so that messages close to one another, asked for in about their order,
    cost one request together.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._consumer: AIOKafkaConsumer | None = None
        self._turn = asyncio.Lock()
        self._topics: set[str] = set()
        self._kept: OrderedDict[TopicPartition, dict[int, bytes]] = OrderedDict()
        self.fetches = 0
        """How often the broker was asked."""

    @property
    def started(self) -> bool:
        """Whether there is something to stop."""
        return self._consumer is not None

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: no broker answered.
        """
        consumer = AIOKafkaConsumer(
            **connection(self._kafka),
            enable_auto_commit=False,
            # An offset that is gone is to be told, not replaced by another.
            auto_offset_reset="none",
            fetch_max_wait_ms=100,
            max_partition_fetch_bytes=_FETCH_BYTES,
            request_timeout_ms=int(_READ_SECONDS * 1000),
        )
        self._consumer = consumer
        await start(consumer, self._kafka)

    async def stop(self) -> None:
        """Disconnect, and forget what was kept."""
        consumer, self._consumer = self._consumer, None
        self._kept.clear()
        if consumer is not None:
            await consumer.stop()

    async def read(self, origin: Origin) -> bytes | None:
        """The message at `origin`, empty where it has no value; None where it is gone.

        Raises:
            LookupFailed: the broker gave no answer within ten seconds.
        """
        place = TopicPartition(origin.topic, origin.partition)
        try:
            async with asyncio.timeout(_READ_SECONDS):
                if origin.offset not in self._kept.get(place, ()):
                    async with self._turn:
                        # Whoever had the turn before may have fetched it along.
                        if origin.offset not in self._kept.get(place, ()):
                            self._keep(place, await self._fetch(place, origin.offset))
        except (TimeoutError, KafkaError, OSError) as error:
            at = f"{origin.topic}[{origin.partition}]@{origin.offset}"
            raise LookupFailed(f"no Kafka broker told what stands at {at} ({type(error).__name__})") from error
        return self._kept.get(place, {}).get(origin.offset)

    async def _fetch(self, place: TopicPartition, offset: int) -> dict[int, bytes]:
        """What stands from `offset` on, by offset; nothing where nothing does or will."""
        consumer = self._consumer
        if consumer is None:
            raise LookupFailed("the look-up is not running")
        # A topic that is not there is asked for without a pause, for ever.
        if place.topic not in self._topics:
            self._topics = await consumer.topics()
            if place.topic not in self._topics:
                return {}
        self.fetches += 1
        if consumer.assignment() != {place}:
            consumer.assign([place])
        consumer.seek(place, offset)
        while True:
            try:
                fetched = await consumer.getmany(place, timeout_ms=int(_POLL_SECONDS * 1000))
            except OffsetOutOfRangeError as error:
                # One of a read that was given up may still be waiting to be told.
                if error.args[0].get(place) == offset:
                    return {}
                continue
            if messages := fetched.get(place):
                return {message.offset: message.value or b"" for message in messages}
            if await _beyond(consumer, place, offset):
                return {}

    def _keep(self, place: TopicPartition, fetched: dict[int, bytes]) -> None:
        if not fetched:
            return
        self._kept[place] = fetched
        self._kept.move_to_end(place)
        total = sum(_size(each) for each in self._kept.values())
        while total > _KEPT_BYTES and len(self._kept) > 1:
            total -= _size(self._kept.popitem(last=False)[1])


async def _beyond(consumer: AIOKafkaConsumer, place: TopicPartition, offset: int) -> bool:
    """Whether the partition ends before `offset`, or is not one of its topic's; false where nobody tells yet."""
    partitions = consumer.partitions_for_topic(place.topic)
    if partitions is None:
        return False
    return place.partition not in partitions or offset >= (await consumer.end_offsets([place]))[place]


def _size(messages: dict[int, bytes]) -> int:
    return sum(map(len, messages.values()))
