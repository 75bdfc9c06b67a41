"""Reading single messages again by their position, and the record that a verdict, improvement or alert is about."""

import asyncio
import contextlib
from typing import Annotated, Self

import orjson
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError, OffsetOutOfRangeError
from cachetools import LRUCache
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from schemas import Envelope, Origin, RejectedRecord, Unreadable, Verdict, explain, read_record
from schemas.base import Name, Timestamp
from streams.clients import Client, Consumer, single_consumer
from streams.connection import start
from streams.errors import BrokerUnavailable
from streams.settings import StreamSettings

_READ_SECONDS = 10.0
"""A broker answers a fetch within milliseconds; one that restarts takes longer, and the caller tries again."""

_POLL_SECONDS = 1.0

_FETCH_BYTES = 1_048_576
_KEPT_BYTES = 16 * _FETCH_BYTES
"""Of the last fetches of all partitions together."""


class RecordGone(Exception):
    """The record cannot be had any more; the text is a sentence for a person."""


class ResultHeader(BaseModel):
    """The fields that verdicts, improvements and alerts share."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_:-]{1,256}$")]
    """Part of HTTP headers, and of what is signed before a full stop."""
    checker: Name
    source: Name
    model: Name
    record_id: Name | None = None
    """Absent in an alert, as is `origin`, the record's."""
    kind: str | None = None
    """The kind of a message on the topic of alerts; absent in others."""
    origin: Origin | None = None
    at: Timestamp = Field(validation_alias=AliasChoices("checked_at", "improved_at", "raised_at"))

    @classmethod
    def read(cls, data: bytes | None) -> Self:
        """Raise `Unreadable` if `data` is not a verdict, improvement or alert."""
        if not data:
            raise Unreadable("empty", "the message is empty; expected a verdict, an improvement or an alert")
        try:
            return cls.model_validate(orjson.loads(data))
        except orjson.JSONDecodeError as error:
            raise Unreadable("not_json", f"not JSON at line {error.lineno}, column {error.colno}") from None
        except ValidationError as error:
            raise Unreadable("invalid_record", f"no verdict, improvement or alert: {explain(error)}") from None


class RecordLookup(Client):
    """Reads messages outside any consumer group; belongs to one event loop, and reads may be concurrent.

    The last fetch of each partition is kept: messages close to one another share one request.
    """

    def __init__(self, settings: StreamSettings) -> None:
        self._settings = settings
        self._consumer: Consumer | None = None
        self._turn = asyncio.Lock()
        self._topics: set[str] = set()
        self._kept: LRUCache[TopicPartition, dict[int, bytes]] = LRUCache(
            _KEPT_BYTES, getsizeof=lambda messages: sum(map(len, messages.values()))
        )
        self.fetches = 0
        """Requests to the broker so far."""

    async def start(self) -> None:
        """Connect."""
        kafka, timeout = self._settings.kafka, int(_READ_SECONDS * 1000)
        # An offset that is gone must be reported, not replaced by another.
        self._consumer = single_consumer(
            kafka, max_partition_fetch_bytes=_FETCH_BYTES, auto_offset_reset="none", request_timeout_ms=timeout
        )
        await start(self._consumer, kafka)

    async def stop(self) -> None:
        consumer, self._consumer = self._consumer, None
        self._kept.clear()
        if consumer is not None:
            await consumer.stop()

    async def record(self, origin: Origin | None, source: str, record_id: str | None) -> tuple[bytes, Envelope]:
        """The record with this source and id at `origin`, behind the bytes that its producer wrote, or `RecordGone`.

        Only the outputs topic is read, whatever `origin` says.
        """
        if origin is not None and origin.topic == self._settings.topics.outputs:
            data = await self.read(origin) or b""
            with contextlib.suppress(Unreadable):
                record = read_record(data, max_bytes=self._settings.records.max_bytes)
                if (record.source, record.id) == (source, record_id):
                    return data, record
        at = "its place, which is not known" if origin is None else _shown(origin)
        raise RecordGone(f"The record is gone: it is not at {at}.")

    async def verdict(self, rejected: RejectedRecord) -> Verdict | None:
        """The verdict that an alert names; None if it is gone. Only the topic of rejected verdicts is read."""
        origin = rejected.verdict_origin
        if origin is not None and origin.topic == self._settings.topics.rejected:
            with contextlib.suppress(ValidationError):
                verdict = Verdict.model_validate_json(await self.read(origin) or b"")
                return verdict if verdict.id == rejected.verdict_id else None
        return None

    async def read(self, origin: Origin) -> bytes | None:
        """The message at `origin`, empty if it has no value; None if it is gone. BrokerUnavailable after 10 s."""
        place = TopicPartition(origin.topic, origin.partition)
        try:
            async with asyncio.timeout(_READ_SECONDS), self._turn:
                kept = self._kept.get(place, {})
                if origin.offset not in kept:
                    kept = await self._fetch(place, origin.offset)
        except (TimeoutError, KafkaError, OSError) as error:
            at = _shown(origin)
            raise BrokerUnavailable(f"no Kafka broker said what is at {at} ({type(error).__name__})") from error
        return kept.get(origin.offset)

    async def _fetch(self, place: TopicPartition, offset: int) -> dict[int, bytes]:
        """The messages from `offset` on, by offset; empty if there is none at `offset` and none to come."""
        consumer = self._consumer
        if consumer is None:
            raise BrokerUnavailable("the look-up is not running")
        # aiokafka asks for a missing topic again and again, without a pause.
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
                # The error may be of an earlier read that was given up.
                if error.args[0].get(place) == offset:
                    return {}
                continue
            if messages := fetched.get(place):
                found = {message.offset: message.value or b"" for message in messages}
                # A message larger than the whole cache is not kept.
                with contextlib.suppress(ValueError):
                    self._kept[place] = found
                return found
            # None while the broker has not said it.
            if (numbers := consumer.partitions_for_topic(place.topic)) is not None and (
                place.partition not in numbers or offset >= (await consumer.end_offsets([place]))[place]
            ):
                return {}


def _shown(origin: Origin) -> str:
    return f"{origin.topic}[{origin.partition}]@{origin.offset}"
