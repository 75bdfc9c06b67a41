"""A Faust app for one consumer group; subclasses add what Faust 0.15.3 lacks."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import faust
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from faust.sensors.monitor import Monitor
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.clients import REQUEST_TIMEOUT_SECONDS, Commit, group_consumer, rebalance_timeout_seconds
from streams.settings import StreamSettings

_LISTS_WAITING = 1
"""Lists between the fetcher and the agent: the next one is there when the agent has begun the last record of one."""

_LIST_BYTES = 1_048_576
"""A list has no more records once it is as long as this: what is fetched stays in memory until it is begun."""

_AT_ONCE = 8
"""Records taken before their bytes are counted: of a megabyte each, so many may come on top."""

_COMMIT_SECONDS = 0.5


class PartitionProgress(NamedTuple):
    """How far a partition is finished."""

    end: int  # The offset behind the last record.
    finished: int  # The offset that is committed.


class _ConsumerThread(driver.AIOKafkaConsumerThread):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fetched: dict[TP, int] = {}  # By partition the offset of the last record fetched.

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        # Whole, not patched: Faust's own knows neither the fetch wait nor our TLS and SASL settings.
        app = cast("GroupApp", self.app)
        self._assignor = RoundRobinPartitionAssignor
        consumer = group_consumer(app.settings, app.group, self._assignor)
        consumer.notes = cast("GroupConsumer", self.consumer).notes
        return consumer

    async def _fetch_records(
        self,
        consumer: AIOKafkaConsumer,
        active_partitions: set[TP],
        timeout: float | None = None,  # noqa: ASYNC109 - as in Faust
        max_records: int | None = None,
    ) -> dict[TP, list[ConsumerRecord]]:
        """Bound what is taken by its bytes: a broker bounds it compressed, and by partition."""
        lists: dict[TP, list[ConsumerRecord]] = {}
        size = 0
        # Only the first call waits. The others come without a turn of the loop, so no partition is lost in between.
        while size < _LIST_BYTES and (
            taken := await super()._fetch_records(consumer, active_partitions, 0 if lists else timeout, _AT_ONCE)
        ):
            for tp, records in taken.items():
                lists.setdefault(tp, []).extend(records)
                self.fetched[tp] = records[-1].offset
                size += sum(record.serialized_value_size for record in records)
        return lists


class _AsTheyAre(faust.Schema[Any, Any]):
    """Leaves the records of a list as the client gave them."""

    def loads_value(self, app: Any, message: Any, **_: Any) -> Any:
        return message.value


class GroupConsumer(driver.Consumer):
    """Reads lists of records, and commits up to where they were acknowledged.

    Faust counts acknowledgements by the message, which here is a list; so they are not given to Faust, and what it
    acknowledges by itself, a list that it skips in a rebalance, counts for nothing.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.scheduler = self  # type: ignore[assignment]  # all of one that is asked for
        self._acknowledged: dict[TP, tuple[int, float]] = {}
        """By partition what is to be committed, as in `acknowledge`."""
        self.notes: dict[TP, str] = {}
        self._begun: dict[TP, int] = {}  # By partition the offset that the group began at.
        self._assigned_at = self._member_until = -math.inf
        self._seeking = asyncio.Lock()
        self._sought: Mapping[TP, int | None] = {}  # The committed offsets of the partitions at the last seek.

    def iterate(self, records: Mapping[TP, list[ConsumerRecord]]) -> Iterator[tuple[TP, Any]]:
        """Hand on the records of a partition that were fetched together as one."""
        return iter(records.items())

    def acknowledge(self, tp: TP, offset: int, since: float) -> None:
        """Have the timer commit `offset`, behind finished records; others may be answered `since`, a Unix time."""
        self._acknowledged[tp] = offset, since

    def is_member(self) -> bool:
        """True unless the group may have given this member's partitions to others, as it was not heard for too long."""
        # Asked for every answer: only where it may be no member any more is the other thread's client looked at.
        now = time.monotonic()
        if now >= self._member_until:
            heard_at: float = max(self._assigned_at, self._thread._ensure_consumer().heard_at)  # noqa: SLF001
            session: float = cast("GroupApp", self.app).settings.kafka.session_seconds
            self._member_until = heard_at + session
        return now < self._member_until

    async def taken_over(self) -> Mapping[TP, Commit]:
        """The group's commits in the assigned partitions; raises KafkaError, as where they were taken away meanwhile.

        Where nothing is committed, the first offset is from now on: before anything is answered, a commit notes since
        when that may be.
        """
        return cast("Mapping[TP, Commit]", await self._thread.call_thread(self._taken_over))

    async def _taken_over(self) -> Mapping[TP, Commit]:
        consumer = self._thread._ensure_consumer()  # noqa: SLF001
        found = {TP(*place): Commit.read(at) for place, at in (await consumer.committed_with_notes()).items()}
        self._begun = {tp: at.begun for tp, at in found.items()}
        if fresh := consumer.assignment() - found.keys():
            first, since = await consumer.beginning_offsets(fresh), time.time()
            await consumer.commit({place: Commit(offset, since).noted for place, offset in first.items()})
            found |= {TP(*place): Commit(offset) for place, offset in first.items()}
        return found

    async def progress(self) -> Mapping[TP, PartitionProgress]:
        """How far its partitions are finished; raises KafkaError where no broker answers. On the consumer's thread."""
        thread = cast("_ConsumerThread", self._thread)
        consumer = thread._ensure_consumer()  # noqa: SLF001
        found = {}
        # Ends that come with the fetched records are old where a full list waits for its turn.
        for place, end in (await consumer.end_offsets(consumer.assignment())).items():
            tp = TP(*place)
            committed = self._committed_offset.get(tp) or 0
            if committed > thread.fetched.get(tp, -1) and consumer.is_at_end(tp, end):
                # Behind the last record there may be marks of transactions.
                committed = end
            found[tp] = PartitionProgress(end, min(committed, end))
        return found

    def _to_message(self, tp: TP, record: Any) -> Any:
        message = super()._to_message(tp, record[-1])
        message.value = record
        return message

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return iter(list(self._acknowledged))

    def _new_offset(self, tp: TP) -> int | None:
        if (acknowledged := self._acknowledged.pop(tp, None)) is None:
            return None
        offset, since = acknowledged
        self.notes[tp] = Commit(offset, since, self._begun.get(tp, 0)).noted.metadata
        return offset

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Leave out what Faust takes down about offsets between messages: here there are always some."""

    def _new_consumer_thread(self) -> _ConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    def on_buffer_full(self, tp: TP) -> None:
        """Let the full buffer hold the fetcher back: Faust stops fetching the partition, and may sleep for a second."""

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        self._assigned_at = time.monotonic()
        await super().on_partitions_assigned(assigned, generation_id)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Forget what was acknowledged after the last commit: another member may have got farther by the next one."""
        await super().on_partitions_revoked(revoked)
        self._acknowledged.clear()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        self._sought = await super().seek_to_committed()
        return self._sought

    async def perform_seek(self) -> None:
        """Go back where nothing is committed, too: to the first record.

        Faust goes back to what is committed after a rebalance, and when one begins while records are being fetched; a
        partition of which nothing is committed it leaves where the fetcher got to, and skips what was fetched.
        """
        # The two overlap: one that ends late must not undo what the other has found.
        async with self._seeking:
            await super().perform_seek()
            fresh = [tp for tp, offset in self._sought.items() if not offset]
            consumer = self._thread._ensure_consumer()  # noqa: SLF001

            async def rewind() -> None:
                # Asked there and then: the next rebalance may have taken a partition away already.
                if still := consumer.assignment().intersection(fresh):
                    await consumer.seek_to_beginning(*still)

            await self._thread.call_thread(rewind)

    async def wait_empty(self) -> None:
        """Wait at most the drain time, then commit. Faust waits without a limit."""
        await cast("GroupApp", self.app).drain()
        # A commit under way began before the last record was finished, and Faust begins no other at the same time.
        await self.maybe_wait_for_commit_to_finish()
        await self.commit_and_end_transactions()

    def verify_event_path(self, now: float, tp: TP) -> None:
        """No warnings about slow partitions: records may be held for hours, and metrics show it."""


