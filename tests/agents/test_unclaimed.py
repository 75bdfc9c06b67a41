"""Messages as producers send them, unreadable ones and records of kinds that no checker takes included."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from structlog.testing import capture_logs

from agents.checker_agent import CheckerAgent
from assay.config import Misconfigured, load_configuration
from assay.wiring import build_worker
from schemas import Trace, verdict_id
from tests.assay.running import assay, servers
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, first_verdicts, put, record
from tests.support.waiting import until
from tests.support.workers import agents_here, worker_here


def paraphrase(number: int) -> bytes:
    return record(number, id=f"p{number}", kind="paraphrase", sentence1="a", sentence2="b", answer=True)


async def test_a_kind_that_nobody_takes_abstains_and_what_none_can_read_is_one_dead_letter(place: Place):
    raw, settings = await place.ready()
    messages = [record(0), paraphrase(0), b"{", b"[]", None, b'{"kind": "paraphrase"}', record(1), paraphrase(1)]
    await put(place.servers, settings.topics.outputs, messages)
    agents = [
        partial(CheckerAgent, Accept("first"), answers_for={"second": ["generation", "extraction"]}),
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
    for reason in ("not_json", "not_an_object", "empty", "invalid_record"):
        letters = [worker.metric("assay_dead_letters_total", agent=name, reason=reason) for name in ("first", "second")]
        assert letters == [1, 0]


async def _worker(tmp_path, named: list[str], running: str) -> Any:
    file = tmp_path / "assay.toml"
    file.write_text(f"[routing]\ncheckers = {json.dumps(named)}\n")
    configuration = load_configuration(file)
    return await build_worker(configuration, configuration.installed.select([running]), [])


async def test_a_checker_that_the_configuration_leaves_out_does_not_start(tmp_path):
    with pytest.raises(Misconfigured, match=r"routing\.checkers: consistency runs in this worker"):
        await _worker(tmp_path, ["retrieval"], "consistency")


async def test_records_are_read_whatever_they_are_compressed_with(prepared: Place):
    settings = prepared.settings() | {
        "kafka": {"bootstrap_servers": prepared.servers, "properties": {"compression.type": "zstd"}}
    }
    topics = prepared.checked().topics
    codecs = (None, "gzip", "snappy", "lz4", "zstd")
    async with worker_here([Accept()], settings):
        for number, codec in enumerate(codecs):
            await put(prepared.servers, topics.outputs, [record(number, prompt="x" * 500)], compression=codec)
        seen = await collect(prepared.servers, topics, records=len(codecs))
    assert len(seen.verdicts) == len(codecs)


async def test_what_a_transaction_takes_back_is_not_checked_and_counts_for_nothing(prepared: Place, tmp_path):
    topics = prepared.checked().topics
    async with AIOKafkaProducer(bootstrap_servers=prepared.servers, transactional_id=prepared.prefix) as producer:
        for number in range(20):
            await producer.begin_transaction()
            await producer.send_and_wait(topics.outputs, record(number), partition=0)
            await (producer.abort_transaction() if number % 2 else producer.commit_transaction())
    async with worker_here([Accept("consistency")], prepared.settings()) as worker:
        seen = await collect(prepared.servers, topics, records=10, settle=1)
        lag = "assay_consumer_lag_records", {"agent": "consistency"}
        await until(lambda: worker.registry.get_sample_value(*lag) == 0)
    assert set(seen.verdicts) == {f"r{number}" for number in range(0, 20, 2)}
    ran = await asyncio.to_thread(
        assay, "accounts", "--json", "--checker", "consistency", cwd=tmp_path, **servers(prepared)
    )
    found = json.loads(ran.stdout)
    assert (found["messages"], found["missing"]) == (10, [])
    assert sum(row["decided"] for row in found["accounts"]) == 10


FIRST, SECOND = "0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


async def test_a_verdict_carries_the_trace_and_the_tenant_of_its_record_or_of_its_messages_headers(prepared: Place):
    topics = prepared.checked().topics
    parent = [("traceparent", f"00-{FIRST}-{SPAN}-01".encode())]
    trace = {"trace_id": SECOND, "span_id": SPAN, "response_id": "resp-7"}
    async with AIOKafkaProducer(bootstrap_servers=prepared.servers) as producer:
        await producer.send_and_wait(topics.outputs, record(0), headers=parent)
        await producer.send_and_wait(topics.outputs, record(1, trace=trace, tenant="acme"), headers=parent)
        await producer.send_and_wait(topics.outputs, record(2), headers=[("traceparent", b"00-nonsense")])
    async with worker_here([Accept()], prepared.settings()):
        verdicts = await first_verdicts(prepared.servers, topics.accepted, 3)
    assert {one.record_id: (one.trace, one.tenant) for one in verdicts} == {
        "r0": (Trace(trace_id=FIRST, span_id=SPAN), None),
        "r1": (Trace(trace_id=SECOND, span_id=SPAN, response_id="resp-7"), "acme"),
        "r2": (None, None),
    }
