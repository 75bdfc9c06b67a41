"""Verdicts lead back to the call that they judge."""

from functools import partial

from aiokafka import AIOKafkaProducer

from agents.checker_agent import CheckerAgent
from schemas import Trace
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import first_verdicts, record
from tests.support.workers import agents_here

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
    async with agents_here([partial(CheckerAgent, Accept())], prepared.settings()):
        verdicts = await first_verdicts(prepared.servers, topics.accepted, 3)
    assert {one.record_id: (one.trace, one.tenant) for one in verdicts} == {
        "r0": (Trace(trace_id=FIRST, span_id=SPAN), None),
        "r1": (Trace(trace_id=SECOND, span_id=SPAN, response_id="resp-7"), "acme"),
        "r2": (None, None),
    }
