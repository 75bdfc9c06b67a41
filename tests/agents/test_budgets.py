"""Budgets: new every day, what is beyond one abstains, and no record is lost."""

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from agents.checker_agent import CheckerAgent
from agents.routing import Budgets, BudgetSettings
from models.protocol import ModelUnavailable
from models.work import book
from schemas import Envelope, Usage
from tests.support.checkers import Accept, Sleep
from tests.support.scenarios import Place
from tests.support.traffic import collect, first_verdicts, put, record
from tests.support.workers import WorkerHere, agents_here

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BUDGET = 20
SECONDS = 0.02
AT_ONCE = 2
LABELS = {"source": "tests", "model": "m", "checker": "sleep"}


class Clock:
    at = NOON

    def __call__(self) -> datetime:
        return self.at


@contextlib.asynccontextmanager
async def worker(raw: dict[str, Any], clock: Clock) -> AsyncIterator[WorkerHere]:
    registry = CollectorRegistry()
    budgets = Budgets({"sleep": BudgetSettings(calls=BUDGET)}, registry=registry, now=clock)
    agents = [partial(CheckerAgent, Sleep(SECONDS, spread=0), budgets=budgets)]
    async with agents_here(agents, raw, registry=registry) as running:
        yield running


def spent(each: WorkerHere) -> float | None:
    return each.registry.get_sample_value("assay_budget_spent_calls", {"name": "sleep"})


async def test_what_is_beyond_a_budget_abstains_and_the_next_day_renews_it(place: Place):
    raw, settings = await place.ready(partitions=4, concurrency=AT_ONCE)
    outputs = settings.topics.outputs
    clock = Clock()
    async with worker(raw, clock) as running:
        await put(place.servers, outputs, map(record, range(3 * BUDGET)), spread=True)
        seen = await collect(place.servers, settings.topics, records=3 * BUDGET, settle=0.5)
        checked = int(running.metric("assay_check_calls_total", checker="sleep"))
        assert spent(running) == checked
        assert running.metric("assay_left_out_total", reason="budget", **LABELS) == 3 * BUDGET - checked
        clock.at = NOON - timedelta(days=1)
        await put(place.servers, outputs, [record(900)])
        await running.wait_for("assay_verdicts_total", 3 * BUDGET - checked + 1, outcome="abstain", **LABELS)
        clock.at = NOON + timedelta(days=1)
        await put(place.servers, outputs, map(record, range(1000, 1010)), spread=True)
        await running.wait_for("assay_verdicts_total", checked + 10, outcome="accept", **LABELS)
        assert spent(running) == 10
    assert BUDGET <= checked < BUDGET + AT_ONCE
    assert len(seen.verdicts) == 3 * BUDGET
    assert seen.repeats == 0
    assert seen.outcomes == {"accept": checked, "abstain": 3 * BUDGET - checked}
    assert seen.causes == {"budget": 3 * BUDGET - checked}
    for verdict in await first_verdicts(place.servers, settings.topics.abstained, 3 * BUDGET - checked):
        assert "of 20 calls (budgets.sleep.calls); it is reset at 2026-03-02T00:00Z" in verdict.reason
        assert verdict.usage.calls == 0


class Interrupted(Accept):
    """Asks a question, and finds its model away for the next one, three times."""

    away = 3

    async def _work(self, record: Envelope) -> None:
        book(Usage(calls=1))
        if self.away:
            self.away -= 1
            raise ModelUnavailable("away", retry_after=0.01)


async def test_attempts_that_ended_without_a_verdict_are_booked_as_well(place: Place):
    raw, settings = await place.ready()
    await put(place.servers, settings.topics.outputs, [record(1)])
    registry = CollectorRegistry()
    budgets = Budgets({"sleep": BudgetSettings(calls=BUDGET)}, registry=registry)
    agents = [partial(CheckerAgent, Interrupted("sleep"), budgets=budgets)]
    async with agents_here(agents, raw, registry=registry) as running:
        await running.wait_for("assay_verdicts_total", 1, outcome="accept", **LABELS)
        # Three interrupted attempts, and two questions of the one that gave the verdict.
        assert spent(running) == 5


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"calls": 2}, "2 of 2 calls (budgets.b.calls)"),
        ({"cost": 0.5}, "0.5 of 0.5 cost (budgets.b.cost)"),
        ({"calls": 3, "cost": 0.51}, None),
    ],
)
def test_it_says_which_limit_is_reached_and_when_it_starts_anew(limits: dict[str, Any], said: str | None):
    budgets = Budgets({"b": BudgetSettings(**limits)}, now=Clock())
    assert budgets.exhausted("b") is None
    with contextlib.suppress(ConnectionError), budgets.booked("b"):
        book(Usage(calls=2, prompt_tokens=20, completion_tokens=10, cost=0.5))
        raise ConnectionError
    reached = budgets.exhausted("b")
    if said is None:
        assert reached is None
    else:
        assert reached == f"the day's budget is spent: {said}; it is reset at 2026-03-02T00:00Z"
    assert budgets.exhausted("without one") is None
