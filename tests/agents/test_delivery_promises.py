"""A worker's promises on every broker: each record is answered once its answer is safe, and none is lost."""

import asyncio
import signal
from pathlib import Path

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from streams.clients import admin
from tests.support.checkers import Accept, OnBad, Sleep, WhileFileIsThere, asking
from tests.support.scenarios import Place
from tests.support.stub_acts import never_longer_than
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import collect, committed, put, record
from tests.support.waiting import until
from tests.support.workers import agents_here, checking, worker_here

READ = 'assay_checker_records_total{checker="sleep",kind="generation"}'


class DeliveryPromises:
    """To be inherited with a fixture `place`."""

    # The embedded broker tells nobody what its groups have committed.
    tells_offsets = True

    async def test_every_record_gets_one_verdict_and_its_offset_is_committed(self, place: Place):
        raw, settings = await place.ready()
        await put(place.servers, settings.topics.outputs, map(record, range(300)))
        async with worker_here([Sleep(0.02)], raw):
            seen = await collect(place.servers, settings.topics, records=300, settle=0.5)
        assert len(seen.verdicts) == 300
        assert seen.repeats == 0
        assert not seen.letters
        if self.tells_offsets:
            assert await committed(place.servers, f"{place.prefix}.sleep", settings.topics.outputs) == 300

    async def test_records_are_held_while_the_judge_is_down_and_resume_when_it_is_back(
        self, place: Place, tmp_path: Path
    ):
        raw, settings = await place.ready(concurrency=16)
        down = tmp_path / "down"
        down.touch()
        await put(place.servers, settings.topics.outputs, map(record, range(200)))
        checker = WhileFileIsThere(down)
        async with worker_here([checker], raw) as worker:
            await worker.wait_for("assay_intake_paused", 1, agent="flaky")
            # All that were begun before wait, but for the one that is tried.
            begun = worker.metric("assay_records_in_flight", agent="flaky")
            await until(lambda: worker.metric("assay_records_held", agent="flaky") >= max(1, begun - 1))
            asked = checker.asked
            await until(lambda: checker.asked >= asked + 3)
            assert worker.metric("assay_records_in_flight", agent="flaky") == begun
            assert begun - 1 <= worker.metric("assay_records_held", agent="flaky") <= begun <= 16
            down.unlink()
            seen = await collect(place.servers, settings.topics, records=200, settle=0.3)
            assert worker.metric("assay_intake_paused", agent="flaky") == 0
            assert worker.metric("assay_records_held", agent="flaky") == 0
            assert worker.metric("assay_checker_records_total", checker="flaky", kind="generation") == 200
        assert len(seen.verdicts) == 200
        assert seen.repeats == 0
        assert not seen.letters


