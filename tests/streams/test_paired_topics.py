"""Two sequences read as one: in the order they were made, whatever order they are read in."""

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Any, Self

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from streams.clients import admin
from streams.errors import StreamError, TopicsMissing
from streams.paired_topics import NotOwner, PairedReader, require_equal_partitions
from streams.settings import StreamSettings, TopicSettings
from streams.time_merge import TimeMerge
from streams.topics import create_topics
from tests.support.scenarios import Place
from tests.support.waiting import until

WAIT = 0.25


@dataclass(frozen=True)
class Made:
    timestamp: int
    side: int = 0


def popped(merge: TimeMerge[Made]) -> list[Made]:
    found = []
    while (each := merge.pop()) is not None:
        side, message = each
        assert side == message.side
        found.append(message)
    return found


stamps = st.lists(st.integers(0, 10_000), max_size=30).map(sorted)


class TestMerge:
    @given(stamps, stamps, st.randoms(use_true_random=False))
    def test_what_was_made_in_order_comes_in_order_however_reading_one_runs_ahead(
        self, left: list[int], right: list[int], rng: random.Random
    ):
        """Catching up: everything is old, and news of an end come only with the last of a side."""
        merge: TimeMerge[Made] = TimeMerge(WAIT)
        waiting = [[Made(stamp, side) for stamp in of] for side, of in enumerate((left, right))]
        came: list[Made] = []
        now = 100.0
        while any(waiting):
            side = rng.choice([side for side in (0, 1) if waiting[side]])
            for _ in range(rng.randrange(1, 8)):
                if waiting[side]:
                    merge.push(side, waiting[side].pop(0), now)
            if not waiting[side]:
                merge.ended(side, now, wall=1e9)
            came += popped(merge)
            now += rng.random()
        for side in (0, 1):
            merge.ended(side, now, wall=1e9)
        came += popped(merge)
        assert [each.timestamp for each in came] == sorted(left + right)
        assert [each.timestamp for each in came if each.side == 0] == left
        assert len(merge) == 0

    def test_messages_of_one_millisecond_come_mixed(self):
        """All accepts of a burst and then all its rejects would look like a drop."""
        merge: TimeMerge[Made] = TimeMerge(WAIT)
        for number in range(1000):
            merge.push(int(number % 10 == 0), Made(5, int(number % 10 == 0)), 0)
        for side in (0, 1):
            merge.ended(side, WAIT, wall=1e9)
        came = "".join(str(each.side) for each in popped(merge))
        assert (came.count("0"), came.count("1")) == (900, 100)
        assert max(map(len, came.split("0"))) < 12
        assert max(map(len, came.split("1"))) < 200

    @given(stamps, stamps)
    def test_nothing_is_lost_or_doubled_where_stamps_are_out_of_order(self, left: list[int], right: list[int]):
        merge: TimeMerge[Made] = TimeMerge(WAIT)
        for stamp in reversed(left):
            merge.push(0, Made(stamp), 0)
        for stamp in right:
            merge.push(1, Made(stamp, 1), 0)
        came = popped(merge)
        for side in (0, 1):
            merge.ended(side, WAIT, wall=1e9)
        came += popped(merge)
        assert [each for each in came if each.side == 0] == [Made(stamp) for stamp in reversed(left)]
        assert [each for each in came if each.side == 1] == [Made(stamp, 1) for stamp in right]

    def test_a_head_waits_while_the_other_side_is_not_known_to_have_ended(self):
        merge: TimeMerge[Made] = TimeMerge(WAIT)
        merge.push(0, Made(1000), now=50)
        assert merge.pop() is None
        merge.push(1, Made(500, 1), now=60)
        assert popped(merge) == [Made(500, 1)]
        assert merge.queued(0) == 1

    def test_a_fresh_head_waits_a_moment_longer_and_an_old_one_does_not(self):
        """The other side's end at a moment says nothing of what was made just before it."""
        merge: TimeMerge[Made] = TimeMerge(WAIT)
        made = 1_000_000
        merge.push(0, Made(made), now=50.01)
        merge.ended(1, 50.02, wall=made / 1000 + 0.02)
        assert merge.pop() is None
        merge.ended(1, 50.27, wall=made / 1000 + 0.27)
        assert popped(merge) == [Made(made)]
        merge.push(0, Made(made - 60_000), now=50.5)
        assert popped(merge) == [Made(made - 60_000)]

    def test_a_producers_clock_that_is_ahead_delays_by_no_more_than_the_wait(self):
        merge: TimeMerge[Made] = TimeMerge(WAIT)
        merge.push(0, Made(9_000_000), now=50)
        merge.ended(1, 50.24, wall=1000)
        assert merge.pop() is None
        merge.ended(1, 50.26, wall=1000)
        assert popped(merge) == [Made(9_000_000)]


