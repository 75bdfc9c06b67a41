"""Producers of other kinds: whatever they compress with is read, and what a transaction takes back is not."""

import asyncio
import json

from aiokafka import AIOKafkaProducer

from tests.assay.running import assay, servers
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, put, record
from tests.support.workers import worker_here


async def test_records_are_read_whatever_they_are_compressed_with(prepared: Place):
    settings = prepared.settings() | {
        "kafka": {"bootstrap_servers": prepared.servers, "producer": {"compression.type": "zstd"}}
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
        await asyncio.sleep(6)
        lag = worker.metric("assay_consumer_lag_records", agent="consistency")
    assert set(seen.verdicts) == {f"r{number}" for number in range(0, 20, 2)}
    ran = await asyncio.to_thread(
        assay, "accounts", "--json", "--checker", "consistency", cwd=tmp_path, **servers(prepared)
    )
    found = json.loads(ran.stdout)
    assert (found["messages"], found["missing"]) == (10, [])
    assert sum(row["decided"] for row in found["accounts"]) == 10
    assert lag == 0
