"""Rejected verdicts in, improvements out: none lost, each told apart from its repeats, whatever happens between."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from agents.improver_agent import ImproverAgent
from agents.routing import Budgets, BudgetSettings
from checkers.plugin import Improver
from schemas import DeadLetter, Improvement, Origin, SentenceFinding, Verdict, to_json
from streams.errors import BrokerUnavailable
from streams.lookup import RecordLookup
from streams.settings import StreamSettings
from tests.support.checkers import improver
from tests.support.rejections import consistency_rejection
from tests.support.scenarios import Place
from tests.support.stub_answers import judge_answer
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import committed, messages_until, put, record
from tests.support.workers import agents_here

REFERENCE = "The board approved the budget. Nobody objected."
GOOD = "Nobody objected."


def faulty(number: int) -> str:
    """A sentence that the judge rejects, and that the writer mends."""
    return f"The chairman resigned from office number{number}."


def rejected_record(number: int, **more: Any) -> bytes:
    return record(number, **({"response": f"{faulty(number)} {GOOD}", "reference": REFERENCE} | more))


def verdict_on(number: int, topic: str, **more: Any) -> Verdict:
    """The verdict that rejects the record of that number, which stands at the same offset."""
    bad = faulty(number)
    reason = "This sentence is not consistent with the reference."
    findings = [
        SentenceFinding(text=text, start=start, end=start + len(text), mark=mark, reason=reason, support=max(mark, 0))
        for text, start, mark in ((bad, 0, -1), (GOOD, len(bad) + 1, 1))
    ]
    return consistency_rejection(number, topic, *findings).model_copy(update=more)


async def _rejected(place: Place, count: int, **delivery: Any) -> tuple[dict[str, Any], StreamSettings, list[bytes]]:
    """So many rejected records and their verdicts, on their topics."""
    raw, settings = await place.ready(**delivery)
    topics = settings.topics
    await put(place.servers, topics.outputs, map(rejected_record, range(count)))
    verdicts = [to_json(verdict_on(number, topics.outputs)) for number in range(count)]
    await put(place.servers, topics.rejected, verdicts)
    return raw, settings, verdicts


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    """Judge and writer in one."""
    with StubEndpoint(answer=judge_answer) as endpoint:
        yield endpoint


async def test_every_rejected_verdict_has_its_improvement(place: Place, stub: StubEndpoint):
    raw, settings, _ = await _rejected(place, 120)
    async with _running(raw, improver(stub.base_url)) as worker:
        seen = await _collected(place.servers, settings, 120)
        await worker.wait_for("assay_improvements_total", 120, source="tests", model="m", status="improved")
        assert worker.metric("assay_improver_rounds_sum") == 120
    for number in range(120):
        (found,) = seen.of(f"r{number}")
        assert (found.before, found.after) == (f"{faulty(number)} {GOOD}", f"The board approved the budget. {GOOD}")
        assert found.origin == Origin(topic=settings.topics.outputs, partition=0, offset=number)
    assert seen.headers["ce_type"] == b"assay.improvement.v1"
    assert seen.headers["assay-status"] == b"improved"
    assert await committed(place.servers, f"{place.prefix}.improver", settings.topics.rejected) == 120


async def test_what_cannot_be_tried_is_told_with_the_reason(place: Place, stub: StubEndpoint):
    raw, settings = await place.ready()
    topic = settings.topics.outputs
    await put(place.servers, topic, [rejected_record(0), b"{", rejected_record(7)])
    beyond = Origin(topic=topic, partition=0, offset=900)
    origins: list[dict[str, Any]] = [{"origin": None}, {}, {}, {"origin": beyond}]
    verdicts = [verdict_on(number, topic, **given) for number, given in enumerate(origins)]
    await put(place.servers, settings.topics.rejected, map(to_json, verdicts))
    async with _running(raw, improver(stub.base_url)) as worker:
        seen = await _collected(place.servers, settings, 4)
        await worker.wait_for("assay_improvements_total", 4, source="tests", model="m", status="not_tried")
    assert {(one.status, one.before, one.after) for one in seen.all} == {("not_tried", None, None)}
    assert all("is gone" in found.reason for found in seen.all)
    assert not stub.requests


async def test_verdicts_of_others_and_of_the_past_are_skipped_and_what_is_no_verdict_is_a_dead_letter(
    place: Place, stub: StubEndpoint
):
    raw, settings = await place.ready()
    topic = settings.topics.outputs
    await put(place.servers, topic, [rejected_record(0), rejected_record(1)])
    other = json.loads(to_json(verdict_on(0, topic, checker="brevity")))
    other["evidence"] = {"type": "plugin", "checker": "brevity", "findings": {}}
    values = [json.dumps(other).encode(), b"{", b'{"id": "x"}', None]
    verdicts = [verdict_on(0, topic, rechecked=True), verdict_on(1, topic)]
    values += map(to_json, verdicts)
    await put(place.servers, settings.topics.rejected, values)
    async with _running(raw, improver(stub.base_url)) as worker:
        seen = await _collected(place.servers, settings, 1, letters=3)
        assert worker.metric("assay_improver_skipped_total", reason="other_checker") == 1
        assert worker.metric("assay_improver_skipped_total", reason="rechecked") == 1
    assert [found.record_id for found in seen.all] == ["r1"]
    assert sorted(letter.reason for letter in seen.letters) == ["empty", "invalid_record", "invalid_record"]
    assert {letter.checker for letter in seen.letters} == {"improver"}


async def test_a_verdict_that_comes_twice_is_rewritten_once(place: Place, stub: StubEndpoint):
    stub.delay = 0.3
    raw, settings, verdicts = await _rejected(place, 10)
    await put(place.servers, settings.topics.rejected, verdicts * 2)
    async with _running(raw, improver(stub.base_url)) as worker:
        # Three at once are made once, whether each of them is delivered or not.
        seen = await _collected(place.servers, settings, 10, settle=0.7)
        assert worker.metric("assay_improvements_total", source="tests", model="m", status="improved") == 10
        assert worker.metric("assay_improver_skipped_total", reason="repeat") == 20
        messages, asked = len(seen.all), len(stub.requests)
        # Later ones are not delivered again.
        await put(place.servers, settings.topics.rejected, verdicts)
        await worker.wait_for("assay_improver_skipped_total", 30, reason="repeat")
        again = await _collected(place.servers, settings, 10, settle=0.3)
        assert len(again.all) == messages
        assert len(stub.requests) == asked
    assert all(len(ids) == 1 for ids in seen.ids.values())
    assert all(len({found.after for found in seen.of(name)}) == 1 for name in seen.ids)


async def test_while_the_writer_is_down_verdicts_are_held_and_then_resumed(place: Place, stub: StubEndpoint):
    raw, settings, _ = await _rejected(place, 40, concurrency=8)
    stub.down()
    async with _running(raw, improver(stub.base_url)) as worker:
        await worker.wait_for("assay_intake_paused", 1, agent="improver")
        await worker.wait_for("assay_records_held", 7, agent="improver")
        assert worker.metric("assay_records_in_flight", agent="improver") <= 8
        stub.up()
        seen = await _collected(place.servers, settings, 40, settle=0.3)
        assert worker.metric("assay_intake_paused", agent="improver") == 0
    assert Counter(found.status for found in seen.all) == {"improved": 40}
    assert not seen.letters


def test_kill_9_at_any_moment_loses_no_improvement_and_repeats_carry_the_same_id(place: Place, stub: StubEndpoint):
    rng = random.Random(11)
    verdicts, kills = 240, 3
    stub.delay = 0.15
    raw, settings, _ = asyncio.run(_rejected(place, verdicts, concurrency=16, instance_id="only"))
    agents = [{"type": "improver", "base_url": stub.base_url}]
    begun = []
    for _ in range(kills):
        with place.worker(agents, raw) as worker:
            worker.wait_ready()
            before = len(stub.requests)
            while len(stub.requests) < before + 20:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.6))
            begun.append(worker.metric("assay_improver_rounds_count"))
            worker.kill()
    with place.worker(agents, raw) as last:
        seen = asyncio.run(_collected(place.servers, settings, verdicts))
        assert last.terminate() == 0
    # Each was killed at work, with some delivered and more to do.
    assert sum(begun) < verdicts
    assert set(seen.ids) == {f"r{number}" for number in range(verdicts)}
    assert all(len(ids) == 1 for ids in seen.ids.values())
    assert {found.status for found in seen.all} == {"improved"}
    assert not seen.letters


async def test_a_record_that_cannot_be_looked_up_now_is_held_and_not_called_gone(
    place: Place, stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch
):
    raw, settings, _ = await _rejected(place, 3)
    read, failures = RecordLookup.read, iter(range(4))

    async def failing(self: RecordLookup, origin: Origin) -> bytes | None:
        if next(failures, None) is not None:
            raise BrokerUnavailable("no answer")
        return await read(self, origin)

    monkeypatch.setattr(RecordLookup, "read", failing)
    async with _running(raw, improver(stub.base_url)) as worker:
        await worker.wait_for("assay_intake_paused", 1, agent="improver")
        seen = await _collected(place.servers, settings, 3)
    assert Counter(found.status for found in seen.all) == {"improved": 3}
    assert not seen.letters


async def test_beyond_the_days_budget_verdicts_are_told_not_tried(place: Place, stub: StubEndpoint):
    raw, settings, _ = await _rejected(place, 12, concurrency=1)
    budgets = Budgets({"improver": BudgetSettings(calls=5)})
    async with _running(raw, improver(stub.base_url), budgets=budgets):
        seen = await _collected(place.servers, settings, 12)
    statuses = {found.record_id: found.status for found in seen.all}
    # Each asks the writer once; the judge's answers about what they all become, and about a control sentence, are
    # known after the first.
    assert list(map(statuses.get, (f"r{number}" for number in range(12)))) == ["improved"] * 3 + ["not_tried"] * 9
    assert len(stub.requests) == 5
    assert all("budgets.improver.calls" in found.reason for found in seen.of("r11"))


class _Seen:
    def __init__(self) -> None:
        self.all: list[Improvement] = []
        self.headers: dict[str, bytes] = {}
        self.letters: list[DeadLetter] = []

    @property
    def ids(self) -> dict[str, set[str]]:
        return {found.record_id: {each.id for each in self.of(found.record_id)} for found in self.all}

    def of(self, record_id: str) -> list[Improvement]:
        return [found for found in self.all if found.record_id == record_id]


async def _collected(
    servers: str, settings: StreamSettings, records: int, *, letters: int = 0, settle: float = 0.0
) -> _Seen:
    """Read until so many different records have improvements and dead letters are there, then `settle` longer."""
    seen, topics = _Seen(), (settings.topics.improved, settings.topics.dead_letter)

    def enough() -> bool:
        return len({each.record_id for each in seen.all}) >= records and len(seen.letters) >= letters

    async for message in messages_until(servers, topics, enough, settle=settle):
        if message.topic == settings.topics.dead_letter:
            seen.letters.append(DeadLetter.model_validate_json(message.value))
        else:
            seen.all.append(Improvement.model_validate_json(message.value))
            seen.headers = dict(message.headers)
    assert enough(), f"{len(seen.all)} improvements"
    return seen


def _running(raw: dict[str, Any], method: Improver, *, budgets: Budgets | None = None) -> Any:
    return agents_here([partial(ImproverAgent, method, budgets=budgets)], raw)
