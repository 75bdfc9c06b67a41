"""Publishing messages: a message is out when the broker has acknowledged it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from schemas import Origin
from streams.clients import REQUEST_TIMEOUT_SECONDS, connection, start
from streams.errors import StreamError
from streams.messages import Outgoing
from streams.settings import StreamSettings

_LINGER_MILLISECONDS = 5
_BATCH_BYTES = 262_144
"""Many small produce requests cost a quarter of a worker's time; 256 KiB hold the messages of 5 ms of linger."""

_RECONNECT_PAUSE_SECONDS = 0.25
"""While a partition has no leader, aiokafka's sender asks for metadata again without any pause: thousands of log
lines and connections a second through a broker's restart. A quarter of a second delays the recovery unnoticeably."""


class TooLarge(Exception):
    """The message exceeds what the broker or the producer takes."""


class Undelivered(StreamError):
    """The broker did not acknowledge a message in time; the message is not to blame."""


class Publisher:
    """An idempotent producer that waits for all in-sync replicas."""

    def __init__(self, settings: StreamSettings) -> None:
        self._settings = settings
        self._producer: AIOKafkaProducer | None = None

    @property
    def client(self) -> AIOKafkaClient:
        """The started producer's, for requests of other kinds."""
        if self._producer is None:
            raise Undelivered("the producer is not running")
        return self._producer.client

    async def start(self) -> None:
        """Connect.

        Raises:
            BrokerUnavailable: no broker answered.
        """
        producer = AIOKafkaProducer(
            **connection(self._settings.kafka),
            acks="all",
            enable_idempotence=True,
            linger_ms=_LINGER_MILLISECONDS,
            max_batch_size=_BATCH_BYTES,
            request_timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000),
        )
        _reconnect_calmly(producer)
        self._producer = producer
        await start(producer, self._settings.kafka)

    async def stop(self) -> None:
        """Send what is queued, then disconnect."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def publish(self, *messages: Outgoing) -> None:
        """Return when the broker has acknowledged `messages`, and what is to be published after them.

        Raises:
            TooLarge: it exceeds what the broker or the producer takes.
            Undelivered: the broker did not take it within the request timeout (60 s).
        """
        enqueued = [(message, await self.enqueue(message)) for message in messages]
        for message, future in enqueued:
            await self.acknowledged(message, future)
            if message.then is not None:
                await self.publish(message.then(_position(future.result())))

    async def enqueue(self, message: Outgoing) -> asyncio.Future[Any]:
        """Put `message` behind those enqueued before; waits while too much is on its way.

        Returns:
            What `acknowledged` takes.

        Raises:
            TooLarge, Undelivered: as `publish`.
        """
        if self._producer is None:
            raise Undelivered("the producer is not running")
        with _faults(message):
            future: asyncio.Future[Any] = await self._producer.send(
                message.topic,
                message.value,
                key=message.key,
                partition=message.partition,
                headers=message.headers,
            )
            return future

    async def acknowledged(self, message: Outgoing, enqueued: asyncio.Future[Any]) -> None:
        """Return when the broker has acknowledged the message; raises as `publish`."""
        with _faults(message):
            await enqueued
        if message.on_delivered is not None:
            message.on_delivered()


def _position(written: Any) -> Origin | None:
    """Where a message stands; None if the broker took a repeat of the request, which does not say."""
    if written.offset < 0:
        return None
    return Origin(topic=written.topic, partition=written.partition, offset=written.offset)


@contextlib.contextmanager
def _faults(message: Outgoing) -> Iterator[None]:
    try:
        yield
    except MessageSizeTooLargeError as error:
        raise TooLarge(f"{len(message.value or b'')} bytes") from error
    except KafkaError as error:
        raise Undelivered(f"{type(error).__name__} on {message.topic}") from error


def _reconnect_calmly(producer: AIOKafkaProducer) -> None:
    client: Any = producer.client
    update: Callable[..., Awaitable[bool]] = client._metadata_update  # noqa: SLF001 - no public hook for it

    async def with_pause(*args: Any, **kwargs: Any) -> bool:
        updated = await update(*args, **kwargs)
        if not updated:
            await asyncio.sleep(_RECONNECT_PAUSE_SECONDS)
        return updated

    client._metadata_update = with_pause  # noqa: SLF001
