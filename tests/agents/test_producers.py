"""Producers: whatever they compress with is read, what a transaction takes back is not, and traces are kept."""

import asyncio
import json

from aiokafka import AIOKafkaProducer

from schemas import Trace
from tests.assay.running import assay, servers
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, first_verdicts, put, record
from tests.support.waiting import until
from tests.support.workers import worker_here


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
