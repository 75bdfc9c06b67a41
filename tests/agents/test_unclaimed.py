"""Unreadable messages and records of kinds that no checker takes are answered all the same, and once."""

import json
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs

from agents.checker_agent import CheckerAgent
from assay.config import Misconfigured, load_configuration
from assay.wiring import build_worker
from schemas import verdict_id
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, first_verdicts, put, record
from tests.support.workers import agents_here


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


class UnclaimedPromises:
    """To be inherited with a fixture `place`."""

    async def test_a_kind_that_nobody_takes_abstains_and_what_none_can_read_is_one_dead_letter(self, place: Place):
        raw, settings = await place.ready()
        messages = [record(0), paraphrase(0), b"{", b"[]", None, b'{"kind": "paraphrase"}', record(1), paraphrase(1)]
        await put(place.servers, settings.topics.outputs, messages)
        agents = [
            partial(CheckerAgent, Accept("first"), checked_kinds=("generation", "extraction")),
            partial(CheckerAgent, Accept("second")),
        ]
        with capture_logs() as logged:
            async with agents_here(agents, raw) as worker:
                for name in ("first", "second"):
                    await worker.wait_for("assay_checker_records_total", 2, checker=name, kind="generation")
                await worker.wait_for("assay_skipped_total", 4, checker="second", kind="unreadable")
                seen = await collect(place.servers, settings.topics, records=4, letters=4)
                await worker.wait_for("assay_unclaimed_records_total", 2, kind="paraphrase")
                assert worker.metric("assay_unclaimed_records_total", kind="generation") == 0
                assert worker.metric("assay_skipped_total", checker="second", kind="paraphrase") == 2
        assert seen.outcomes["abstain"] == 2
        verdicts = await first_verdicts(place.servers, settings.topics.abstained, 2)
        verdicts.sort(key=lambda verdict: verdict.record_id)
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
        assert counted == {("first", reason): 1.0 for reason in reasons}


class TestOnApacheKafka(UnclaimedPromises):
    pass


class TestOnTheEmbeddedBroker(UnclaimedPromises):
    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place


async def _worker(tmp_path, named: list[str], running: str) -> Any:
    file = tmp_path / "assay.toml"
    file.write_text(f"[routing]\ncheckers = {json.dumps(named)}\n")
    configuration = load_configuration(file)
    return await build_worker(configuration, configuration.installed.select([running]), [])


async def test_a_checker_that_the_configuration_leaves_out_does_not_start(tmp_path):
    with pytest.raises(Misconfigured, match=r"routing\.checkers: consistency runs in this worker"):
        await _worker(tmp_path, ["retrieval"], "consistency")
