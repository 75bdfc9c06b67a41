"""What no checker checks is answered all the same, and once: unreadable messages, records of kinds that none takes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Collection
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from structlog.testing import capture_logs

from agents import unchecked as module
from agents.checker_agent import checker_agent
from agents.unchecked import RunningCheckers, unchecked_agent
from schemas import verdict_id
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_verdicts, put, record
from tests.support.waiting import until
from tests.support.workers import agents_here

INSTALLED = {"accept": ["generation"], "second": ["generation"], "elsewhere": ["paraphrase"]}


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
    agents = [unchecked_agent(INSTALLED, own, grace_seconds=grace)]
    agents += [checker_agent(Accept(name)) for name in own]
    async with agents_here(agents, raw) as worker:
        yield worker


class UncheckedPromises:
    """To be inherited with a fixture `place`."""

    async def test_a_kind_that_nobody_takes_abstains_and_what_none_can_read_is_one_dead_letter(self, place: Place):
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        messages = [record(0), paraphrase(0), b"{", b"[]", None, b'{"kind": "paraphrase"}', record(1), paraphrase(1)]
        await put(place.servers, settings.topics.outputs, messages)
        with capture_logs() as logged:
            async with running(raw, own=("accept", "second")) as worker:
                for name in ("accept", "second"):
                    await worker.wait_for("assay_records_total", 2, checker=name, kind="generation")
                    await worker.wait_for("assay_skipped_total", 4, checker=name, kind="unreadable")
                seen = await collect(place.servers, settings.topics, records=4, letters=4)
                await worker.wait_for("assay_unclaimed_records_total", 2, kind="paraphrase")
                assert worker.metric("assay_unclaimed_records_total", kind="generation") == 0
        assert seen.outcomes["abstain"] == 2
        verdicts = await first_verdicts(place.servers, settings.topics.abstained, 2)
        assert [(one.record_id, one.checker, one.evidence.cause) for one in verdicts] == [
            (name, "none", "no_checker") for name in ("p0", "p1")
        ]
        assert verdicts[0].id == verdict_id("tests", "p0", "none", "none")
        assert "'paraphrase'" in verdicts[0].reason
        assert verdicts[1].origin.offset == 7
        # Two checkers met each unreadable message: one letter, one log line, one count all the same.
        assert seen.letter_messages == 4
        assert [one["event"] for one in logged].count("dead letter") == 4
        counted = {
            (sample.labels["agent"], sample.labels["reason"]): sample.value
            for family in worker.registry.collect()
            for sample in family.samples
            if sample.name == "assay_dead_letters_total" and sample.value
        }
        reasons = ("not_json", "not_an_object", "empty", "invalid_record")
        assert counted == {("unchecked", reason): 1.0 for reason in reasons}


class TestOnApacheKafka(UncheckedPromises):
    async def test_a_checker_counts_as_running_while_its_group_exists(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(module, "_REREAD_SECONDS", 0.1)
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        running_checkers = RunningCheckers(INSTALLED, ["accept"], settings)
        assert not await running_checkers.take("paraphrase")
        group = f"{place.prefix}.elsewhere"
        async with AIOKafkaConsumer(
            settings.topics.outputs, bootstrap_servers=place.servers, group_id=group, auto_offset_reset="earliest"
        ) as consumer:
            await put(place.servers, settings.topics.outputs, [record(0)])
            await consumer.getone()
            await consumer.commit()
            assert await _until_claimed(running_checkers, "paraphrase")
        # Without members too: its worker may be about to start again.
        assert await running_checkers.take("paraphrase")
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
            await worker.wait_for("assay_records_held", 1, agent="unchecked")
            async with running(raw):
                seen = await collect(place.servers, settings.topics, records=1)
                await until(lambda: worker.metric("assay_records_held", agent="unchecked") == 0)
        assert dict(seen.outcomes) == {"accept": 1}

    async def test_what_was_answered_is_committed_and_what_waits_at_a_stop_comes_back(self, place: Place):
        raw = place.settings()
        settings = await asyncio.to_thread(place.prepare, raw)
        topic, group = settings.topics.outputs, f"{place.prefix}.unchecked"
        await put(place.servers, topic, map(paraphrase, range(3)))
        async with running(raw, own=()) as worker:
            await worker.wait_for("assay_unclaimed_records_total", 3, kind="paraphrase")
        assert await committed(place.servers, group, topic) == 3
        await put(place.servers, topic, [paraphrase(3)])
        async with running(raw, own=(), grace=600) as worker:
            await worker.wait_for("assay_records_held", 1, agent="unchecked")
        assert await committed(place.servers, group, topic) == 3
        async with running(raw, own=()):
            seen = await collect(place.servers, settings.topics, records=4)
        assert sorted(seen.verdicts.values()) == [1, 1, 1, 1]


class TestOnTheEmbeddedBroker(UncheckedPromises):
    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place

    async def test_it_lists_no_groups_so_the_workers_own_checkers_are_all_and_there_is_no_grace(self, place: Place):
        running_checkers = RunningCheckers(INSTALLED, ["accept"], place.checked(), grace_seconds=600)
        assert running_checkers.in_grace()
        assert await running_checkers.take("generation")
        assert not await running_checkers.take("paraphrase")
        assert not running_checkers.in_grace()


async def _until_claimed(running_checkers: RunningCheckers, kind: str, *, claimed: bool = True) -> bool:
    async def as_expected() -> bool:
        return await running_checkers.take(kind) is claimed

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
