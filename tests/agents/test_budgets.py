"""Budgets of workers on Apache Kafka: shared, kept over a restart, new every day, and no record lost."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from aiokafka import AIOKafkaConsumer

from agents.checker_agent import checker_agent
from agents.spending.budgets import Budgets
from agents.spending.settings import BudgetSettings
from models.billing import book
from models.protocol import OracleUnavailable
from schemas import Envelope, Usage
from streams.errors import TopicsMissing
from streams.settings import StreamSettings
from tests.support.checkers import Accept, Sleep
from tests.support.scenarios import Place
from tests.support.traffic import collect, put, record
from tests.support.waiting import until
from tests.support.workers import WorkerHere, agents_here

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BUDGET = 150
SECONDS = 0.1
AT_ONCE = 2
LABELS = {"source": "tests", "model": "m", "checker": "sleep"}


class Clock:
    at = NOON

    def __call__(self) -> datetime:
        return self.at


@contextlib.asynccontextmanager
async def worker(raw: dict[str, Any], clock: Clock) -> AsyncIterator[WorkerHere]:
    budgets = Budgets({"sleep": BudgetSettings(calls=BUDGET)}, now=clock)
    async with agents_here(
        [checker_agent(Sleep(SECONDS, spread=0), budgets=budgets)], raw, services=[budgets]
    ) as running:
        yield running


def calls(*workers: WorkerHere) -> list[int]:
    return [int(each.metric("assay_check_calls_total", checker="sleep")) for each in workers]


async def known(each: WorkerHere, spent: int) -> None:
    """Return when a worker's metrics show that so many calls are spent."""
    labels = {"name": "sleep", "unit": "calls"}
    await until(lambda: each.registry.get_sample_value("assay_budget_spent", labels) == spent)


async def abstentions(place: Place, settings: StreamSettings) -> list[dict[str, Any]]:
    """The evidence of all verdicts that abstain."""
    consumer = AIOKafkaConsumer(
        settings.topics.abstained,
        bootstrap_servers=place.servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await consumer.start()
    try:
        end = sum((await consumer.end_offsets(consumer.assignment())).values())
        found: list[dict[str, Any]] = []
        while len(found) < end:
            for messages in (await consumer.getmany(timeout_ms=200)).values():
                found += [json.loads(message.value) for message in messages]
        return found
    finally:
        await consumer.stop()


async def test_two_workers_share_a_budget_that_a_restart_keeps_and_the_next_day_renews(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agents.spending.exchange.TELL_SECONDS", 0.05)
    monkeypatch.setattr("agents.spending.exchange.READ_SECONDS", 0.05)
    raw = place.settings(partitions=4, concurrency=AT_ONCE)
    settings = await asyncio.to_thread(place.prepare, raw)
    outputs = settings.topics.outputs
    clock = Clock()
    async with worker(raw, clock) as first, worker(raw, clock) as second:
        await _both_joined(first, second)
        await put(place.servers, outputs, map(record, range(3 * BUDGET)), spread=True)
        seen = await collect(place.servers, settings.topics, records=3 * BUDGET, settle=0.5)
        spent = calls(first, second)
        left_out = [each.metric("assay_left_out_total", reason="budget", **LABELS) for each in (first, second)]
        for each in (first, second):
            await known(each, sum(spent))
    # Each worker does 20 checks a second and hears of the other's within 0.2 s, on a busy machine within 3.2 s; two are
    # under way in each. Apart they would spend all of twice the budget.
    overshoot = 3.2 / SECONDS * AT_ONCE + 2 * AT_ONCE
    assert BUDGET <= sum(spent) <= BUDGET + overshoot
    assert min(spent) > BUDGET / 5
    assert len(seen.verdicts) == 3 * BUDGET
    assert seen.repeats == 0
    assert seen.outcomes == {"accept": sum(spent), "abstain": 3 * BUDGET - sum(spent)}
    assert sum(left_out) == 3 * BUDGET - sum(spent)
    verdicts = await abstentions(place, settings)
    assert Counter(verdict["evidence"]["cause"] for verdict in verdicts) == {"budget": 3 * BUDGET - sum(spent)}
    for verdict in verdicts:
        assert "of 150 calls (budgets.sleep.calls); it starts anew at 2026-03-02T00:00Z" in verdict["reason"]
        assert verdict["usage"]["calls"] == 0

    more = range(3 * BUDGET, 3 * BUDGET + 30)
    async with worker(raw, clock) as restarted:
        await put(place.servers, outputs, map(record, more), spread=True)
        await restarted.wait_for("assay_verdicts_total", 30, outcome="abstain", **LABELS)
        assert calls(restarted) == [0]
        await known(restarted, sum(spent))
        clock.at = NOON + timedelta(days=1)
        await put(place.servers, outputs, map(record, range(1000, 1020)), spread=True)
        await restarted.wait_for("assay_verdicts_total", 20, outcome="accept", **LABELS)
        assert calls(restarted) == [20]
        await known(restarted, 20)


class Interrupted(Accept):
    """Asks a question, and finds its model away for the next one, three times."""

    away = 3

    async def _work(self, record: Envelope) -> None:
        book(Usage(calls=1))
        if self.away:
            self.away -= 1
            raise OracleUnavailable("away", retry_after=0.01)


async def test_attempts_that_ended_without_a_verdict_are_booked_as_well(place: Place):
    raw = place.settings()
    settings = await asyncio.to_thread(place.prepare, raw)
    await put(place.servers, settings.topics.outputs, [record(1)])
    budgets = Budgets({"sleep": BudgetSettings(calls=BUDGET)})
    agents = [checker_agent(Interrupted("sleep"), budgets=budgets)]
    async with agents_here(agents, raw, services=[budgets]) as running:
        await running.wait_for("assay_verdicts_total", 1, outcome="accept", **LABELS)
        labels = {"name": "sleep", "unit": "calls"}
        # Three interrupted attempts, and two questions of the one that gave the verdict.
        assert running.registry.get_sample_value("assay_budget_spent", labels) == 5


async def test_spending_is_a_part_of_readiness(place: Place):
    raw = place.settings()
    await asyncio.to_thread(place.prepare, raw)
    async with worker(raw, Clock()) as running, httpx.AsyncClient() as client:
        url = f"http://127.0.0.1:{running.http_port}/readyz"

        async def is_ready() -> bool:
            return (await client.get(url)).status_code == httpx.codes.OK

        await until(is_ready)
        assert (await client.get(url)).json()["parts"] == {
            "agents": "ok",
            "kafka": "ok",
            "spending": "ok",
            "sleep": "ok",
        }


async def test_a_worker_with_budgets_is_told_that_the_spending_topic_is_missing(place: Place):
    raw = place.settings()
    with pytest.raises(TopicsMissing, match=rf"{place.prefix}\.spending.*assay topics create"):
        async with worker(raw, Clock()):
            pass


async def _both_joined(*workers: WorkerHere) -> None:
    """Return when each has its half of the partitions."""

    async def joined() -> bool:
        return all([await each._agents[0].ready() is None for each in workers])

    await until(joined)
