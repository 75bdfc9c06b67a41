"""The labelling checker on Kafka: labellings in, verdicts out, counted by labeller; everything over the wire."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkers.checker import Models
from checkers.labelling import PLUGIN
from checkers.labelling.checker import LabellingChecker
from models.build import build_oracle
from models.settings import JudgeSettings
from schemas import Abstention, LabellingEvidence, Verdict
from tests.support.labelling import IN_PHENOMENON, StubLabeller, bit_strings
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import first_verdicts, put
from tests.support.workers import worker_here

RUBRIC = Path(__file__).parents[2] / "examples" / "rubrics" / "in-phenomenon.yaml"
HONEST = [x for x, _ in zip(bit_strings(), range(8), strict=False)]


def labelling(number: int, **fields: Any) -> bytes:
    body = {"datapoint": HONEST[number % len(HONEST)], "rubric": "in-phenomenon", "label": 0}
    envelope = {"id": f"l{number}", "kind": "labelling", "source": "moderation", "model": "honest"}
    return json.dumps({**envelope, **body, **fields}).encode()


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    """A model behind two names: as `echo` it gives back what it is shown."""
    honest, echo = StubLabeller(), StubLabeller()
    echo.generates = lambda x, _: x
    with StubEndpoint(
        answer=lambda request: (echo if request.body["model"] == "echo" else honest)(request)
    ) as endpoint:
        yield endpoint


def checker(stub: StubEndpoint) -> LabellingChecker:
    def model(name: str):
        return build_oracle(JudgeSettings(backend="openai", base_url=stub.base_url, model=name))

    settings = PLUGIN.settings.model_validate({"rubrics": {"in-phenomenon": str(RUBRIC)}})
    return PLUGIN.build(
        settings, Models(judge=model("judge"), subjects={name: model(name) for name in ("honest", "echo")})
    )


async def verdicts(servers: str, topic: str, count: int) -> dict[str, Verdict]:
    """The first of a topic, by record."""
    return {verdict.record_id: verdict for verdict in await first_verdicts(servers, topic, count)}


class TestOnKafka:
    async def test_each_labeller_gets_its_verdicts_and_is_counted(self, prepared: Place, stub: StubEndpoint) -> None:
        raw = prepared.settings()
        topics = prepared.checked().topics
        right = StubLabeller(IN_PHENOMENON).label
        records = [
            *(labelling(number, label=right(x)) for number, x in enumerate(HONEST)),
            *(labelling(10 + number, model="echo") for number in range(4)),
            labelling(20, label=1 - int(str(right(HONEST[4])))),
            labelling(21, model="nobody"),
            labelling(22, rubric="tone"),
            labelling(23, label="banana"),
        ]
        await put(prepared.servers, topics.outputs, records)
        async with worker_here([checker(stub)], raw) as worker:
            accepted, rejected, abstained = await asyncio.gather(
                verdicts(prepared.servers, topics.accepted, 8),
                verdicts(prepared.servers, topics.rejected, 5),
                verdicts(prepared.servers, topics.abstained, 3),
            )
            for outcome, model, count in (("accept", "honest", 8), ("reject", "honest", 1), ("reject", "echo", 4)):
                labels = {"checker": "labelling", "outcome": outcome, "source": "moderation", "model": model}
                await worker.wait_for("assay_verdicts_total", count, **labels)
        assert set(accepted) == {f"l{number}" for number in range(8)}
        assert all(verdict.error_bound == 0.125 and verdict.origin is not None for verdict in accepted.values())
        assert set(rejected) == {"l10", "l11", "l12", "l13", "l20"}
        assert all(verdict.error_bound is None for verdict in rejected.values())
        failed, contradicted = rejected["l10"].evidence, rejected["l20"].evidence
        assert isinstance(failed, LabellingEvidence)
        assert failed.runs[0].rounds[-1].fault == "echo"
        assert isinstance(contradicted, LabellingEvidence)
        assert contradicted.succeeded
        assert contradicted.contradicted
        causes = {
            id_: verdict.evidence.cause
            for id_, verdict in abstained.items()
            if isinstance(verdict.evidence, Abstention)
        }
        assert causes == {"l21": "no_subject", "l22": "no_rubric", "l23": "unknown_label"}
