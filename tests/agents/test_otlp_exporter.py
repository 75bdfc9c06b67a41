"""The exporter: every verdict reaches the endpoint as an event within the span that it judges."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from agents.otlp import otlp_agents
from schemas import Abstention, Trace, Verdict, to_json
from streams.otlp.settings import OtlpSettings
from tests.support.otlp_endpoint import Endpoint, plain, records_of
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, put
from tests.support.trust_verdicts import verdict
from tests.support.waiting import until
from tests.support.workers import agents_here

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@contextlib.asynccontextmanager
async def _exporting(place: Place, url: str, **settings: Any) -> AsyncIterator[Any]:
    checked = OtlpSettings.model_validate({"endpoint": url} | settings)
    async with agents_here(otlp_agents(checked, ["otlp-exporter"]), place.settings()) as worker:
        yield worker


def _judged(number: int, accepted: bool = True, **more: Any) -> Verdict:
    return verdict(number, accepted, trace=Trace(trace_id=TRACE, span_id=SPAN, response_id="resp-7"), **more)


async def test_a_verdict_is_an_event_within_the_span_that_it_judges(prepared: Place, monkeypatch):
    topics = prepared.checked().topics
    accepted = _judged(1, tenant="acme", judge="judge-1", metadata={"service.version": "3.2", "build": 7})
    await put(prepared.servers, topics.accepted, [to_json(accepted)])
    await put(prepared.servers, topics.rejected, [to_json(_judged(2, False))])
    gave_up = Abstention(cause="judge_failed", detail="status 500")
    undecided = {"outcome": "abstain", "score": None, "evidence": gave_up, "trace": None}
    await put(prepared.servers, topics.abstained, [to_json(verdict(3, False, **undecided))])
    endpoint = Endpoint()
    async with endpoint.running() as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20sesame")
        async with _exporting(prepared, "env") as worker:
            await worker.wait_for("assay_otlp_exported_total", 3, outcome="taken")
    events = {event["assay.record.id"]: event for event in endpoint.events}
    assert events["r1"] == {
        "event": "gen_ai.evaluation.result",
        "trace": TRACE,
        "span": SPAN,
        "severity": 9,
        "gen_ai.evaluation.name": "fair",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "accept",
        "gen_ai.evaluation.explanation": "Reason 1.",
        "gen_ai.evaluation.evaluator.version": "1+d",
        "gen_ai.request.model": "m",
        "gen_ai.response.id": "resp-7",
        "assay.verdict.id": accepted.id,
        "assay.record.id": "r1",
        "assay.source": "shop",
        "assay.tenant": "acme",
        "assay.judge": "judge-1",
        "assay.metadata.service.version": "3.2",
        "assay.metadata.build": 7,
    }
    assert (events["r2"]["gen_ai.evaluation.score.label"], events["r2"]["gen_ai.evaluation.score.value"]) == (
        "reject",
        0,
    )
    assert "gen_ai.evaluation.score.value" not in events["r3"]
    assert (events["r3"]["error.type"], events["r3"]["severity"], events["r3"]["trace"]) == ("judge_failed", 13, "")
    (logs,) = endpoint.requests[0].resource_logs
    assert {logs.schema_url, logs.scope_logs[0].schema_url} == {"https://opentelemetry.io/schemas/gen-ai/0.1.0"}
    assert endpoint.headers["authorization"] == "Bearer sesame"
    assert endpoint.headers["content-type"] == "application/x-protobuf"


async def test_reasons_stay_where_they_are_told_to(prepared: Place):
    await put(prepared.servers, prepared.checked().topics.accepted, [to_json(_judged(1))])
    endpoint = Endpoint()
    async with endpoint.running() as url, _exporting(prepared, url, explanations=False) as worker:
        await worker.wait_for("assay_otlp_exported_total", 1, outcome="taken")
    assert "gen_ai.evaluation.explanation" not in endpoint.events[0]


async def test_while_the_endpoint_has_no_time_verdicts_wait_and_none_is_lost(prepared: Place):
    topics = prepared.checked().topics
    await put(prepared.servers, topics.accepted, [to_json(_judged(number)) for number in range(300)])
    busy = iter([503, 429, 500])

    def answer(_: Any) -> web.Response:
        return web.Response(status=next(busy, 200), headers={"Retry-After": "0.2"})

    endpoint = Endpoint(answer)
    async with endpoint.running() as url, _exporting(prepared, url) as worker:
        await until(lambda: endpoint.refused > 0)
        assert await committed(prepared.servers, f"{prepared.prefix}.otlp-exporter-accepted", topics.accepted) == 0
        await worker.wait_for("assay_otlp_exported_total", 300, outcome="taken")
    assert {event["assay.record.id"] for event in endpoint.events} == {f"r{number}" for number in range(300)}
    # They are sent together.
    assert len(endpoint.requests) < 100
    assert await committed(prepared.servers, f"{prepared.prefix}.otlp-exporter-accepted", topics.accepted) == 300


async def test_what_is_refused_for_good_is_a_dead_letter_and_costs_no_other(prepared: Place):
    topics = prepared.checked().topics
    messages = [to_json(_judged(number)) for number in range(20)]
    no_verdict = b'{"id": "v", "record_id": "r", "outcome": "accept"}'
    await put(prepared.servers, topics.accepted, [*messages[:9], no_verdict, *messages[9:]])

    def answer(request: ExportLogsServiceRequest) -> web.Response:
        bad = any(plain(record)["assay.record.id"] == "r7" for record in records_of(request))
        return web.Response(status=400 if bad else 200)

    endpoint = Endpoint(answer)
    async with endpoint.running() as url, _exporting(prepared, url) as worker:
        await worker.wait_for("assay_otlp_exported_total", 19, outcome="taken")
        seen = await collect(prepared.servers, topics, letters=2)
    assert sorted(letter.reason for letter in seen.letters.values()) == ["invalid_record", "undeliverable"]
    assert {event["assay.record.id"] for event in endpoint.events} == {f"r{number}" for number in range(20)} - {"r7"}


def test_an_endpoint_is_a_plain_url():
    for url in ("127.0.0.1:4318", "ftp://a", "http://user:pass@a", "http://a?key=1", ""):
        with pytest.raises(ValueError, match="expected a URL such as http://127"):
            OtlpSettings.model_validate({"endpoint": url})
