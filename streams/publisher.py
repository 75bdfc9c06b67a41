"""Publishing messages: a message is out when the broker has acknowledged it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from aiokafka import AIOKafkaProducer
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from schemas import Origin
from streams.clients import REQUEST_TIMEOUT_SECONDS, Client, connection, start
from streams.errors import StreamError
from streams.messages import Outgoing
from streams.settings import StreamSettings

_BATCH_BYTES = 262_144
"""Many small produce requests cost a quarter of a worker's time; 256 KiB hold the messages of 5 ms of linger."""

_LINGER_MILLISECONDS = 5

_RECONNECT_PAUSE_SECONDS = 0.25
"""While a partition has no leader, aiokafka's sender asks for metadata again without any pause: thousands of log
lines and connections a second through a broker's restart. A quarter of a second delays the recovery unnoticeably."""

_Acknowledgement: TypeAlias = asyncio.Future[Any]
"""The broker's answer about one message: aiokafka's `RecordMetadata`, or a fault."""


class TooLarge(Exception):
    """The message exceeds what the broker or the producer takes."""


class Undelivered(StreamError):
    """The broker did not acknowledge a message in time; the message is not to blame."""


class Publisher(Client):
    """An idempotent producer that waits for all in-sync replicas."""

    def __init__(self, settings: StreamSettings) -> None:
        self._settings = settings
        self._producer: AIOKafkaProducer | None = None
        self._followers: deque[_Follower] = deque()
        """Messages to be published after others that are on their way, in the order of these."""
        self._following: asyncio.Task[None] | None = None
        """Sends those whose turn it is."""

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
            **connection(self._settings.kafka, self._settings.kafka.producer),
            acks="all",
            enable_idempotence=True,
            max_batch_size=_BATCH_BYTES,
            linger_ms=_LINGER_MILLISECONDS,
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
        acknowledged = asyncio.get_running_loop().create_future()

        def ended(fault: Exception | None) -> None:
            if acknowledged.done():
                return
            if fault is None:
                acknowledged.set_result(None)
            else:
                acknowledged.set_exception(fault)

        await self.send(messages, ended)
        await acknowledged

    async def send(self, messages: Sequence[Outgoing], ended: Callable[[Exception | None], None]) -> None:
        """Return when `messages` are put behind those before them; it waits while too much is on its way.

        Args:
            messages: what is to be published.
            ended: called when the broker has acknowledged all of them, and what is to be published after them, with
                None; or, at the first that it does not take, with what `publish` raises. It is called once, and not if
                this raises.

        Raises:
            TooLarge, Undelivered: as `publish`.
        """
        sent = _Sent(len(messages), ended)
        for message in messages:
            follower = None if message.then is None else _Follower(message.then, sent)
            acknowledgement = await self._put(message)
            acknowledgement.add_done_callback(partial(self._answered, message, sent, follower))
            if follower is not None:
                self._followers.append(follower)
        if not messages:
            ended(None)

    async def _put(self, message: Outgoing) -> _Acknowledgement:
        if self._producer is None:
            raise Undelivered("the producer is not running")
        try:
            acknowledgement: _Acknowledgement = await self._producer.send(
                message.topic, message.value, message.key, message.partition, headers=message.headers
            )
        except KafkaError as error:
            raise _fault(message, error) from error
        return acknowledgement

    def _answered(
        self, message: Outgoing, sent: "_Sent", follower: "_Follower | None", acknowledgement: _Acknowledgement
    ) -> None:
        fault: Exception | None = None
        try:
            if acknowledgement.cancelled():
                raise Undelivered(f"given up on {message.topic}")
            if (error := acknowledgement.exception()) is not None:
                raise _fault(message, error)
            if message.on_delivered is not None:
                message.on_delivered()
            if follower is not None:
                follower.message = follower.made(_position(acknowledgement.result()))
        except Exception as error:  # noqa: BLE001
            # Nobody awaits this; unsaid, it would leave the record unfinished for ever.
            fault = error
        if follower is not None:
            follower.ready = True
            if self._following is None and self._followers[0].ready:
                self._following = asyncio.create_task(self._follow())
        if follower is None or fault is not None:
            sent.one_more(fault)

    async def _follow(self) -> None:
        """Send what follows, in the order of what it follows, whichever topic that is on."""
        while self._followers and self._followers[0].ready:
            follower = self._followers.popleft()
            if follower.message is not None:
                try:
                    await self.send((follower.message,), follower.sent.one_more)
                except Exception as error:  # noqa: BLE001 - as above
                    follower.sent.one_more(error)
        self._following = None


class _Follower:
    """A message that is to be published after another one."""

    __slots__ = ("made", "message", "ready", "sent")

    def __init__(self, made: Callable[[Origin | None], Outgoing], sent: "_Sent") -> None:
        self.made = made
        self.sent = sent
        self.message: Outgoing | None = None
        self.ready = False
        """True once the broker has answered about the other one; without a message, it did not take that."""


class _Sent:
    """Messages of which the broker is to acknowledge each."""

    __slots__ = ("_ended", "_left")

    def __init__(self, left: int, ended: Callable[[Exception | None], None]) -> None:
        self._left = left
        self._ended = ended

    def one_more(self, fault: Exception | None) -> None:
        """Count one that is acknowledged, or report that it is not."""
        self._left -= 1
        if self._left == 0 or (fault is not None and self._left > 0):
            self._left = 0
            self._ended(fault)


def _position(answer: Any) -> Origin | None:
    """Where the message is; None where the broker took a repeat of the request, of which it does not say it."""
    if answer.log_start_offset < 0:
        return None
    return Origin(topic=answer.topic, partition=answer.partition, offset=answer.offset)


def _fault(message: Outgoing, error: BaseException) -> Exception:
    if isinstance(error, MessageSizeTooLargeError):
        return TooLarge(f"{len(message.value or b'')} bytes")
    return Undelivered(f"{type(error).__name__} on {message.topic}")


def _reconnect_calmly(producer: AIOKafkaProducer) -> None:
    client: Any = producer.client
    update: Callable[..., Awaitable[bool]] = client._metadata_update  # noqa: SLF001 - no public hook for it

    async def with_pause(*args: Any, **kwargs: Any) -> bool:
        updated = await update(*args, **kwargs)
        if not updated:
            await asyncio.sleep(_RECONNECT_PAUSE_SECONDS)
        return updated

    client._metadata_update = with_pause  # noqa: SLF001
