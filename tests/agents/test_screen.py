"""The screen before a checker: what it passes over, and what goes the full way."""

import json
from functools import partial
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from agents.checker_agent import CheckerAgent
from agents.routing import Routing, RoutingSettings
from agents.screen import RoutingScreen
from schemas import RECORD_KINDS
from streams.metrics import StreamMetrics
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, put, record
from tests.support.workers import agents_here

NONE = {"share": 0}
OTHER_KIND = b'{"kind":"extraction","id":"1","source":"s","model":"m"}'


def screen(*rules: dict[str, Any], others: dict[str, Any] | None = None) -> RoutingScreen:
    metrics = StreamMetrics(CollectorRegistry(), max_subjects=500).checker("accept")
    routing = Routing(RoutingSettings.model_validate({"rules": rules}))
    return RoutingScreen(Accept(), routing, metrics, max_bytes=10_000, answers_for=others)


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
def test_in_any_doubt_a_message_goes_the_full_way(value: bytes | None):
    assert screen(NONE).passed_over(value, ()) is None


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
def test_who_answers_for_all_passes_over_only_what_somebody_else_takes_and_nobody_looks_at(
    value: bytes, others: dict[str, Any], rules: list[dict[str, Any]], passed_over: bool
):
    assert bool(screen(*rules, others=others).passed_over(value, ())) == passed_over


async def test_what_is_left_out_is_counted_and_a_hundredth_of_it_read(place: Place):
    raw, settings = await place.ready()
    routing = Routing(RoutingSettings.model_validate({"rules": [{"sources": ["batch"], "share": 0}]}))
    invalid = [record(number, source="batch", response=number) for number in range(2000)]
    values = [value for number in range(20) for value in (*invalid[number::20], record(number))]
    unreadable = [b"{", json.dumps({"kind": "generation", "source": "batch", "model": "m"}).encode()]
    await put(place.servers, settings.topics.outputs, [*values, *unreadable])
    agent = partial(CheckerAgent, Accept(), routing=routing, checked_kinds=RECORD_KINDS)
    async with agents_here([agent], raw) as worker:
        seen = await collect(place.servers, settings.topics, records=20, letters=2, settle=0.3)
        left_out = {"checker": "accept", "reason": "route", "source": "batch", "model": "m"}
        assert worker.metric("assay_left_out_total", **left_out) == 2000
        assert worker.metric("assay_checker_records_total", checker="accept", kind="generation") == 2020
        # Expected are 20.
        assert 2 < worker.metric("assay_left_out_invalid_total", checker="accept") < 80
    assert len(seen.verdicts) == 20
    assert sorted(letter.reason for letter in seen.letters.values()) == ["invalid_record", "not_json"]
    assert await committed(place.servers, f"{place.prefix}.accept", settings.topics.outputs) == 2022
