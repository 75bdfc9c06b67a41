"""Requests of OTLP, protobuf or JSON, as plain values."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from schemas import Unreadable

Signal: TypeAlias = Literal["traces", "logs"]

_DEEPEST = 100  # Levels of JSON; messages with their parts have some thirty.
_LARGEST_JSON = 4_194_304
"""Bytes; protobuf's own reader takes a third of a second for each megabyte of JSON."""

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Item:
    """A span, or a log record."""

    trace_id: str  # Hexadecimal, like `span_id`.
    span_id: str
    began: int  # Nanoseconds since 1970, like `ended`; the same in a log record.
    ended: int
    attributes: Mapping[str, Any]  # Those of a log record include what its body holds by name.
    resource: Mapping[str, Any]
    scope: str
    incomplete: bool  # True if attributes were dropped before it was sent.

    @property
    def has_ids(self) -> bool:
        return bool(_TRACE_ID.fullmatch(self.trace_id) and _SPAN_ID.fullmatch(self.span_id))


def read_request(data: bytes, signal: Signal) -> list[Item]:
    """The items of a request, else `Unreadable`, which does not quote it; its first byte says whether it is JSON."""
    # No message of protobuf begins with a brace: a group that was never allowed.
    json = data.startswith(b"{")
    is_span = signal == "traces"
    request: Any = ExportTraceServiceRequest() if is_span else ExportLogsServiceRequest()
    if json and len(data) > _LARGEST_JSON:
        raise Unreadable("invalid_record", f"JSON of more than {_LARGEST_JSON} bytes; send protobuf, or less at once")
    try:
        if json:
            Parse(data, request, ignore_unknown_fields=True, max_recursion_depth=_DEEPEST)
        else:
            request.ParseFromString(data)
    except (DecodeError, ParseError, RecursionError, ValueError):
        raise Unreadable("invalid_record", f"not a {'JSON' if json else 'protobuf'} request of {signal}") from None
    return list(_items(request, is_span=is_span, json=json))


def _items(request: Any, *, is_span: bool, json: bool) -> Iterator[Item]:
    # In JSON ids are hexadecimal, which protobuf's reader takes for base64.
    shown = (lambda id_: base64.b64encode(id_).decode().lower()) if json else bytes.hex
    for of_resource in request.resource_spans if is_span else request.resource_logs:
        resource = _attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans if is_span else of_resource.scope_logs:
            for item in of_scope.spans if is_span else of_scope.log_records:
                attributes = _attributes(item.attributes)
                if not is_span and item.body.WhichOneof("value") == "kvlist_value":
                    attributes = _attributes(item.body.kvlist_value.values) | attributes
                ended = item.end_time_unix_nano if is_span else item.time_unix_nano or item.observed_time_unix_nano
                yield Item(
                    trace_id=shown(item.trace_id),
                    span_id=shown(item.span_id),
                    began=item.start_time_unix_nano if is_span else ended,
                    ended=ended,
                    attributes=attributes,
                    resource=resource,
                    scope=of_scope.scope.name,
                    incomplete=item.dropped_attributes_count > 0,
                )


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    # Deep nesting is refused by protobuf itself.
    kind = value.WhichOneof("value")
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    if kind == "array_value":
        return [_value(inner) for inner in value.array_value.values]
    return None if kind is None else getattr(value, kind)
