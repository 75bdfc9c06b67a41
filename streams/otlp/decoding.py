"""Requests of OTLP, protobuf or JSON, as plain values."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Signal: TypeAlias = Literal["traces", "logs"]

_DEEPEST = 32
"""Levels of a value; messages with their parts have five."""

_LATEST = 2**64
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")


class Malformed(ValueError):
    """The message is no request of OTLP; the error does not quote it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A span, or a log record."""

    trace_id: str
    """Hexadecimal, like `span_id`."""
    span_id: str
    began: int
    """Nanoseconds since 1970, like `ended`; the same in a log record."""
    ended: int
    attributes: Mapping[str, Any]
    """Attributes by name; those of a log record include what its body holds by name."""
    resource: Mapping[str, Any]
    scope: str
    incomplete: bool
    """True if attributes were dropped before it was sent."""
    event: str = ""
    """The name of a log record that is an event."""
    tracestate: str = ""

    @property
    def placed(self) -> bool:
        """True if its ids are ids."""
        return bool(_TRACE_ID.fullmatch(self.trace_id) and _SPAN_ID.fullmatch(self.span_id))


@dataclass(frozen=True, slots=True)
class Request:
    """The items of a request."""

    items: list[Item]
    unreadable: int
    """Number of items that cannot be read."""


def read_request(data: bytes, signal: Signal, *, json: bool | None = None) -> Request:
    """The items of a request; told by its first byte whether it is JSON, if `json` is not given.

    Raises:
        Malformed: it is none.
    """
    if json is None:
        # No message of protobuf begins with a brace: a group that was never allowed.
        json = data.startswith(b"{")
    items: list[Item] = []
    unreadable = 0
    for read in _read_json(data, signal) if json else _read_protobuf(data, signal):
        try:
            items.append(read())
        except Malformed:
            unreadable += 1
    return Request(items, unreadable)


def _read_protobuf(data: bytes, signal: Signal) -> Iterator[Callable[[], Item]]:
    is_span = signal == "traces"
    try:
        request: Any = (ExportTraceServiceRequest if is_span else ExportLogsServiceRequest).FromString(data)
    except DecodeError:
        raise Malformed(f"not a protobuf request of {signal}") from None
    for of_resource in request.resource_spans if is_span else request.resource_logs:
        resource = _attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans if is_span else of_resource.scope_logs:
            for item in of_scope.spans if is_span else of_scope.log_records:

                def read(item: Any = item, scope: str = of_scope.scope.name, resource: Any = resource) -> Item:
                    attributes = _attributes(item.attributes)
                    if not is_span and item.body.WhichOneof("value") == "kvlist_value":
                        attributes = _attributes(item.body.kvlist_value.values) | attributes
                    ended = item.end_time_unix_nano if is_span else item.time_unix_nano or item.observed_time_unix_nano
                    return Item(
                        trace_id=item.trace_id.hex(),
                        span_id=item.span_id.hex(),
                        began=item.start_time_unix_nano if is_span else ended,
                        ended=ended,
                        attributes=attributes,
                        resource=resource,
                        scope=scope,
                        incomplete=item.dropped_attributes_count > 0,
                        event="" if is_span else item.event_name,
                        tracestate=item.trace_state if is_span else "",
                    )

                yield read


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


def _read_json(data: bytes, signal: Signal) -> Iterator[Callable[[], Item]]:
    resources, scopes, items = {
        "traces": ("resourceSpans", "scopeSpans", "spans"),
        "logs": ("resourceLogs", "scopeLogs", "logRecords"),
    }[signal]
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"not JSON at line {error.lineno}, column {error.colno}") from None
    for of_resource in _listed(document, resources):
        resource = _json_attributes(_field(of_resource, "resource", {}), 0)
        for of_scope in _listed(of_resource, scopes):
            scope = _text(_field(of_scope, "scope", {}), "name")
            for item in _listed(of_scope, items):

                def read(item: Any = item, scope: str = scope, resource: Any = resource) -> Item:
                    attributes = _json_attributes(item, 0)
                    body = _field(item, "body", {}) if signal == "logs" else {}
                    if isinstance(within := _field(body, "kvlistValue", None), dict):
                        attributes = _json_attributes(within, 0, "values") | attributes
                    ended = _number(item, "endTimeUnixNano" if signal == "traces" else "timeUnixNano")
                    if signal == "logs":
                        ended = ended or _number(item, "observedTimeUnixNano")
                    return Item(
                        trace_id=_text(item, "traceId").lower(),
                        span_id=_text(item, "spanId").lower(),
                        began=_number(item, "startTimeUnixNano") if signal == "traces" else ended,
                        ended=ended,
                        attributes=attributes,
                        resource=resource,
                        scope=scope,
                        incomplete=_number(item, "droppedAttributesCount") > 0,
                        event=_text(item, "eventName"),
                        tracestate=_text(item, "traceState"),
                    )

                yield read


def _field(value: Any, name: str, default: Any) -> Any:
    if not isinstance(value, dict):
        raise Malformed(f"{name!r} is looked for in what is no object")
    found = value.get(name)
    return default if found is None else found


def _listed(value: Any, name: str) -> list[Any]:
    found = _field(value, name, [])
    if not isinstance(found, list):
        raise Malformed(f"{name!r} is no array")
    return found


def _text(value: Any, name: str) -> str:
    found = _field(value, name, "")
    if not isinstance(found, str):
        raise Malformed(f"{name!r} is no string")
    return found


def _number(value: Any, name: str) -> int:
    found = _field(value, name, 0)
    # 64 bits are written as a string.
    if isinstance(found, str) and found.isascii() and found.isdecimal() and len(found) <= len(str(_LATEST)):
        found = int(found)
    if not isinstance(found, int) or not 0 <= found < _LATEST:
        raise Malformed(f"{name!r} is no whole number")
    return found


def _json_attributes(value: Any, depth: int, name: str = "attributes") -> dict[str, Any]:
    return {_text(pair, "key"): _json_value(_field(pair, "value", {}), depth + 1) for pair in _listed(value, name)}


def _json_value(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise Malformed(f"nested deeper than {_DEEPEST} levels")
    if not isinstance(value, dict):
        raise Malformed("the value of an attribute is no object")
    for kind, inner in value.items():
        match kind:
            case "kvlistValue":
                return _json_attributes(inner, depth, "values")
            case "arrayValue":
                return [_json_value(each, depth + 1) for each in _listed(inner, "values")]
            case "intValue" if isinstance(inner, str) and re.fullmatch(r"-?[0-9]{1,19}", inner):
                return int(inner)
            case "stringValue" if not isinstance(inner, str):
                raise Malformed("a stringValue is no string")
            case _:
                return inner
    return None
