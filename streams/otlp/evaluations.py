"""Verdicts as `gen_ai.evaluation.result` events of OpenTelemetry's GenAI conventions."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Final

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from schemas import Abstention, Verdict

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/gen-ai/0.1.0"
"""Version 0.1.0 of the GenAI conventions, their own first."""
_DIGITS: Final = 12
_KINDS: Final = {bool: "bool_value", int: "int_value", float: "double_value", str: "string_value"}

_FAULTS: Final = frozenset({"judge_failed", "judge_unusable", "judge_slow", "timeout"})
"""Causes of abstentions that someone can fix."""


def evaluation(verdict: Verdict, *, explained: bool) -> LogRecord:
    """The event of a verdict, within the span that it judges; `explained`: with the reason, which may quote."""
    fault = verdict.evidence.cause if isinstance(verdict.evidence, Abstention) else None
    fault = fault if fault in _FAULTS else None
    moment = int(verdict.checked_at.timestamp() * 1_000_000) * 1000
    trace = verdict.trace
    attributes = {
        "gen_ai.evaluation.name": verdict.checker,
        "gen_ai.evaluation.score.value": verdict.score,
        "gen_ai.evaluation.score.label": verdict.outcome,
        "gen_ai.evaluation.explanation": verdict.reason if explained else None,
        "gen_ai.evaluation.evaluator.version": f"{verdict.checker_version}+{verdict.config_digest[:_DIGITS]}",
        "gen_ai.request.model": verdict.model,
        "gen_ai.response.id": trace and trace.response_id,
        "error.type": fault,
        "assay.verdict.id": verdict.id,
        "assay.record.id": verdict.record_id,
        "assay.source": verdict.source,
        "assay.tenant": verdict.tenant,
        "assay.judge": verdict.judge or None,
        **{f"assay.metadata.{name}": value for name, value in verdict.metadata.items()},
    }
    return LogRecord(
        time_unix_nano=moment,
        observed_time_unix_nano=moment,
        event_name="gen_ai.evaluation.result",
        severity_number=SeverityNumber.SEVERITY_NUMBER_WARN if fault else SeverityNumber.SEVERITY_NUMBER_INFO,
        trace_id=bytes.fromhex((trace and trace.trace_id) or ""),
        span_id=bytes.fromhex((trace and trace.span_id) or ""),
        attributes=[KeyValue(key=name, value=_value(value)) for name, value in attributes.items() if value is not None],
    )


def request_of(events: Iterable[LogRecord]) -> bytes:
    """A request of OTLP with these events."""
    scope = InstrumentationScope(name="assay", version=version("assay"))
    resource = Resource(attributes=[KeyValue(key="service.name", value=_value("assay"))])
    of_scope = ScopeLogs(scope=scope, log_records=events, schema_url=SCHEMA_URL)
    logs = ResourceLogs(resource=resource, scope_logs=[of_scope], schema_url=SCHEMA_URL)
    return bytes(ExportLogsServiceRequest(resource_logs=[logs]).SerializeToString())


def _value(value: object) -> AnyValue:
    held, kind = AnyValue(), _KINDS.get(type(value))
    setattr(held, kind or "string_value", value if kind else orjson.dumps(value).decode())
    return held
