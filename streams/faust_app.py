"""A Faust app for one consumer group; subclasses mend what Faust 0.15.3 lacks."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import faust
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from faust.app.base import BootStrategy
from faust.sensors.monitor import Monitor
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.clients import REQUEST_TIMEOUT_SECONDS, group_consumer, rebalance_timeout_seconds
from streams.settings import StreamSettings

_BUFFER = 64
"""Messages between the fetcher and the agent: enough to bridge a turn of the event loop at 5,000 records a second, and
few, as each can be a megabyte."""


_COMMIT_SECONDS = 0.5
"""Between commits: records finished since the last one are checked again after a crash."""


class _ConsumerThread(driver.AIOKafkaConsumerThread):
    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        # Whole, not patched: Faust's own knows neither the fetch wait nor our TLS and SASL settings.
        app = cast("GroupApp", self.app)
        self._assignor = RoundRobinPartitionAssignor
        return group_consumer(app.settings, app.group, self._assignor)


class _Consumer(driver.Consumer):
    def _new_consumer_thread(self) -> _ConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    def on_buffer_full(self, tp: TP) -> None:
        """Let the full buffer itself hold the fetcher back.

        Faust takes the partition out of the fetch instead, and where it was the only one, sleeps for a second.
        """

    async def wait_first(self, *coros: Any, timeout: Any = None) -> Any:  # noqa: ASYNC109 - as in Faust
        """Hand a message over without two tasks and a wait, which cost a tenth of a worker's time.

        Faust hands every message over in a race against the beginning of a rebalance. Where the flow runs and the
        buffer has room, the handing over does not wait for anything, and there is nothing to race against.
        """
        app = cast("GroupApp", self.app)
        if len(coros) != 2 or not (self.flow_active and app.has_room()):
            return await super().wait_first(*coros, timeout=timeout)
        deliver, suspended = coros
        suspended.close()
        return await deliver

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit first: Faust's next step forgets what is acknowledged and not committed."""
        await self.commit()
        await super().on_partitions_revoked(revoked)

    async def perform_seek(self) -> None:
        """Go back where nothing is committed, too: to the first record.

        Faust goes back to what is committed after a rebalance, and when one begins while records are being fetched; a
        partition of which nothing is committed it leaves where the fetcher got to, and passes over what was fetched.
        """
        await super().perform_seek()
        thread = self._thread
        consumer = thread._ensure_consumer()  # noqa: SLF001

        async def rewind() -> None:
            # Asked there and then: the next rebalance may have taken a partition away already.
            if fresh := [tp for tp in consumer.assignment() if not self._read_offset.get(TP(*tp))]:
                await consumer.seek_to_beginning(*fresh)

        await thread.call_thread(rewind)

    async def wait_empty(self) -> None:
        """Wait at most the drain time, then commit. Faust waits without a limit."""
        await cast("GroupApp", self.app).drain()
        await self.commit_and_end_transactions()

    def verify_event_path(self, now: float, tp: TP) -> None:
        """No warnings about slow partitions: records may be held for hours, and metrics tell."""


class _Silent(Monitor):
    """Turns off Faust's own statistics of every message: our metrics replace them."""

    def on_message_in(self, tp: TP, offset: int, message: Any) -> None:
        pass

    def on_stream_event_in(self, tp: TP, offset: int, stream: Any, event: Any) -> None:
        pass

    def track_tp_end_offset(self, tp: TP, offset: int) -> None:
        pass


class _Transport(driver.Transport):
    Consumer = _Consumer


class _WithoutProducer(BootStrategy):
    enable_kafka_producer = False


class GroupApp(faust.App):
    """One consumer group on one topic: raw bytes, no tables, no web server, no producer."""

    BootStrategy = _WithoutProducer

    def __init__(
        self,
        group: str,
        settings: StreamSettings,
        *,
        drain: Callable[[], Awaitable[None]],
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        """`drain` returns when nothing is under way any more; `on_fatal` is called if the app cannot go on."""
        self.group = group
        self.settings = settings
        self.drain = drain
        self._on_fatal = on_fatal
        self._buffer: Any = None
        self.joined = False
        """True once the group has assigned partitions to this app, perhaps none."""
        super().__init__(
            group,
            monitor=_Silent(),
            broker=[f"kafka://{server}" for server in settings.kafka.servers],
            store="memory://",
            autodiscover=False,
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            key_serializer="raw",
            value_serializer="raw",
            stream_buffer_maxsize=_BUFFER,
            broker_commit_interval=_COMMIT_SECONDS,
            broker_session_timeout=settings.delivery.session_timeout_seconds,
            broker_request_timeout=REQUEST_TIMEOUT_SECONDS,
            broker_rebalance_timeout=rebalance_timeout_seconds(settings.delivery),
        )

    def listen(self, topic: str, body: Callable[[Any], Awaitable[None]]) -> None:
        """Process the stream of `topic` with `body` as this app's agent."""
        source = self.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")

        async def listening(stream: Any) -> None:
            self._buffer = stream.channel.queue
            await body(stream)

        self.agent(source, name=self.group)(listening)

    def has_room(self) -> bool:
        """True if a message can be handed to the agent without waiting."""
        return self._buffer is not None and not self._buffer.full() and bool(self.flow_control.is_active())

    def lag(self) -> int:
        """Number of uncommitted records of this app's partitions, except partitions not read yet."""
        consumer = cast("Any", self.consumer)
        behind = 0
        for tp in consumer.assignment():
            try:
                end = consumer.highwater(tp)
            except AssertionError:
                # aiokafka's way to say that a rebalance, on the consumer's own thread, has just taken it away.
                continue
            committed = consumer._committed_offset[tp]  # noqa: SLF001 - Faust tells it to its monitor only
            if end is not None:
                behind += max(0, end - (committed or 0))
        return behind

    def _new_transport(self) -> _Transport:
        return _Transport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> _Transport:
        return _Transport(self.conf.broker_producer, self)

    def _create_directories(self) -> None:
        # A store in memory writes nothing.
        pass

    def on_rebalance_start(self) -> None:
        self.joined = False
        super().on_rebalance_start()

    def on_rebalance_end(self) -> None:
        super().on_rebalance_end()
        self.joined = True

    def _crash(self, reason: BaseException) -> None:
        super()._crash(reason)
        self._on_fatal(reason)
