"""Spending as a counter that only grows, and budgets over the spending topic."""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from pydantic import ValidationError
from structlog.testing import capture_logs

from agents.runtime import Runtime
from agents.spending.budgets import Budgets
from agents.spending.counter import DailySpend, SpendNote, Spent
from agents.spending.settings import BudgetSettings
from schemas import Usage
from streams.intake_gate import Hold
from streams.metrics import StreamMetrics
from streams.publisher import Publisher
from streams.settings import StreamSettings
from tests.support.kafka import KafkaBroker
from tests.support.scenarios import Place
from tests.support.waiting import until

TODAY = date(2026, 3, 1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CALLS = {"consistency": BudgetSettings(calls=100)}

incarnations = st.sampled_from(["a", "b", "c", "own"])
notes = st.builds(
    SpendNote,
    day=st.sampled_from([TODAY, TODAY + timedelta(days=1)]),
    name=st.sampled_from(["consistency", "improver"]),
    incarnation=incarnations,
    calls=st.integers(0, 10**9),
    tokens=st.integers(0, 10**12),
    # Whole numbers, so that sums are exact in any order.
    cost=st.integers(0, 10**6).map(float),
)


def merged(*batches: list[SpendNote]) -> DailySpend:
    spend = DailySpend(["consistency", "improver"], "own")
    for batch in batches:
        for note in batch:
            spend.merge(note)
    return spend


def totals(spend: DailySpend) -> list[Spent]:
    return [spend.total(TODAY + timedelta(days=n), name) for n in (0, 1) for name in ("consistency", "improver")]


@given(st.lists(notes, max_size=12), st.randoms(use_true_random=False), st.data())
def test_order_repeats_and_reading_again_change_no_sum(told: list[SpendNote], rng: random.Random, data: st.DataObject):
    again = told + (data.draw(st.lists(st.sampled_from(told))) if told else [])
    rng.shuffle(again)
    assert totals(merged(again)) == totals(merged(told)) == totals(merged(told, told))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50), st.integers(0, 900)), max_size=30))
def test_the_sum_over_workers_is_what_they_spent_whoever_reads(spent: list[tuple[str, int, int]]):
    workers = {name: DailySpend(["consistency"], name) for name in "abcd"}
    told = []
    for name, calls, tokens in spent:
        workers[name].add(TODAY, "consistency", Spent(calls, tokens, calls / 4))
        told += workers[name].own()
    for note in told:
        for worker in workers.values():
            worker.merge(note)
    expected = Spent(sum(s[1] for s in spent), sum(s[2] for s in spent), sum(s[1] for s in spent) / 4)
    for worker in workers.values():
        assert worker.total(TODAY, "consistency") == expected


@given(st.lists(notes, min_size=1, max_size=12))
def test_a_sum_never_shrinks(told: list[SpendNote]):
    spend = merged([])
    before = totals(spend)
    for note in told:
        spend.merge(note)
        after = totals(spend)
        for now, then in zip(after, before, strict=True):
            assert (now.calls >= then.calls, now.tokens >= then.tokens, now.cost >= then.cost) == (True, True, True)
        before = after


def test_a_note_keeps_its_meaning_on_the_way():
    spend = DailySpend(["a|b"], "own")
    spend.add(TODAY, "a|b", Spent(3, 40, 0.1))
    (note,) = spend.own()
    assert SpendNote.model_validate_json(note.model_dump_json()) == note
    assert note.key == b"2026-03-01|a|b|own"


def test_days_that_are_over_and_names_without_a_budget_are_not_kept():
    spend = DailySpend(["consistency"], "own")
    for day in range(400):
        today = TODAY + timedelta(days=day)
        spend.forget_before(today)
        spend.add(today, "consistency", Spent(calls=1))
        for name in ("consistency", f"stranger-{day}"):
            spend.merge(SpendNote(day=today, name=name, incarnation=f"w{day}", calls=1, tokens=0, cost=0))
        assert spend.total(today, "consistency").calls == 2
        assert spend.total(today, f"stranger-{day}").calls == 0
    assert [len(kept) for kept in (spend._own, spend._others, spend._others_sum)] == [1, 1, 2]


