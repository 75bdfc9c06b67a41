"""The extraction checker on both brokers: extractions in, verdicts out, of a language model and of a service."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from checkers.checker import Models
from checkers.extraction import PLUGIN
from checkers.extraction.checker import ExtractionChecker
from models.build import build_oracle
from models.settings import SubjectSettings
from schemas import Abstention, ExtractionEvidence, Verdict
from tests.support.extraction import ENTITIES, TEXT, answering, places
from tests.support.graders import grading
from tests.support.scenarios import Place
from tests.support.stub_acts import Act, good
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest
from tests.support.traffic import first_verdicts, put
from tests.support.workers import worker_here


def extraction(name: str, **fields: Any) -> bytes:
    body = {"text": TEXT, "entities": ENTITIES, "model": "steady"}
    return json.dumps({"id": name, "kind": "extraction", "source": "crm-import", **body, **fields}).encode()


def known_only(text: str) -> list[str]:
    """What an extractor finds that knows the record's names and no others."""
    return [one for one in places(text) if one in ENTITIES]


def act(request: StubRequest) -> Act:
    """As a service it knows the record's names only; as the model `steady` it finds what stands there."""
    if request.path == "/known":
        return Act(document={"entities": known_only(request.body["text"])})
    return good()


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(script=act, answer=answering(places)) as endpoint:
        endpoint.gives_several = True
        yield endpoint


@pytest.fixture(params=["kafka", "embedded"])
def on_a_broker(request: pytest.FixtureRequest) -> Place:
    """Topics on Apache Kafka, and on the embedded broker."""
    place: Place = request.getfixturevalue("prepared" if request.param == "kafka" else "embedded_place")
    return place


def checker(stub: StubEndpoint) -> ExtractionChecker:
    subjects = {
        "steady": {"base_url": stub.base_url, "model": "m"},
        "known": {"backend": "service", "base_url": f"http://127.0.0.1:{stub.port}/known"},
    }
    models = {
        name: build_oracle(SubjectSettings.model_validate(settings), section=f"subjects.{name}")
        for name, settings in subjects.items()
    }
    built = PLUGIN.build(PLUGIN.settings(), Models(judge=grading(lambda reference, claim: 1.0), subjects=models))
    assert isinstance(built, ExtractionChecker)
    return built


async def verdicts(servers: str, topic: str, count: int) -> dict[str, Verdict]:
    """The first of a topic, by record."""
    return {verdict.record_id: verdict for verdict in await first_verdicts(servers, topic, count)}


async def test_each_extractor_gets_its_verdicts_and_is_counted(on_a_broker: Place, stub: StubEndpoint) -> None:
    raw, topics = on_a_broker.settings(), on_a_broker.checked().topics
    records = [
        *(extraction(f"s{number}") for number in range(3)),
        extraction("known", model="known"),
        extraction("absent", entities=[*ENTITIES, "Italy"]),
        extraction("nobody", model="nobody"),
        extraction("empty", entities=[]),
        extraction("gizmo", text="The gizmo is in Turin.", entities=["gizmo", "Turin"]),
    ]
    await put(on_a_broker.servers, topics.outputs, records)
    async with worker_here([checker(stub)], raw) as worker:
        accepted, rejected, abstained = await asyncio.gather(
            verdicts(on_a_broker.servers, topics.accepted, 3),
            verdicts(on_a_broker.servers, topics.rejected, 2),
            verdicts(on_a_broker.servers, topics.abstained, 3),
        )
        for outcome, model, count in (("accept", "steady", 3), ("reject", "known", 1), ("reject", "steady", 1)):
            labels = {"checker": "extraction", "outcome": outcome, "source": "crm-import", "model": model}
            await worker.wait_for("assay_verdicts_total", count, **labels)
    assert set(accepted) == {"s0", "s1", "s2"}
    assert all(one.error_bound == pytest.approx(0.2535, abs=1e-3) and one.origin for one in accepted.values())
    kinds = {
        name: {cause.kind for cause in verdict.evidence.causes}
        for name, verdict in rejected.items()
        if isinstance(verdict.evidence, ExtractionEvidence)
    }
    assert kinds == {"known": {"never_named"}, "absent": {"assumed_knowledge"}}
    causes = {
        name: verdict.evidence.cause for name, verdict in abstained.items() if isinstance(verdict.evidence, Abstention)
    }
    assert causes == {"nobody": "no_subject", "empty": "no_entity", "gizmo": "no_replacement"}


async def test_a_redelivered_extraction_gets_the_same_verdict_and_costs_nothing_again(
    prepared: Place, stub: StubEndpoint
) -> None:
    topics = prepared.checked().topics
    await put(prepared.servers, topics.outputs, [extraction("again")])
    async with worker_here([checker(stub)], prepared.settings()):
        await first_verdicts(prepared.servers, topics.accepted, 1)
        asked = len(stub.requests)
        await put(prepared.servers, topics.outputs, [extraction("again")])
        first, second = await first_verdicts(prepared.servers, topics.accepted, 2)
    assert first.id == second.id
    assert first.evidence == second.evidence
    assert len(stub.requests) == asked
    assert second.usage.calls == 0


async def test_extractions_are_held_while_the_subject_is_down(prepared: Place, stub: StubEndpoint) -> None:
    topics = prepared.checked().topics
    stub.down()
    await put(prepared.servers, topics.outputs, [extraction("held")])
    async with worker_here([checker(stub)], prepared.settings()) as worker:
        await worker.wait_for("assay_records_held", 1, agent="extraction")
        stub.up()
        (verdict,) = await first_verdicts(prepared.servers, topics.accepted, 1)
    assert verdict.record_id == "held"
