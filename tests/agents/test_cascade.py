"""A cascade on the stream: the endpoint's outage and the budget concern only what needs the endpoint."""

from functools import partial
from typing import Any

import pytest

from agents.checker_agent import CheckerAgent
from agents.routing import Budgets, BudgetSettings
from checkers.checker import Checker
from models.meter import MeteredJudge
from streams.settings import StreamSettings
from tests.checkers.graders import ScriptedGrader
from tests.support.checkers import cascading
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import collect, first_verdicts, put, record
from tests.support.waiting import until
from tests.support.workers import agents_here, worker_here

RECORDS = 60
BY = {"checker": "consistency"}


def _checker(stub: StubEndpoint) -> Checker[Any]:
    screen = MeteredJudge(ScriptedGrader(_support, name="local/first"), cached=False, charged=False)
    return cascading(stub.base_url, screen, accept_from=0.8, reject_below=0.2, timeout_seconds=2)


@pytest.fixture(autouse=True)
def _quick_breaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.flow._FAILURES", 1)
    monkeypatch.setattr("models.flow._COOLDOWN", 0.1)
    monkeypatch.setattr("models.flow._LONGEST_COOLDOWN", 0.2)


def _support(_: str, sentence: str) -> float:
    return float(sentence.rsplit(maxsplit=1)[-1].rstrip("."))


def _records() -> list[bytes]:
    """Every third is the endpoint's; the first of all are."""
    supports = (0.5, 0.9, 0.1)
    texts = [f"Report {number} was made, sure to {supports[number % 3]}" for number in range(RECORDS)]
    return [record(number, response=text, reference=f"Reports: {text}") for number, text in enumerate(texts)]


async def _prepared(place: Place, **delivery: Any) -> tuple[dict[str, Any], StreamSettings]:
    raw = place.settings(**delivery)
    settings = StreamSettings.model_validate(raw)
    await put(place.servers, settings.topics.outputs, _records())
    return raw, settings


async def test_only_what_needs_the_endpoint_is_held_while_it_is_down(embedded_place: Place):
    # Fewer slots than records that need the endpoint.
    raw, settings = await _prepared(embedded_place, concurrency=4)
    with StubEndpoint() as stub:
        stub.down()
        async with worker_here([_checker(stub)], raw) as worker:
            await worker.wait_for("assay_cascade_verdicts_total", RECORDS * 2 / 3, **BY, judge="first")
            await worker.wait_for("assay_records_held", RECORDS / 3 - 1, agent="consistency")
            assert worker.metric("assay_cascade_verdicts_total", **BY, judge="second") == 0
            # A record has its slot for a moment longer than its verdict takes to be counted.
            await until(lambda: not worker.metric("assay_intake_paused", agent="consistency"))
            stub.up()
            seen = await collect(embedded_place.servers, settings.topics, records=RECORDS, settle=0.3)
            assert worker.metric("assay_cascade_verdicts_total", **BY, judge="second") == RECORDS / 3
            assert worker.metric("assay_records_held", agent="consistency") == 0
            calls = worker.metric("assay_check_calls_total", **BY)
    assert seen.outcomes == {"accept": RECORDS * 2 / 3, "reject": RECORDS / 3}
    assert seen.repeats == 0
    assert not seen.letters
    # Probes are charged to the questions, and the local judge's are none.
    assert RECORDS / 3 <= calls <= len(stub.requests)


async def test_a_spent_budget_leaves_what_costs_nothing(embedded_place: Place):
    raw, settings = await _prepared(embedded_place, concurrency=1)
    budgets = Budgets({"consistency": BudgetSettings(calls=5)})
    with StubEndpoint() as stub:
        agent = partial(CheckerAgent, _checker(stub), budgets=budgets)
        async with agents_here([agent], raw) as worker:
            seen = await collect(embedded_place.servers, settings.topics, records=RECORDS, settle=0.3)
            left_out = worker.metric("assay_left_out_total", **BY, reason="budget", source="tests", model="m")
    assert seen.causes == {"budget": left_out}
    asked = RECORDS / 3 - left_out
    assert 1 <= asked <= 5
    assert seen.outcomes == {"accept": RECORDS / 3 + asked, "reject": RECORDS / 3, "abstain": left_out}
    verdicts = await first_verdicts(embedded_place.servers, settings.topics.accepted, int(RECORDS / 3 + asked))
    judged = [verdict.judge for verdict in verdicts]
    assert (judged.count("local/first"), judged.count("openai/stub")) == (RECORDS / 3, asked)
    assert sum(verdict.usage.calls for verdict in verdicts) == len(stub.requests)
