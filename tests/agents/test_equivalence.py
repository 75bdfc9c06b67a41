"""The equivalence checker on Kafka: paraphrase decisions in, verdicts out; everything over the wire."""

import asyncio
from collections.abc import Iterator

import pytest

from checkers.checker import Models
from checkers.equivalence import PLUGIN
from checkers.equivalence.checker import EquivalenceChecker
from models.build import build_oracle
from models.settings import JudgeSettings
from schemas import Abstention, EquivalenceEvidence
from tests.support.equivalence import ALIGNED, APART, StubSubject, as_bytes, decision
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import first_verdicts, put
from tests.support.workers import worker_here


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    """Models behind one endpoint: `steady` sees no two sentences alike, `fickle` all; `strict` no two phrases."""
    subjects = {
        "steady": StubSubject(),
        "fickle": StubSubject(sentences=lambda first, second: True),
        "strict": StubSubject(phrases=lambda first, second: False),
        "judge": StubSubject(),
    }
    with StubEndpoint(answer=lambda request: subjects[request.body["model"]](request)) as endpoint:
        yield endpoint


def checker(stub: StubEndpoint) -> EquivalenceChecker:
    def model(name: str):
        return build_oracle(JudgeSettings(backend="openai", base_url=stub.base_url, model=name))

    subjects = {name: model(name) for name in ("steady", "fickle", "strict")}
    built = PLUGIN.build(PLUGIN.settings.model_validate({}), Models(judge=model("judge"), subjects=subjects))
    assert isinstance(built, EquivalenceChecker)
    return built


class TestOnKafka:
    async def test_answers_of_either_kind_get_their_verdicts(self, prepared: Place, stub: StubEndpoint) -> None:
        topics = prepared.checked().topics
        records = [
            decision(*ALIGNED, id="proved", model="steady"),
            decision(*ALIGNED, id="denied", model="strict"),
            decision(*APART, id="apart", model="steady"),
            decision(*ALIGNED, id="by the judge", model="nobody"),
            decision(*APART, id="trusted", answer=False, model="steady"),
            decision(*APART, id="contradicted", answer=False, model="fickle"),
            decision(*APART, id="untested", answer=False, model="nobody"),
        ]
        await put(prepared.servers, topics.outputs, map(as_bytes, records))
        async with worker_here([checker(stub)], prepared.settings()) as worker:
            accepted, rejected, abstained = await asyncio.gather(
                first_verdicts(prepared.servers, topics.accepted, 3),
                first_verdicts(prepared.servers, topics.rejected, 3),
                first_verdicts(prepared.servers, topics.abstained, 1),
            )
            labels = {"checker": "equivalence", "outcome": "accept", "source": "dedup", "model": "steady"}
            await worker.wait_for("assay_verdicts_total", 2, **labels)
        assert {one.record_id for one in accepted} == {"proved", "by the judge", "trusted"}
        assert {one.record_id for one in rejected} == {"denied", "apart", "contradicted"}
        assert all(one.error_bound is None and one.origin is not None for one in (*accepted, *rejected))
        asked = {one.record_id: one.evidence.asked for one in accepted if isinstance(one.evidence, EquivalenceEvidence)}
        assert asked == {"proved": "subject", "by the judge": "judge", "trusted": "subject"}
        (undecided,) = abstained
        assert isinstance(undecided.evidence, Abstention)
        assert (undecided.record_id, undecided.evidence.cause) == ("untested", "no_subject")

    async def test_a_redelivered_decision_gets_the_same_verdict(self, prepared: Place, stub: StubEndpoint) -> None:
        topics = prepared.checked().topics
        record = as_bytes(decision(*ALIGNED, answer=False, model="fickle"))
        await put(prepared.servers, topics.outputs, [record, record])
        async with worker_here([checker(stub)], prepared.settings()):
            first, second = await first_verdicts(prepared.servers, topics.rejected, 2)
        assert first.id == second.id
        assert first.evidence == second.evidence

    async def test_decisions_are_held_while_the_subject_is_down(self, prepared: Place, stub: StubEndpoint) -> None:
        topics = prepared.checked().topics
        stub.down()
        await put(prepared.servers, topics.outputs, [as_bytes(decision(*ALIGNED, model="steady"))])
        async with worker_here([checker(stub)], prepared.settings()) as worker:
            await worker.wait_for("assay_records_held", 1, agent="equivalence")
            stub.up()
            (verdict,) = await first_verdicts(prepared.servers, topics.accepted, 1)
        assert verdict.usage.calls >= 1
