"""Routing, sampling, the screen before a checker, and budgets: which checkers see which records, and for what."""

import contextlib
import hashlib
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from pydantic import ValidationError

from agents.checker_agent import CheckerAgent
from agents.routing import Budgets, BudgetSettings, RoutingSettings, sample_point
from models.work import book
from schemas import Envelope, Generation, Usage, Verdict, read_record
from streams.settings import StreamSettings
from tests.support.checkers import Accept, Sleep
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_verdicts, put, record
from tests.support.trust_verdicts import read_all
from tests.support.workers import WorkerHere, agents_here, checking

names = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=20)
shares = st.floats(0, 1)


def routing(*rules: dict[str, Any]) -> RoutingSettings:
    return RoutingSettings.model_validate({"rules": rules})


def generation(id_: str = "r1", **more: Any) -> Envelope:
    return Generation(**{"kind": "generation", "id": id_, "source": "s", "model": "m", "response": "x"} | more)


@pytest.mark.parametrize(
    ("rule", "matched"),
    [
        ({}, True),
        ({"checkers": ["other"]}, False),
        ({"sources": ["support", "b*t"]}, False),
        ({"sources": ["*-BOT"]}, False),
        ({"models": ["gpt-[!45]*"]}, False),
        ({"tenants": ["acm"]}, False),
        ({"sources": ["support-*"], "models": ["llama*"]}, False),
        ({"checkers": ["consistency"], "sources": ["*"], "tenants": ["a*"]}, True),
    ],
)
def test_a_rule_matches_where_all_its_conditions_hold(rule: dict[str, Any], matched: bool):
    seen = generation(source="support-bot", model="gpt-4.1", tenant="acme")
    assert routing(rule | {"share": 0}).left_out("consistency", seen) == ("route" if matched else None)


@given(names, names)
def test_a_point_is_the_first_53_bits_of_a_documented_digest(source: str, record_id: str):
    digest = hashlib.sha256(f"{source}\x1f{record_id}".encode()).hexdigest()
    point = sample_point(source, record_id)
    assert point == (int(digest, 16) >> 203) / 2**53
    assert 0 <= point < 1


@given(names, names, shares, shares)
def test_a_smaller_share_takes_a_part_of_what_a_larger_one_takes(source: str, id_: str, one: float, other: float):
    small, large = sorted((one, other))
    seen = generation(id_, source=source)
    if routing({"share": small}).left_out("c", seen) is None:
        assert routing({"share": large}).left_out("c", seen) is None


def test_the_first_rule_that_matches_decides():
    rules = routing({"checkers": ["a"], "share": 1}, {"tenants": ["t"], "share": 0}, {"checkers": ["b"]})
    assert rules.left_out("a", generation(tenant="t")) is None
    assert [rules.left_out("b", generation(tenant=tenant)) for tenant in ("t", None)] == ["route", None]


def test_a_rule_that_is_never_asked_is_refused():
    with pytest.raises(ValidationError, match=r"rule 1 .* never asked"):
        routing({"models": ["a"]}, {"share": 0.1}, {"tenants": ["b"]})


async def test_what_is_left_out_on_kafka_has_no_verdict_is_counted_and_is_the_same_after_a_restart(place: Place):
    raw, settings = await place.ready()
    rules = {"sources": ["batch"], "share": 0}, {"share": 0.3}
    values = [record(number) for number in range(200)]
    read = [read_record(value, max_bytes=2**20) for value in values]
    taken = {each.id for each in read if routing(*rules).left_out("accept", each) is None}
    assert 30 < len(taken) < 90
    values += [record(number, source="batch") for number in range(10)]
    labels = {"checker": "accept", "model": "m"}
    for _ in range(2):
        await put(place.servers, settings.topics.outputs, values)
        # Built anew: nothing but the rules is carried over the restart.
        agents = [partial(CheckerAgent, Accept(), routing=routing(*rules))]
        async with agents_here(agents, raw) as worker:
            await worker.wait_for("assay_checker_records_total", 210, checker="accept", kind="generation")
            await worker.wait_for("assay_verdicts_total", len(taken), outcome="accept", source="tests", **labels)
        sampled = worker.metric("assay_left_out_total", reason="sample", source="tests", **labels)
        assert sampled == 200 - len(taken)
        assert worker.metric("assay_left_out_total", reason="route", source="batch", **labels) == 10
        assert worker.metric("assay_left_out_total", reason="route", source="tests", **labels) == 0
    seen = await collect(place.servers, settings.topics, records=len(taken), settle=0.3)
    assert set(seen.verdicts) == taken
    assert set(seen.verdicts.values()) == {2}
    assert not seen.letters
    verdicts = await read_all(place.servers, settings.topics.accepted)
    assert {Verdict.model_validate_json(each.value).share for each in verdicts} == {0.3}


NONE = {"share": 0}
OTHER_KIND = b'{"kind":"extraction","id":"1","source":"s","model":"m"}'