class _Silent(Monitor):
    """Turns off Faust's own statistics of every message: our metrics replace them."""

    def on_message_in(self, *_: Any) -> None:
        pass

    on_stream_event_in = track_tp_end_offset = on_message_in  # type: ignore[assignment]


class GroupApp(faust.App):
    """One consumer group on one topic: lists of raw records, no tables, no web server, no producer."""

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
            stream_buffer_maxsize=_LISTS_WAITING,
            broker_commit_interval=_COMMIT_SECONDS,
            broker_session_timeout=settings.kafka.session_seconds,
            broker_request_timeout=REQUEST_TIMEOUT_SECONDS,
            broker_rebalance_timeout=rebalance_timeout_seconds(settings.delivery),
        )
        self.boot_strategy.enable_kafka_producer = False
        self.transport.Consumer = GroupConsumer  # type: ignore[misc]

    def listen(self, topic: str, body: Callable[[Any], Awaitable[None]]) -> None:
        """Process the stream of `topic` with `body` as this app's agent; its messages are lists of records."""
        self.agent(self.topic(topic, schema=_AsTheyAre()), name=self.group)(body)

    async def progress(self) -> Mapping[TP, PartitionProgress]:
        """How far it has come in its partitions."""
        consumer = cast("GroupConsumer", self.consumer)
        return cast("Mapping[TP, PartitionProgress]", await consumer._thread.call_thread(consumer.progress))  # noqa: SLF001

    @property
    def member_of(self) -> int | None:
        """The group's generation in which the partitions are its own; None where they may be others'."""
        is_member = self.joined and cast("GroupConsumer", self.consumer).is_member()
        return self.consumer_generation_id if is_member else None

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