class TestReader:
    async def test_a_backlog_comes_in_the_order_it_was_made_and_an_idle_topic_holds_nothing_up(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        # On a busy machine a fetch may take longer than one topic waits for the other.
        monkeypatch.setattr("streams.paired_topics.MERGE_WAIT_SECONDS", 3600.0)
        settings = await _prepared(place)
        topics = (settings.topics.accepted, settings.topics.rejected)
        old = int((time.time() - 3600) * 1000)
        # The second topic ends half way.
        stamps = [(old + number, 1 if number < 5000 and number % 5 == 0 else 0) for number in range(10_000)]
        await _put(place, topics, stamps)
        async with Reading(place, settings) as reading:
            taken = await reading.take(len(stamps))
        assert [(record.timestamp, side) for side, record in taken] == stamps

    async def test_what_is_made_while_it_is_read_comes_without_anything_after_it(self, place: Place):
        settings = await _prepared(place)
        topics = (settings.topics.accepted, settings.topics.rejected)
        async with Reading(place, settings) as reading:
            await reading.take(0)
            for _ in range(3):
                await _put(place, topics, [(int(time.time() * 1000), 0)])
                await reading.take(1)

    async def test_large_messages_do_not_pile_up(self, place: Place):
        """Nothing of the one topic may go before the other was read, and that one is held back by its size."""
        settings = await _prepared(place)
        topics = (settings.topics.accepted, settings.topics.rejected)
        old = int((time.time() - 3600) * 1000)
        stamps = [(old + number, 0) for number in range(60)] + [(old + 1000, 1)]
        await _put(place, topics, stamps, size=400_000)
        reader = PairedReader(f"{place.prefix}.pair", topics, settings, on_revoked=_nothing)
        await reader.start()
        try:
            most = unchanged = 0
            while unchanged < 20:
                # Never opened, as while state is restored.
                assert await reader.take(0.05) == []
                unchanged = unchanged + 1 if 0 < reader.queued <= most else 0
                most = max(most, reader.queued)
            assert most < 20
            reader.open(0)
            taken: list[Any] = []
            while len(taken) < len(stamps):
                taken += await reader.take()
        finally:
            await reader.stop()
        assert [(each.record.timestamp, each.side) for each in taken] == stamps

    async def test_it_goes_on_where_it_was_committed_and_a_commit_after_leaving_is_refused(self, place: Place):
        settings = await _prepared(place)
        topics = (settings.topics.accepted, settings.topics.rejected)
        old = int((time.time() - 3600) * 1000)
        await _put(place, topics, [(old + number, number % 2) for number in range(100)])
        async with Reading(place, settings) as reading:
            await reading.take(100)
            await reading.reader.commit({0: (30, 20)})
            assert reading.reader.lag({0: (30, 20)}) == 50
            with pytest.raises(NotOwner):
                await reading.reader.commit({7: (1, 1)})
        async with Reading(place, settings) as reading:
            taken = await reading.take(50)
            assert reading.began == {0: (30, 20)}
        assert [side for side, _ in taken].count(0) == 20

    async def test_both_partitions_of_a_number_lie_with_one_member(self, place: Place):
        settings = await _prepared(place, partitions=5)
        async with Reading(place, settings) as first, Reading(place, settings) as second:
            while {*first.began} & {*second.began} or len({*first.began, *second.began}) < 5:
                await first.turn()
                await second.turn()
            assert first.began
            assert second.began

    async def test_topics_that_stop_going_together_are_named(self, place: Place):
        settings = await _prepared(place, partitions=2)
        topics = (settings.topics.accepted, settings.topics.rejected)
        async with Reading(place, settings) as reading:
            await reading.take(0)
            reading.reader.assigned({TopicPartition(topics[0], 0), *(TopicPartition(topics[1], n) for n in (0, 1))})
            with pytest.raises(StreamError, match="raise the one that has fewer"):
                await reading.turn()

    async def test_topics_that_are_not_there_and_do_not_go_together_are_named(self, place: Place):
        settings = await _prepared(place, partitions=2)
        more = StreamSettings(kafka=settings.kafka, topics=TopicSettings(prefix=f"{place.prefix}.b", partitions=3))
        with pytest.raises(TopicsMissing, match="assay topics create"):
            await require_equal_partitions(settings.kafka, [settings.topics.accepted, more.topics.accepted])
        await create_topics(more)
        await until(lambda: _there(more))
        with pytest.raises(StreamError, match=r"accepted has 2, .*accepted has 3; raise the others to 3"):
            await require_equal_partitions(settings.kafka, [settings.topics.accepted, more.topics.accepted])
        assert await require_equal_partitions(settings.kafka, settings.topics.all) == 2


class Reading:
    """A reader that opens its partitions as soon as it has them."""

    def __init__(self, place: Place, settings: StreamSettings) -> None:
        topics = (settings.topics.accepted, settings.topics.rejected)
        self.reader = PairedReader(f"{place.prefix}.pair", topics, settings, on_revoked=self._revoked)
        self.began: dict[int, tuple[int, int]] = {}

    async def __aenter__(self) -> Self:
        await self.reader.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.reader.stop()

    async def _revoked(self) -> None:
        self.began.clear()

    async def turn(self) -> list[Any]:
        for partition in self.reader.unopened:
            self.began[partition] = await self.reader.next_offsets(partition)
            self.reader.open(partition)
        return await self.reader.take(0.05)

    async def take(self, count: int) -> list[tuple[int, Any]]:
        """So many messages; with 0, none, once the partitions are there."""
        taken: list[tuple[int, Any]] = []
        while len(taken) < count or not self.began:
            taken += [(side, record) for _, side, record in await self.turn()]
        return taken


async def _there(settings: StreamSettings) -> bool:
    """True if the brokers tell of topics that were just made."""
    async with admin(settings.kafka) as client:
        return set(settings.topics.all) <= set(await client.list_topics())


async def _nothing() -> None:
    pass


async def _prepared(place: Place, **more: Any) -> StreamSettings:
    return await asyncio.to_thread(place.prepare, place.settings(**more))


async def _put(place: Place, topics: tuple[str, str], stamps: list[tuple[int, int]], *, size: int = 1) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=place.servers, linger_ms=5, acks="all")
    await producer.start()
    try:
        sent = [
            await producer.send(topics[side], b"x" * size, key=b"k", timestamp_ms=stamp, partition=0)
            for stamp, side in stamps
        ]
        await asyncio.gather(*sent)
    finally:
        await producer.stop()
