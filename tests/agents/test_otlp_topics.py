"""Readers of a collector's topics: every record of every message is on the outputs topic, whatever is killed."""

import asyncio
import random
import time
from collections import Counter
from functools import partial

import orjson
import pytest
from aiokafka.admin import NewTopic
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from agents.checker_agent import CheckerAgent
from agents.otlp import otlp_agents
from agents.runtime import AgentFactory
from schemas import Trace, Unreadable
from streams.clients import admin
from streams.otlp.decoding import read_request
from streams.otlp.records import RecordMaker
from streams.otlp.settings import OtlpSettings
from tests.support.checkers import Accept
from tests.support.otlp import START, TRACE, as_json, chat, logs, openinference_retrieval, pairs, span, traces
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_of, first_verdicts, messages_until, put
from tests.support.workers import agents_here


@pytest.fixture
async def otlp(prepared: Place) -> OtlpSettings:
    """The settings of a collector's topics, which are there."""
    topics = [f"{prepared.prefix}-otlp_{name}" for name in ("spans", "logs")]
    async with admin(prepared.checked().kafka) as client:
        await client.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1) for topic in topics])
    return OtlpSettings(topics={"spans": topics[0], "logs": topics[1]})


def _agents(settings: OtlpSettings) -> list[AgentFactory]:
    return otlp_agents(settings, ["otlp-spans", "otlp-logs"])


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
    """Requests of spans, protobuf and JSON, with bytes exchanged, left out and put in."""
    requests = [traces(span(7, chat())), traces(span(7, chat(**{"gen_ai.output.messages": '[{"role": "assist'})))]
    forms = [encoded for request in requests for encoded in (as_json(request), request.SerializeToString())]
    return [_broken(draw, draw.choice(forms)) for _ in range(number)]


def _broken(draw: random.Random, message: bytes) -> bytes:
    broken = bytearray(message)
    for _ in range(draw.choice([1, 2, 5])):
        at = draw.randrange(len(broken))
        match draw.randrange(3):
            case 0:
                broken[at] = draw.randrange(256)
            case 1:
                del broken[at : at + draw.randrange(9)]
            case _:
                broken[at:at] = draw.randbytes(draw.randrange(9))
    return bytes(broken)