async def screen(*rules: dict[str, Any], others: dict[str, Any] | None = None) -> CheckerAgent:
    agent = partial(CheckerAgent, Accept(), routing=routing(*rules), answers_for=others)
    worker = WorkerHere([agent], StreamSettings.model_validate({"records": {"max_bytes": 10_000}}))
    (made,) = worker._agents
    assert isinstance(made, CheckerAgent)
    return made


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"{",
        record(1, response="x" * 10_000),
        record(1, kind="poem"),
        record(1, id=""),
        record(1, tenant=["acme"]),
        b'{"kind":"generation","source":"tests","model":"m","response":"without an id"}',
    ],
)
async def test_in_any_doubt_a_message_goes_the_full_way(value: bytes | None):
    assert (await screen(NONE)).passed_over(value, ()) is None


@pytest.mark.parametrize(
    ("value", "others", "rules", "passed_over"),
    [
        (record(1), {"b": ["generation"]}, [NONE], True),
        (record(1), {"b": ["generation"]}, [{"checkers": ["accept"], "share": 0}], False),
        (OTHER_KIND, {}, [NONE], False),
        (OTHER_KIND, {"b": ["extraction"]}, [], False),
        (OTHER_KIND, {"b": ["extraction"]}, [NONE], True),
    ],
)
async def test_who_answers_for_all_passes_over_only_what_somebody_else_takes_and_nobody_looks_at(
    value: bytes, others: dict[str, Any], rules: list[dict[str, Any]], passed_over: bool
):
    assert bool((await screen(*rules, others=others)).passed_over(value, ())) == passed_over


async def test_what_is_left_out_is_counted_and_a_hundredth_of_it_read(place: Place):
    raw, settings = await place.ready()
    rules = routing({"sources": ["batch"], "share": 0})
    invalid = [record(number, source="batch", response=number) for number in range(2000)]
    values = [value for number in range(20) for value in (*invalid[number::20], record(number))]
    unreadable = [b"{", json.dumps({"kind": "generation", "source": "batch", "model": "m"}).encode()]
    await put(place.servers, settings.topics.outputs, [*values, *unreadable])
    async with agents_here([checking(Accept(), rules)], raw) as worker:
        seen = await collect(place.servers, settings.topics, records=20, letters=2, settle=0.3)
        left_out = {"checker": "accept", "reason": "route", "source": "batch", "model": "m"}
        assert worker.metric("assay_left_out_total", **left_out) == 2000
        assert worker.metric("assay_checker_records_total", checker="accept", kind="generation") == 2020
        # Expected are 20.
        assert 2 < worker.metric("assay_left_out_invalid_total", checker="accept") < 80
    assert len(seen.verdicts) == 20
    assert sorted(letter.reason for letter in seen.letters.values()) == ["invalid_record", "not_json"]
    assert await committed(place.servers, f"{place.prefix}.accept", settings.topics.outputs) == 2022


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BUDGET = 20
LABELS = {"source": "tests", "model": "m", "checker": "sleep"}


async def test_what_is_beyond_a_budget_abstains_and_the_next_day_renews_it(place: Place):
    raw, settings = await place.ready(partitions=4, concurrency=2)
    outputs, registry, now = settings.topics.outputs, CollectorRegistry(), [NOON]
    budgets = Budgets({"sleep": BudgetSettings(calls=BUDGET)}, registry=registry, now=lambda: now[-1])
    agent = partial(CheckerAgent, Sleep(0.02, spread=0), budgets=budgets)
    async with agents_here([agent], raw, registry=registry) as running:
        await put(place.servers, outputs, map(record, range(3 * BUDGET)), spread=True)
        seen = await collect(place.servers, settings.topics, records=3 * BUDGET, settle=0.5)
        checked = int(running.metric("assay_check_calls_total", checker="sleep"))
        assert registry.get_sample_value("assay_budget_spent_calls", {"name": "sleep"}) == checked
        assert running.metric("assay_left_out_total", reason="budget", **LABELS) == 3 * BUDGET - checked
        now.append(NOON - timedelta(days=1))
        await put(place.servers, outputs, [record(900)])
        await running.wait_for("assay_verdicts_total", 3 * BUDGET - checked + 1, outcome="abstain", **LABELS)
        now.append(NOON + timedelta(days=1))
        await put(place.servers, outputs, map(record, range(1000, 1010)), spread=True)
        await running.wait_for("assay_verdicts_total", checked + 10, outcome="accept", **LABELS)
        assert registry.get_sample_value("assay_budget_spent_calls", {"name": "sleep"}) == 10
    assert BUDGET <= checked < BUDGET + 2
    assert len(seen.verdicts) == 3 * BUDGET
    assert seen.repeats == 0
    assert seen.outcomes == {"accept": checked, "abstain": 3 * BUDGET - checked}
    assert seen.causes == {"budget": 3 * BUDGET - checked}
    for verdict in await first_verdicts(place.servers, settings.topics.abstained, 3 * BUDGET - checked):
        assert "of 20 calls (budgets.sleep.calls); it is reset at 2026-03-02T00:00Z" in verdict.reason
        assert verdict.usage.calls == 0


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"calls": 2}, "2 of 2 calls (budgets.b.calls)"),
        ({"cost": 0.5}, "0.5 of 0.5 cost (budgets.b.cost)"),
        ({"calls": 3, "cost": 0.51}, None),
    ],
)
def test_it_says_which_limit_is_reached_and_when_it_starts_anew(limits: dict[str, Any], said: str | None):
    budgets = Budgets({"b": BudgetSettings(**limits)}, now=lambda: NOON)
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