class TestOnApacheKafka(DeliveryPromises):
    """And what does not depend on the broker, on this one alone: the embedded one takes seconds to let a worker in."""

    async def test_records_that_the_judge_never_answers_abstain_and_the_others_pass(self, place: Place):
        raw, settings = await place.ready()
        short = "The board met on Monday."
        long = " ".join([short, *(f"Member {number} left at noon." for number in range(1000))])
        # The long ones first: ten questions without an answer were once taken for an outage.
        records = [record(number, response=short, reference=long if number < 10 else short) for number in range(30)]
        await put(place.servers, settings.topics.outputs, records)
        # A prompt is shorter than that.
        with StubEndpoint(script=never_longer_than(len(long))) as stub:
            checker = asking("consistency", stub.base_url, timeout_seconds=2)
            async with worker_here([checker], raw) as worker:
                paused = asyncio.create_task(worker.wait_for("assay_intake_paused", 1, agent="consistency"))
                seen = await collect(place.servers, settings.topics, records=30, settle=0.3)
                assert not paused.done()
                paused.cancel()
        assert seen.outcomes == {"accept": 20, "abstain": 10}
        assert seen.causes == {"judge_slow": 10}
        assert seen.repeats == 0
        assert not seen.letters

    async def test_records_that_wait_for_their_turn_leave_their_slots_to_others(self, place: Place):
        # Two questions of a length that was never answered are asked at once, and there are slots for four records.
        raw, settings = await place.ready(concurrency=4, drain_seconds=1)
        short = "The board met on Monday."
        long = " ".join([short, *(f"Member {number} left at noon." for number in range(1000))])
        # Each question is another: the same one would be asked once.
        texts = [f"{long if 0 < number < 31 else short} {number} came." for number in range(61)]
        records = [record(number, response=short, reference=text) for number, text in enumerate(texts)]
        await put(place.servers, settings.topics.outputs, records)
        with StubEndpoint(script=never_longer_than(len(long))) as stub:
            checker = asking("consistency", stub.base_url, timeout_seconds=3600)
            async with worker_here([checker], raw):
                seen = await collect(place.servers, settings.topics, records=31, settle=0)
        assert set(seen.outcomes) == {"accept"}
        assert set(seen.verdicts) == {f"r{number}" for number in range(61) if not 0 < number < 31}

    async def test_sigterm_lets_checks_finish_that_are_under_way(self, place: Place):
        raw, settings = await place.ready()
        await put(place.servers, settings.topics.outputs, map(record, range(20)))
        with place.worker([{"type": "sleep", "seconds": 2.0, "spread": 0}], raw) as worker:
            await asyncio.to_thread(worker.wait_ready)
            await asyncio.to_thread(worker.wait_for, READ, 20)
            assert await asyncio.to_thread(worker.terminate) == 0
        seen = await collect(place.servers, settings.topics, records=20)
        assert len(seen.verdicts) == 20

    @pytest.mark.parametrize(("does", "named"), [("raises", "ValueError"), ("is-cancelled", "CancelledError")])
    async def test_a_checker_that_raises_makes_a_dead_letter_without_its_message(
        self, place: Place, does: str, named: str
    ):
        raw, settings = await place.ready()
        values = [record(1), record(0, id="bad-secret"), record(2)]
        await put(place.servers, settings.topics.outputs, values)
        async with worker_here([OnBad(does)], raw) as worker:
            seen = await collect(place.servers, settings.topics, records=2, letters=1)
            await worker.wait_for("assay_dead_letters_total", 1, agent=does, reason="checker_failed")
        (letter,) = seen.letters.values()
        assert letter.reason == "checker_failed"
        assert letter.payload == values[1]
        assert named in letter.detail
        assert "secret" not in letter.detail

    # The embedded broker takes a minute to let a second member in.
    async def test_running_and_held_records_do_not_hold_up_another_worker_that_joins(self, place: Place):
        raw, settings = await place.ready(partitions=4, drain_seconds=1)
        await put(place.servers, settings.topics.outputs, map(record, range(40)), spread=True)
        async with worker_here([Sleep(3600, limit=7200)], raw) as first:
            await first.wait_for("assay_records_in_flight", 40, agent="sleep")
            async with worker_here([Sleep(0.01)], raw) as second:
                await second.wait_for("assay_verdicts_total", 1, **_LABELS)
                await first.stop()
                seen = await collect(place.servers, settings.topics, records=40)
        assert len(seen.verdicts) == 40

    async def test_a_record_that_its_judge_always_fails_on_is_given_up_and_the_others_pass(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("streams.messages._HOLD_SECONDS", 0.0)
        raw, settings = await place.ready(concurrency=4)
        records = [record(number, id="bad") if number == 0 else record(number) for number in range(200)]
        await put(place.servers, settings.topics.outputs, records)
        async with worker_here([OnBad("fails")], raw):
            seen = await collect(place.servers, settings.topics, records=200, settle=0.3)
        assert seen.outcomes == {"accept": 199, "abstain": 1}
        assert seen.causes == {"judge_failed": 1}
        assert seen.repeats == 0
        assert not seen.letters

    async def test_a_second_signal_ends_the_process_at_once(self, place: Place):
        raw, settings = await place.ready(drain_seconds=3600)
        await put(place.servers, settings.topics.outputs, [record(1)])
        with place.worker([{"type": "sleep", "seconds": 3600.0, "limit": 7200.0}], raw) as worker:

            def ended() -> bool:
                worker.signal(signal.SIGINT)
                return worker.exit_status is not None

            await asyncio.to_thread(worker.wait_ready)
            await asyncio.to_thread(worker.wait_for, READ, 1)
            await until(ended)
            # One alone would let it end in good order, with 0.
            assert worker.wait() == 128 + signal.SIGINT

    async def test_verdicts_carry_cloud_events_and_gen_ai_attributes(self, place: Place):
        raw, settings = await place.ready()
        await put(place.servers, settings.topics.outputs, [record(1)])
        async with worker_here([Accept()], raw):
            seen = await collect(place.servers, settings.topics, records=1)
        assert seen.headers["ce_specversion"] == b"1.0"
        assert seen.headers["ce_type"] == b"assay.verdict.accepted.v1"
        assert seen.headers["ce_id"].decode() in seen.verdict_ids["r1"]
        assert seen.headers["content-type"] == b"application/json"
        assert seen.headers["gen_ai.evaluation.score.label"] == b"accept"

    async def test_a_letter_too_large_for_its_topic_leaves_the_message_where_it_stands(self, place: Place):
        raw, settings = await place.ready()
        async with admin(settings.kafka) as client:
            limit = {"max.message.bytes": "100000"}
            topic = ConfigResource(ConfigResourceType.TOPIC, settings.topics.dead_letter, limit)
            await client.alter_configs([topic])
        rubbish = b"x" * 200_000
        await put(place.servers, settings.topics.outputs, [rubbish])
        async with agents_here([checking(Accept())], raw):
            seen = await collect(place.servers, settings.topics, letters=1)
        (letter,) = seen.letters.values()
        assert letter.reason == "undeliverable"
        assert (letter.truncated, letter.payload, letter.payload_bytes) == (True, b"", len(rubbish))


class TestOnTheEmbeddedBroker(DeliveryPromises):
    tells_offsets = False

    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place


_LABELS = {"checker": "sleep", "outcome": "accept", "source": "tests", "model": "m"}
