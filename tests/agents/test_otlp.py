"""OpenTelemetry: every record of a collector's messages is on the outputs topic, every verdict an event of its span."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiokafka.admin import NewTopic
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from agents.checker_agent import CheckerAgent
from agents.otlp import otlp_agents
from schemas import Abstention, Trace, Unreadable, Verdict, to_json
from streams.clients import admin
from streams.otlp.decoding import read_request
from streams.otlp.records import RecordMaker
from streams.otlp.settings import OtlpSettings
from tests.support.checkers import Accept
from tests.support.otlp import START, TRACE, as_json, chat, logs, openinference_retrieval, pairs, span, traces
from tests.support.otlp_endpoint import Endpoint, plain, records_of
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_of, first_verdicts, messages_until, put
from tests.support.trust_verdicts import verdict
from tests.support.waiting import until
from tests.support.workers import agents_here


@pytest.fixture
async def otlp(prepared: Place) -> OtlpSettings:
    """The settings of a collector's topics, which are there."""
    topics = [f"{prepared.prefix}-otlp_{name}" for name in ("spans", "logs")]
    async with admin(prepared.checked().kafka) as client:
        await client.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1) for topic in topics])
    return OtlpSettings(topics={"spans": topics[0], "logs": topics[1]})


_agents = partial(otlp_agents, names=["otlp-spans", "otlp-logs"])


async def test_what_a_collector_writes_becomes_verdicts_with_its_trace(prepared: Place, otlp: OtlpSettings):
    search = span(1, openinference_retrieval("hours", "From nine.", score=None), at=0)
    event = LogRecord(
        trace_id=bytes.fromhex(TRACE),
        span_id=(4).to_bytes(8, "big"),
        time_unix_nano=START + 9,
        attributes=pairs(chat()),
    )
    batches = [traces(search, span(2, chat(), at=2)).SerializeToString(), as_json(traces(span(3, chat(), at=3)))]
    await put(prepared.servers, otlp.topics["spans"], batches)
    await put(prepared.servers, otlp.topics["logs"], [logs(event).SerializeToString()])
    topics = prepared.checked().topics
    async with agents_here([partial(CheckerAgent, Accept()), *_agents(otlp)], prepared.settings()) as worker:
        verdicts = await first_verdicts(prepared.servers, topics.accepted, 3)
        assert worker.metric("assay_otlp_records_total") == 3
    assert {verdict.trace for verdict in verdicts} == {
        Trace(trace_id=TRACE, span_id=f"{number:016x}", response_id="resp-7") for number in (2, 3, 4)
    }
    records = map(orjson.loads, await first_of(prepared.servers, topics.outputs, 3))
    assert {record["id"][-1]: record["contexts"] for record in records} == {
        "2": ["From nine."],
        "3": ["From nine."],
        "4": [],
    }


async def test_2000_broken_messages_are_each_a_dead_letter_or_counted(prepared: Place, otlp: OtlpSettings):
    messages = _broken_messages(random.Random(31), 2000)
    expected: Counter[str] = Counter()
    maker = RecordMaker(OtlpSettings(), max_bytes=1_000_000)
    for message in messages:
        try:
            made = maker.make(read_request(message, "traces"))
        except Unreadable:
            expected["letters"] += 1
        else:
            expected["records"] += len(made.records)
            expected.update(made.left_out)
    assert expected.keys() >= {"letters", "records", "unreadable", "truncated", "other"}
    await put(prepared.servers, otlp.topics["spans"], [*messages, b"", None])
    async with agents_here(_agents(otlp), prepared.settings()) as worker:
        letters = expected.pop("letters")
        seen = await collect(prepared.servers, prepared.checked().topics, letters=letters + 2)
        await worker.wait_for("assay_otlp_records_total", expected.pop("records"))
        for reason, number in expected.items():
            await worker.wait_for("assay_otlp_left_out_total", number, reason=reason)
        assert worker.metric("assay_otlp_left_out_total", reason="invalid") == expected["invalid"]
    assert Counter(letter.reason for letter in seen.letters.values()) == {"invalid_record": letters, "empty": 2}


async def test_kill_9_in_the_middle_loses_no_span_and_gives_none_another_id(prepared: Place, otlp: OtlpSettings):
    batches = [
        traces(*(span(batch * 50 + number, chat()) for number in range(1, 51))).SerializeToString()
        for batch in range(200)
    ]
    await put(prepared.servers, otlp.topics["spans"], batches)
    settings = prepared.settings(instance_id="only")
    outputs = prepared.checked().topics.outputs
    agents = [{"type": "otlp", **otlp.model_dump()}]
    draw = random.Random(7)

    def killed() -> None:
        for _ in range(2):
            with prepared.worker(agents, settings) as worker:
                worker.wait_ready()
                worker.wait_for("assay_otlp_records_total", 100)
                time.sleep(draw.uniform(0, 0.4))
                worker.kill()

    await asyncio.to_thread(killed)
    ids: set[str] = set()
    async with agents_here(_agents(otlp), settings):
        async for message in messages_until(prepared.servers, [outputs], lambda: len(ids) >= 10_000):
            ids.add(orjson.loads(message.value)["id"])
        group = f"{prepared.prefix}.otlp-spans"
    assert await committed(prepared.servers, group, otlp.topics["spans"]) == len(batches)
    assert ids == {f"{TRACE}-{number:016x}" for number in range(1, 10_001)}


def _broken_messages(draw: random.Random, number: int) -> list[bytes]:
    """Requests of spans, protobuf and JSON, in which a few bytes are exchanged, left out or put in."""
    requests = [traces(span(7, chat())), traces(span(7, chat(**{"gen_ai.output.messages": '[{"role": "assist'})))]
    forms = [encoded for request in requests for encoded in (as_json(request), request.SerializeToString())]
    broken = [bytearray(draw.choice(forms)) for _ in range(number)]
    for each in broken:
        for _ in range(draw.choice([1, 2, 5])):
            at = draw.randrange(len(each))
            each[at : at + draw.choice([0, 0, 1, 4])] = draw.randbytes(draw.choice([0, 1, 4]))
    return list(map(bytes, broken))


SPAN = "b7ad6b7169203331"


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
