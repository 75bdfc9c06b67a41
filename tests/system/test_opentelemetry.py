"""The whole way: applications with packages that are not ours, their spans, records, verdicts, and back to the span.

The applications are the examples, run by the lines of docs/opentelemetry.md, in an environment that `make test-system`
makes.
"""

import asyncio
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiokafka.admin import NewTopic
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from streams.clients import admin
from tests.support.otlp_endpoint import Endpoint
from tests.support.ports import serving
from tests.support.scenarios import Place
from tests.support.service import running_service
from tests.support.traffic import first_of, put
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "opentelemetry.md").read_text("utf-8")
ENVIRONMENT = Path(os.environ.get("ASSAY_TEST_APPLICATIONS") or ROOT / ".venv" / "applications")

APPLICATIONS = ("openai_app.py", "langchain_app.py", "pydantic_ai_app.py")
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PASSAGE, ANSWER = "We deliver from Monday to Saturday.", "Yes, every day."


def _shell(containing: str) -> str:
    """The block of the guide's shell lines with this text."""
    (found,) = [block for block in SHELL.findall(GUIDE) if containing in block]
    return str(found)


async def _model(request: web.Request) -> web.Response:
    """A chat completion: a call of the tool if one is there and was not called, else the answer."""
    asked = await request.json()
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if asked.get("tools") and asked["messages"][-1]["role"] == "user":
        called = {"name": asked["tools"][0]["function"]["name"], "arguments": "{}"}
        message |= {"content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": called}]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return web.json_response(
        {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


@dataclass
class Collector:
    """Takes what applications send, and keeps it."""

    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        # The SDK's exporter packs nothing unless it is told to.
        self.requests.append(ExportTraceServiceRequest.FromString(body))
        return web.Response(content_type="application/x-protobuf")

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Trace and span ids of the calls of the model that ended with its answer, told by the packages' own names."""
        return [
            (span.trace_id.hex(), span.span_id.hex())
            for request in self.requests
            for of_resource in request.resource_spans
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
            if re.match(r"chat |ChatOpenAI$", span.name) and ANSWER in str(span.attributes)
        ]


async def _run_applications(model: str, endpoint: str) -> None:
    """Run each by the guide's lines."""
    common = _shell("export OTEL_SERVICE_NAME")
    given = {"OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": "sk-none"}
    lines = [common + re.sub("(?m)^pip .*$", "", _shell(application)) for application in APPLICATIONS]
    assert await asyncio.gather(*(_run(each, endpoint, **given) for each in lines)) == [ANSWER] * len(APPLICATIONS)


async def _run(lines: str, endpoint: str, **variables: str) -> str:
    """What these shell lines print, with `endpoint` in the place of the address that is told in the guide."""
    given = os.environ | {"PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}"} | variables
    lines = lines.replace("http://127.0.0.1:4318", endpoint)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("sh", "-ec", lines, cwd=ROOT, env=given, stdout=pipe, stderr=pipe)
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return out.decode().strip()


@pytest.fixture
async def topics(prepared: Place) -> dict[str, str]:
    """The collector's, which are there, as are assay's."""
    names = {signal: f"{prepared.prefix}-otlp_{name}" for signal, name in (("traces", "spans"), ("logs", "logs"))}
    async with admin(prepared.checked().kafka) as client:
        await client.create_topics([NewTopic(name, num_partitions=2, replication_factor=1) for name in names.values()])
    return names


@pytest.mark.timeout(600)
async def test_spans_of_three_packages_are_judged_and_their_verdicts_come_back_to_them(
    prepared: Place, topics: dict[str, str]
):
    collector, endpoint = Collector(), Endpoint()
    async with endpoint.running() as backend, serving("/v1/chat/completions", _model) as model:
        settings = {
            "ASSAY_OTLP__TOPICS__SPANS": topics["traces"],
            "ASSAY_OTLP__TOPICS__LOGS": topics["logs"],
            "ASSAY_OTLP__ENDPOINT": backend,
        }
        with running_service(prepared.servers, prepared.prefix, **settings) as service:
            async with serving("/v1/traces", collector.take) as collected:
                await _run_applications(f"http://127.0.0.1:{model}", f"http://127.0.0.1:{collected}")
            calls = collector.calls
            assert len(calls) == len(APPLICATIONS)
            # As a collector's Kafka exporter writes them: a request is a message without a key.
            await put(prepared.servers, topics["traces"], [each.SerializeToString() for each in collector.requests])
            # One of the applications calls a tool, which is a record of its own.
            count = len(calls) + 1
            await until(lambda: len(_consistency(endpoint.events)) >= len(calls), lambda: endpoint.events)
            await until(lambda: service.metric("assay_otlp_records_total") == count)
    assert {event["gen_ai.evaluation.name"] for event in endpoint.events} <= {"consistency", "tool_call"}
    events = _consistency(endpoint.events)
    assert sorted((event["trace"], event["span"]) for event in events) == sorted(calls)
    assert {event["event"] for event in events} == {"gen_ai.evaluation.result"}
    assert {event["assay.record.id"] for event in events} == {f"{trace}-{span}" for trace, span in calls}
    assert {event["assay.source"] for event in events} == {"garden-centre-chat"}

    outputs = prepared.checked().topics.outputs
    records = [orjson.loads(each) for each in await first_of(prepared.servers, outputs, count)]
    assert Counter(record["kind"] for record in records) == {"generation": len(calls), "tool_call": 1}
    records = [record for record in records if record["kind"] == "generation"]
    assert {(record["prompt"], record["response"]) for record in records} == {("Do you deliver on Sundays?", ANSWER)}
    # Retrieved, and answered by a tool; the plain call had nothing.
    assert sorted(record["contexts"] for record in records) == [[], [PASSAGE], [PASSAGE]]


def _consistency(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["gen_ai.evaluation.name"] == "consistency"]


def test_what_the_guide_installs_is_what_the_applications_are_run_with():
    told = set(re.findall(r"[a-z][\w\[\]-]+", " ".join(re.findall(r"(?m)^pip install (.*)$", GUIDE))))
    required = (Path(__file__).parent / "applications.in").read_text("utf-8")
    assert told == set(re.findall(r"(?m)^([a-z][\w\[\]-]+)", required))
