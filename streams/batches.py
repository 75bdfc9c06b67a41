"""Batches of messages on their way to the broker, by partition.

The client's own batches have a future and a coroutine for each message, which together cost a worker more than a check
that does nothing. Here a batch has them once.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from streams.messages import Outgoing

BATCH_BYTES = 262_144
"""Many small produce requests cost a quarter of a worker's time; 256 KiB hold the messages of 5 ms of linger."""

MESSAGE_BYTES = 1_048_576
"""The longest message; one longer than a batch has one of its own."""

_LINGER_SECONDS = 0.005

_CLOSED = 1
"""Batches of a partition that wait behind the client's; whoever has more messages waits."""

Answered: TypeAlias = Callable[[Exception | None, int], None]
"""Called with what the broker says of a message: a fault, or its offset, which is negative where it does not say."""


class _Batch:
    """The messages of one partition that are acknowledged together."""

    __slots__ = ("answered", "builder")

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.answered: list[Answered] = []

    def end(self, fault: Exception | None, offset: int = -1) -> None:
        """Tell each message's sender; `offset` is that of the first."""
        # Each in its own turn: one that fails must not keep it from the others.
        call_soon = asyncio.get_running_loop().call_soon
        for place, answered in enumerate(self.answered):
            call_soon(answered, fault, offset if offset < 0 else offset + place)

    def written(self, answer: asyncio.Future[Any]) -> None:
        if answer.cancelled():
            self.end(KafkaError("given up"))
        elif (fault := answer.exception()) is not None:
            self.end(fault if isinstance(fault, Exception) else KafkaError(type(fault).__name__))
        else:
            self.end(None, answer.result().offset)


class _Partition:
    """The batches of one partition, which go one after the other."""

    def __init__(self, producer: AIOKafkaProducer, topic: str, number: int) -> None:
        self._producer = producer
        self._topic = topic
        self._number = number
        self._open: _Batch | None = None
        self._closed: deque[_Batch] = deque()
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._room = asyncio.Event()
        self.sending: asyncio.Task[None] | None = None

    async def put(self, message: Outgoing, answered: Answered) -> None:
        """Put it behind those before it; waits while too much is on its way."""
        if self._waiting == 0 and self._put(message, answered):
            return
        self._waiting += 1
        try:
            async with self._turn:
                while not self._put(message, answered):
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._waiting -= 1

    def _put(self, message: Outgoing, answered: Answered) -> bool:
        """False if there is no room."""
        if self._open is not None and self._append(self._open, message, answered):
            return True
        self.close()
        if len(self._closed) > _CLOSED:
            return False
        batch = _Batch(self._producer.create_batch())
        self._append(batch, message, answered)
        if batch.builder.size() > MESSAGE_BYTES:
            raise MessageSizeTooLargeError
        self._open = batch
        return True

    @staticmethod
    def _append(batch: _Batch, message: Outgoing, answered: Answered) -> bool:
        """False if the batch is full."""
        added = batch.builder.append(timestamp=None, key=message.key, value=message.value, headers=message.headers)
        if added is not None:
            batch.answered.append(answered)
        return added is not None

    def close(self) -> None:
        """Put no more into the batch that is open, and send it."""
        if self._open is not None:
            batch, self._open = self._open, None
            batch.builder.close()
            self._closed.append(batch)
            if self.sending is None:
                self.sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._closed:
            batch = self._closed.popleft()
            self._room.set()
            try:
                sent = await self._producer.send_batch(batch.builder, self._topic, partition=self._number)
            except Exception as fault:  # noqa: BLE001
                # Nobody awaits this; unsaid, it would leave records unfinished for ever.
                batch.end(fault)
            else:
                sent.add_done_callback(batch.written)
        self.sending = None


class Batches:
    """The messages that a producer is given, put together by partition."""

    def __init__(self, producer: AIOKafkaProducer) -> None:
        self._producer = producer
        self._partitions: dict[tuple[str, int], _Partition] = {}
        self._lingering: asyncio.TimerHandle | None = None

    async def put(self, message: Outgoing, partition: int, answered: Answered) -> None:
        """Return when it is in a batch, behind those of its partition before it; waits while too much is on its way.

        `answered` is called later, and not if this raises.

        Raises:
            MessageSizeTooLargeError: it is longer than `MESSAGE_BYTES`.
        """
        place = message.topic, partition
        if (of_it := self._partitions.get(place)) is None:
            of_it = self._partitions[place] = _Partition(self._producer, *place)
        await of_it.put(message, answered)
        if self._lingering is None:
            self._lingering = asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._close)

    async def flush(self) -> None:
        """Return when all are with the client."""
        self._close()
        while sending := [each.sending for each in self._partitions.values() if each.sending is not None]:
            await asyncio.wait(sending)

    def _close(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        for each in self._partitions.values():
            each.close()
