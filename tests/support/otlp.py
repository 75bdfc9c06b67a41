"""Spans and log records as instrumented applications send them."""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_794_000_000_000_000_000
"""November 2026, in nanoseconds."""

SECOND = 1_000_000_000
SERVICE = {"service.name": "shop-chat", "service.version": "3.2", "deployment.environment.name": "staging"}


_KINDS = {bool: "bool_value", int: "int_value", float: "double_value", bytes: "bytes_value", str: "string_value"}


def value(plain: Any) -> AnyValue:
    if isinstance(plain, list):
        return AnyValue(array_value=ArrayValue(values=map(value, plain)))
    if isinstance(plain, dict):
        return AnyValue(kvlist_value=KeyValueList(values=pairs(plain)))
    return AnyValue() if plain is None else AnyValue(**{_KINDS[type(plain)]: plain})


def pairs(attributes: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=value(plain)) for key, plain in attributes.items()]


def span(
    number: int,
    attributes: Mapping[str, Any],
    *,
    trace: str = TRACE,
    at: float = 0.0,
    seconds: float = 1.0,
    **more: Any,
) -> Span:
    """A span that began `at` seconds and took `seconds`."""
    began = START + int(at * SECOND)
    fields = {
        "trace_id": bytes.fromhex(trace),
        "span_id": number.to_bytes(8, "big"),
        "name": "chat",
        "start_time_unix_nano": began,
        "end_time_unix_nano": began + int(seconds * SECOND),
        "attributes": pairs(attributes),
    }
    return Span(**(fields | more))


def traces(
    *spans: Span, resource: Mapping[str, Any] = SERVICE, scope: str = "opentelemetry.instrumentation.genai.openai"
) -> ExportTraceServiceRequest:
    scoped = ScopeSpans(scope=InstrumentationScope(name=scope), spans=spans)
    of_resource = ResourceSpans(resource=Resource(attributes=pairs(resource)), scope_spans=[scoped])
    return ExportTraceServiceRequest(resource_spans=[of_resource])


def logs(*records: LogRecord, resource: Mapping[str, Any] = SERVICE) -> ExportLogsServiceRequest:
    of_resource = ResourceLogs(
        resource=Resource(attributes=pairs(resource)), scope_logs=[ScopeLogs(log_records=records)]
    )
    return ExportLogsServiceRequest(resource_logs=[of_resource])


def as_json(request: Any) -> bytes:
    """OTLP's JSON, where ids are hexadecimal."""
    document = MessageToDict(request)
    _hexadecimal(document)
    return orjson.dumps(document)


def _hexadecimal(node: Any) -> None:
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _hexadecimal(inner)
    if isinstance(node, dict):
        for name in {"traceId", "spanId", "parentSpanId"} & node.keys():
            node[name] = base64.b64decode(node[name]).hex()


def message(role: str, *parts: Any) -> dict[str, Any]:
    return {
        "role": role,
        "parts": [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts],
    }


def chat(
    question: str = "When does the shop open?",
    *answers: str,
    said: Iterable[dict[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """Attributes as OpenTelemetry's own packages write them, messages as JSON."""
    answered = [message("assistant", answer) for answer in answers or ("It opens at nine.",)]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "acme-chat-4",
        "gen_ai.response.model": "acme-chat-4-0613",
        "gen_ai.response.id": "resp-7",
        "gen_ai.input.messages": orjson.dumps([*said, message("user", question)]).decode(),
        "gen_ai.output.messages": orjson.dumps(answered).decode(),
    } | more


def openinference_chat(*messages: tuple[str, str], answer: str = "It opens at nine.", **more: Any) -> dict[str, Any]:
    flat: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": "acme-chat-4"}
    for at, (role, text) in enumerate(messages):
        flat |= {f"llm.input_messages.{at}.message.role": role, f"llm.input_messages.{at}.message.content": text}
    flat |= {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": answer}
    return flat | more


def openinference_retrieval(query: str, *texts: str, score: float | None = 0.8) -> dict[str, Any]:
    flat: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": query}
    for at, text in enumerate(texts):
        name = f"retrieval.documents.{at}.document"
        flat |= {f"{name}.content": text, f"{name}.id": f"d{at}"}
        flat |= {} if score is None else {f"{name}.score": score - at / 10}
    return flat
