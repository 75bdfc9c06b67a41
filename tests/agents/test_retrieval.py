"""The retrieval checker on Kafka: hits in, verdicts out, false matches tagged; everything over the wire."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.retrieval import PLUGIN
from checkers.retrieval.checker import RetrievalChecker
from models.build import build_oracle
from models.settings import JudgeSettings
from schemas import Abstention, DeadLetter, RetrievalEvidence
from tests.support.retrieval import StubMatcher, as_bytes, hit
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import first_of, first_verdicts, put
from tests.support.workers import agents_here, answering, worker_here


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=StubMatcher()) as endpoint:
        yield endpoint


def checker(stub: StubEndpoint, **settings: Any) -> RetrievalChecker:
    judge = build_oracle(
        JudgeSettings(backend="openai", base_url=stub.base_url, model="judge", max_attempts=1, timeout_seconds=2)
    )
    built = PLUGIN.build(PLUGIN.settings.model_validate(settings), Models(judge=judge, subjects={}))
    assert isinstance(built, RetrievalChecker)
    return built


class TestOnKafka:
    async def test_true_and_false_matches_go_their_ways_and_are_counted(
        self, prepared: Place, stub: StubEndpoint
    ) -> None:
        raw = prepared.settings()
        topics = prepared.checked().topics
        right = [hit(f"Is desk {number} open?", f"Open is desk {number}?", id=f"a{number}") for number in range(4)]
        wrong = [hit(f"Is desk {number} open?", f"Is desk {number + 7} open?", id=f"r{number}") for number in range(3)]
        empty = hit("…", id="e1")
        miss = b'{"kind":"retrieval","id":"m1","source":"s","model":"m","store":"cache","query":"Is it open?"}'
        records = [*map(as_bytes, (*right, *wrong, empty)), miss]
        await put(prepared.servers, topics.outputs, records)
        async with agents_here([answering(checker(stub))], raw) as worker:
            accepted, rejected, abstained, letters = await asyncio.gather(
                first_verdicts(prepared.servers, topics.accepted, 4),
                first_verdicts(prepared.servers, topics.rejected, 3),
                first_verdicts(prepared.servers, topics.abstained, 1),
                first_of(prepared.servers, topics.dead_letter, 1),
            )
            for outcome, count in (("accept", 4), ("reject", 3)):
                labels = {"checker": "retrieval", "outcome": outcome, "source": "faq-cache", "model": "embedder"}
                await worker.wait_for("assay_verdicts_total", count, **labels)
        assert {verdict.record_id for verdict in accepted} == {"a0", "a1", "a2", "a3"}
        assert {verdict.record_id for verdict in rejected} == {"r0", "r1", "r2"}
        for verdict in rejected:
            assert isinstance(verdict.evidence, RetrievalEvidence)
            assert verdict.evidence.relation == "quantifier_substitution"
            assert verdict.origin is not None
        (undecided,) = abstained
        assert isinstance(undecided.evidence, Abstention)
        assert undecided.evidence.cause == "empty_text"
        letter = DeadLetter.model_validate_json(letters[0])
        assert letter.reason == "invalid_record"
        assert "matched" in letter.detail

    async def test_a_redelivered_hit_gets_the_same_verdict(self, prepared: Place, stub: StubEndpoint) -> None:
        topics = prepared.checked().topics
        record = as_bytes(hit("Is desk 4 open?", "Is desk 7 open?", candidates=[("Open is desk 4?", 0.9)]))
        await put(prepared.servers, topics.outputs, [record, record])
        async with worker_here([checker(stub)], prepared.settings()):
            first, second = await first_verdicts(prepared.servers, topics.rejected, 2)
        assert first.id == second.id
        assert first.evidence == second.evidence

    async def test_hits_are_held_while_the_judge_is_down(self, prepared: Place, stub: StubEndpoint) -> None:
        topics = prepared.checked().topics
        stub.down()
        await put(prepared.servers, topics.outputs, [as_bytes(hit("Is it open?", "Open is it?"))])
        async with worker_here([checker(stub)], prepared.settings()) as worker:
            await worker.wait_for("assay_records_held", 1, agent="retrieval")
            stub.up()
            (verdict,) = await first_verdicts(prepared.servers, topics.accepted, 1)
        assert verdict.usage.calls == 1
