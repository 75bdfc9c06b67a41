"""A record whose kind no running checker takes has a verdict all the same; one that a checker takes has none of it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Collection
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient

from agents import unclaimed as module
from agents.checker_agent import checker_agent
from agents.unclaimed import RunningCheckers, unclaimed_agent
from schemas import verdict_id
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_verdicts, put, record
from tests.support.waiting import until
from tests.support.workers import agents_here

INSTALLED = {"accept": ["generation"], "elsewhere": ["paraphrase"]}


def paraphrase(number: int) -> bytes:
    return json.dumps(
        {
            "id": f"p{number}",
            "kind": "paraphrase",
            "source": "tests",
            "model": "m",
            "sentence1": "a",
            "sentence2": "b",
            "answer": True,
        }
    ).encode()


@contextlib.asynccontextmanager
async def running(raw: dict[str, Any], *, own: Collection[str] = ("accept",), grace: float = 0) -> AsyncIterator[Any]:
    agents = [unclaimed_agent(INSTALLED, own, grace_seconds=grace)]
    agents += [checker_agent(Accept(name)) for name in own]
    async with agents_here(agents, raw) as worker:
        yield worker


class UnclaimedPromises:
    """To be inherited with a fixture `place`."""

    async def test_a_kind_that_nobody_takes_abstains_and_others_are_left_alone(self, place: Place):
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        messages = [record(0), paraphrase(0), b"{", b"[]", None, b'{"kind": "paraphrase"}', record(1), paraphrase(1)]
        await put(place.servers, settings.topics.outputs, messages)
        async with running(raw) as worker:
            seen = await collect(place.servers, settings.topics, records=4, letters=4)
            assert dict(seen.outcomes) == {"accept": 2, "abstain": 2}
            await worker.wait_for("assay_unclaimed_records_total", 2, kind="paraphrase")
            assert worker.metric("assay_unclaimed_records_total", kind="generation") == 0
        verdicts = await first_verdicts(place.servers, settings.topics.abstained, 2)
        assert [(one.record_id, one.checker, one.evidence.cause) for one in verdicts] == [
            (name, "none", "no_checker") for name in ("p0", "p1")
        ]
        assert verdicts[0].id == verdict_id("tests", "p0", "none", "none")
        assert "'paraphrase'" in verdicts[0].reason
        assert verdicts[1].origin.offset == 7


class TestOnApacheKafka(UnclaimedPromises):
    async def test_a_checker_counts_as_running_while_its_group_exists(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(module, "_REREAD_SECONDS", 0.1)
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        running_checkers = RunningCheckers(INSTALLED, ["accept"], settings)
        assert "paraphrase" in await running_checkers.unclaimed_kinds()
        group = f"{place.prefix}.elsewhere"
        async with AIOKafkaConsumer(
            settings.topics.outputs, bootstrap_servers=place.servers, group_id=group, auto_offset_reset="earliest"
        ) as consumer:
            await put(place.servers, settings.topics.outputs, [record(0)])
            await consumer.getone()
            await consumer.commit()
            assert await _until_claimed(running_checkers, "paraphrase")
        # Without members too: its worker may be about to start again.
        assert "paraphrase" not in await running_checkers.unclaimed_kinds()
        await _delete(place.servers, group)
        assert await _until_claimed(running_checkers, "paraphrase", claimed=False)

    async def test_within_the_grace_a_record_waits_for_a_checker_that_starts_later(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(module, "_REREAD_SECONDS", 0.1)
        monkeypatch.setattr(module, "_WAIT_SECONDS", 0.1)
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        await put(place.servers, settings.topics.outputs, [record(0)])
        async with running(raw, own=(), grace=600) as worker:
            await worker.wait_for("assay_records_held", 1, agent="unclaimed")
            async with running(raw):
                seen = await collect(place.servers, settings.topics, records=1)
                await until(lambda: worker.metric("assay_records_held", agent="unclaimed") == 0)
        assert dict(seen.outcomes) == {"accept": 1}

    async def test_what_was_answered_is_committed_and_what_waits_at_a_stop_comes_back(self, place: Place):
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        topic, group = settings.topics.outputs, f"{place.prefix}.unclaimed"
        await put(place.servers, topic, map(paraphrase, range(3)))
        async with running(raw, own=()) as worker:
            await worker.wait_for("assay_unclaimed_records_total", 3, kind="paraphrase")
        assert await committed(place.servers, group, topic) == 3
        await put(place.servers, topic, [paraphrase(3)])
        async with running(raw, own=(), grace=600) as worker:
            await worker.wait_for("assay_records_held", 1, agent="unclaimed")
        assert await committed(place.servers, group, topic) == 3
        async with running(raw, own=()):
            seen = await collect(place.servers, settings.topics, records=4)
        assert sorted(seen.verdicts.values()) == [1, 1, 1, 1]


class TestOnTheEmbeddedBroker(UnclaimedPromises):
    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place

    async def test_it_lists_no_groups_so_the_workers_own_checkers_are_all_and_there_is_no_grace(self, place: Place):
        running_checkers = RunningCheckers(INSTALLED, ["accept"], place.checked(), grace_seconds=600)
        assert running_checkers.in_grace()
        kinds = await running_checkers.unclaimed_kinds()
        assert "paraphrase" in kinds
        assert "generation" not in kinds
        assert not running_checkers.in_grace()


async def _until_claimed(running_checkers: RunningCheckers, kind: str, *, claimed: bool = True) -> bool:
    async def as_expected() -> bool:
        return (kind not in await running_checkers.unclaimed_kinds()) is claimed

    return await until(as_expected)


async def _delete(servers: str, group: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        coordinator = await admin.find_coordinator(group)
        from aiokafka.protocol.admin import DeleteGroupsRequest

        response = await admin._send_request(DeleteGroupsRequest([group]), coordinator)
        assert [code for _, code in response.results] == [0]
    finally:
        await admin.close()