def test_usage_below_zero_gives_nothing_back():
    usage = Usage(calls=-5, prompt_tokens=-3, completion_tokens=4, cost=-1.0)
    assert Spent.of(usage) == Spent(calls=0, tokens=4, cost=0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give calls, tokens or cost"),
        ({"calls": 0}, "greater than 0"),
        ({"tokens": -1}, "greater than 0"),
        ({"cost": 0.0}, "greater than 0"),
        ({"cost": float("inf")}, "finite"),
        ({"calls": 1.5}, "integer"),
        ({"call": 1}, "Extra inputs"),
    ],
)
def test_wrong_budgets_are_refused(given: dict[str, Any], said: str):
    with pytest.raises(ValidationError, match=said):
        BudgetSettings.model_validate(given)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rounds of telling a second."""
    monkeypatch.setattr("agents.spending.exchange.TELL_SECONDS", 0.1)


class Clock:
    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@contextlib.asynccontextmanager
async def running(settings: StreamSettings, *budgets: Budgets) -> AsyncIterator[Runtime]:
    """Budgets without a worker, stopped in good order."""
    failures: list[BaseException] = []
    publisher = Publisher(settings)
    await publisher.start()
    try:
        for each in budgets:
            metrics = StreamMetrics(CollectorRegistry(), max_subjects=10)
            runtime = Runtime(settings=settings, publisher=publisher, metrics=metrics, fail=failures.append)
            await each.start(runtime)
        yield runtime
    finally:
        for each in budgets:
            await each.stop()
        await publisher.stop()
    assert not failures


async def spent(budgets: Budgets, calls: int, *, name: str = "consistency") -> None:
    """Return when so many calls are known to be spent."""
    await until(lambda: budgets._spend.total(budgets._today(), name).calls == calls)


async def ready(budgets: Budgets) -> None:
    async def is_ready() -> bool:
        return await budgets.ready() is None

    await until(is_ready)


async def on_topic(settings: StreamSettings) -> list[tuple[bytes, bytes | None]]:
    """Keys and values on the spending topic, in order."""
    place = TopicPartition(settings.topics.spending, 0)
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka.servers, auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([place])
        end = (await consumer.end_offsets([place]))[place]
        found: list[tuple[bytes, bytes | None]] = []
        while await consumer.position(place) < end:
            messages = (await consumer.getmany(place, timeout_ms=100)).get(place, ())
            found += [(message.key, message.value) for message in messages]
        return found
    finally:
        await consumer.stop()


async def prepared(place: Place) -> StreamSettings:
    return await asyncio.to_thread(place.prepare, place.settings())


async def test_without_a_budget_nothing_is_limited_read_or_measured(place: Place):
    budgets = Budgets()
    settings = place.checked()
    registry = CollectorRegistry()
    runtime = Runtime(
        settings=settings,
        publisher=Publisher(settings),
        metrics=StreamMetrics(registry, max_subjects=10),
        fail=pytest.fail,
    )
    # There are no topics, and nothing misses them.
    assert budgets.topics(settings.topics) == ()
    await budgets.start(runtime)
    budgets.book("consistency", Usage(calls=10**9))
    assert await budgets.spent_up("consistency") is None
    assert await budgets.ready() is None
    await budgets.stop()
    assert "assay_budget_spent" not in registry._names_to_collectors


async def test_before_it_is_known_what_was_spent_records_are_held():
    budgets = Budgets(CALLS)
    assert await budgets.ready() == "what was spent today is not read yet"
    with pytest.raises(Hold):
        await budgets.spent_up("consistency")
    assert await budgets.spent_up("improver") is None
    await budgets.stop()


async def test_while_kafka_does_not_answer_at_the_start_records_are_held_and_it_says_why():
    settings = StreamSettings.model_validate({"kafka": {"bootstrap_servers": "127.0.0.1:1"}})
    metrics = StreamMetrics(CollectorRegistry(), max_subjects=10)
    runtime = Runtime(settings=settings, publisher=Publisher(settings), metrics=metrics, fail=pytest.fail)
    budgets = Budgets(CALLS)
    await budgets.start(runtime)
    with pytest.raises(Hold):
        await budgets.spent_up("consistency")
    assert await budgets.ready() == "what was spent today is not read yet (BrokerUnavailable)"
    await budgets.stop()


@pytest.mark.parametrize(
    ("budget", "usage", "said"),
    [
        ({"calls": 3}, {"calls": 3}, "3 of 3 calls (budgets.consistency.calls)"),
        ({"calls": 1000}, {"calls": 1234}, "1,234 of 1,000 calls (budgets.consistency.calls)"),
        ({"calls": 4}, {"calls": 3, "prompt_tokens": 10**6, "cost": 10.0}, None),
        ({"tokens": 10}, {"prompt_tokens": 6, "completion_tokens": 5}, "11 of 10 tokens (budgets.consistency.tokens)"),
        ({"cost": 0.5}, {"cost": 0.625}, "0.625 of 0.5 cost (budgets.consistency.cost)"),
        ({"calls": 9, "cost": 0.5}, {"calls": 1, "cost": 0.5}, "0.5 of 0.5 cost (budgets.consistency.cost)"),
    ],
)
async def test_it_says_which_limit_is_reached_and_when_it_starts_anew(
    embedded_place: Place, budget: dict[str, Any], usage: dict[str, Any], said: str | None
):
    budgets, begun = Budgets({"consistency": BudgetSettings.model_validate(budget)}, now=Clock()), time.time()
    async with running(embedded_place.checked(), budgets) as runtime:
        assert await budgets.spent_up("consistency") is None
        budgets.book("consistency", Usage.model_validate(usage))
        expected = said and f"the day's budget is spent: {said}; it starts anew at 2026-03-02T00:00Z"
        assert await budgets.spent_up("consistency") == expected
        sample = runtime.metrics.registry.get_sample_value
        for unit, limit in budget.items():
            assert sample("assay_budget_limit", {"name": "consistency", "unit": unit}) == limit
        assert sample("assay_budget_spent", {"name": "consistency", "unit": "calls"}) == usage.get("calls", 0)
        assert sample("assay_budget_read_timestamp_seconds") >= begun


async def test_workers_hear_of_each_other_and_a_restart_knows_what_was_spent(place: Place):
    settings = await prepared(place)
    clock = Clock()
    first, second = Budgets(CALLS, now=clock), Budgets(CALLS, now=clock)
    async with running(settings, first, second):
        await ready(first)
        first.book("consistency", Usage(calls=60))
        await spent(second, 60)
        assert await second.spent_up("consistency") is None
        second.book("consistency", Usage(calls=40))
        assert await second.spent_up("consistency") is not None
        await spent(first, 100)
        assert await first.spent_up("consistency") is not None
        # Not told yet when the stop comes.
        first.book("consistency", Usage(calls=5))
    third = Budgets(CALLS, now=clock)
    async with running(settings, third):
        assert "105 of 100 calls" in (await third.spent_up("consistency") or "")
        clock.at = datetime(2026, 3, 2, 0, 0, 1, tzinfo=UTC)
        assert await third.spent_up("consistency") is None
        third.book("consistency", Usage(calls=100))
        assert "2026-03-03T00:00Z" in (await third.spent_up("consistency") or "")
        # Set back, the clock opens nothing: what was spent on the day before is forgotten.
        clock.at = NOON
        assert await third.spent_up("consistency") is not None


async def test_what_a_killed_worker_had_told_counts(place: Place):
    settings = await prepared(place)
    killed, other = Budgets(CALLS, now=Clock()), Budgets(CALLS, now=Clock())
    async with running(settings, killed, other):
        await ready(killed)
        killed.book("consistency", Usage(calls=70))
        await spent(other, 70)
        # As after kill -9: what comes now is told to nobody.
        exchange, killed._exchange = killed._exchange, None
        assert exchange is not None
        tasks, exchange._tasks = exchange._tasks, []
        for task in tasks:
            task.cancel()
        killed.book("consistency", Usage(calls=20))
    restarted = Budgets(CALLS, now=Clock())
    async with running(settings, restarted):
        await ready(restarted)
        await spent(restarted, 70)


async def test_a_note_is_sent_only_when_something_was_spent(place: Place):
    settings = await prepared(place)
    budgets = Budgets({"consistency": BudgetSettings(calls=5), "improver": BudgetSettings(calls=5)}, now=Clock())
    async with running(settings, budgets):
        await ready(budgets)
        budgets.book("consistency", Usage(calls=1, prompt_tokens=2, completion_tokens=3, cost=0.5))
        told = await until(lambda: on_topic(settings))
        second = Budgets({"improver": BudgetSettings(calls=5)}, now=Clock())
        async with running(settings, second):
            second.book("improver", Usage(calls=1))
            # Several rounds of telling later.
            await spent(budgets, 1, name="improver")
        told_by_it = [each for each in await on_topic(settings) if budgets._spend._incarnation.encode() in each[0]]
    assert [json.loads(value or b"null") for _, value in told] == [
        {"day": "2026-03-01", "name": "consistency", "incarnation": budgets._spend._incarnation}
        | {"calls": 1, "tokens": 5, "cost": 0.5}
    ]
    assert told_by_it == told


async def test_old_entries_are_removed_rubbish_is_passed_over_and_tomorrow_waits(place: Place):
    settings = await prepared(place)
    notes = {
        name: SpendNote(day=day, name="consistency", incarnation=name, calls=calls, tokens=0, cost=0)
        for name, day, calls in [
            ("older", TODAY - timedelta(days=2), 1),
            ("yesterday", TODAY - timedelta(days=1), 2),
            ("today", TODAY, 4),
            ("tomorrow", TODAY + timedelta(days=1), 8),
            ("later", TODAY + timedelta(days=2), 16),
        ]
    }
    rubbish: list[bytes] = [b"", b"{", b"[]", b'{"day": "2026-03-01"}', b"\xff"]
    rubbish += [notes["today"].model_dump_json().encode().replace(b":4,", wrong) for wrong in (b":-4,", b':"x",')]
    messages = [(note.key, note.model_dump_json().encode()) for note in notes.values()]
    messages += [(b"rubbish", value) for value in rubbish]
    producer = AIOKafkaProducer(bootstrap_servers=settings.kafka.servers)
    await producer.start()
    for key, value in messages:
        await producer.send_and_wait(settings.topics.spending, value, key=key, partition=0)
    await producer.stop()
    clock = Clock()
    budgets = Budgets(CALLS, now=clock)

    async def removed() -> bool:
        return any(value is None for _, value in await on_topic(settings))

    with capture_logs() as logs:
        async with running(settings, budgets):
            await ready(budgets)
            await spent(budgets, 4)
            await until(removed)
            # The worker whose clock is ahead said so before midnight, and nothing since.
            clock.at = NOON + timedelta(days=1)
            await spent(budgets, 8)
    assert len([log for log in logs if log["event"] == "no spending note, it counts for nothing"]) == len(rubbish)
    assert [key for key, value in await on_topic(settings) if value is None] == [notes["older"].key]


async def test_while_kafka_is_away_it_goes_on_with_what_it_knows_and_then_catches_up(
    own_kafka: KafkaBroker, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agents.spending.exchange._ANSWER_SECONDS", 2.0)
    place = Place(own_kafka.bootstrap_servers, "away", tmp_path)
    settings = await prepared(place)
    first, second = Budgets(CALLS, now=Clock()), Budgets(CALLS, now=Clock())
    with capture_logs() as logs:
        async with running(settings, first, second) as runtime:
            await ready(first)
            await ready(second)
            first.book("consistency", Usage(calls=10))
            await spent(second, 10)
            await asyncio.to_thread(own_kafka.stop)
            await until(lambda: any("cannot be read" in log["event"] for log in logs))
            last_read = runtime.metrics.registry.get_sample_value("assay_budget_read_timestamp_seconds")
            second.book("consistency", Usage(calls=89))
            assert await second.spent_up("consistency") is None
            second.book("consistency", Usage(calls=1))
            assert await second.spent_up("consistency") is not None
            assert await second.ready() is None
            first.book("consistency", Usage(calls=30))
            assert runtime.metrics.registry.get_sample_value("assay_budget_read_timestamp_seconds") == last_read
            await asyncio.to_thread(own_kafka.start)
            await spent(second, 130)
            await spent(first, 130)
            assert any(log["event"] == "spending can be read again" for log in logs)
