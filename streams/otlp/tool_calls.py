"""Calls of tools in the messages of a model's call: those that it makes, and those that failed before it answered."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from schemas import Tool, ToolCall, has_failed
from streams.otlp.messages import Call, Message, NotTaken, Result, structured, unflattened

_MOST_CALLS = 64
"""Of one span: more are an attack, or a loop."""

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""OpenAI's name, Anthropic's and MCP's."""


def tools_of(attributes: Mapping[str, Any], names: Sequence[str]) -> list[Tool]:
    """The tools under the first of `names` that has any; those that are described in no known form are left out."""
    for name in names:
        value = attributes.get(name)
        try:
            found = structured(value) if value is not None else unflattened(attributes, name)
        except NotTaken:
            return []
        if isinstance(found, list) and found:
            return [tool for each in found if (tool := _tool(each))]
    return []


def _tool(value: Any) -> Tool | None:
    try:
        # OpenInference has the whole definition as JSON, OpenAI's API one level down.
        for name in ("tool", "json_schema", "function"):
            inner = value[name] if isinstance(value, dict) and name in value else value
            value = structured(inner)
        schema = structured(next((value[name] for name in _SCHEMAS if name in value), None))
        parameters = schema if isinstance(schema, dict) else None
        return Tool(name=value["name"], description=value.get("description"), parameters=parameters)
    except (AttributeError, KeyError, NotTaken, TypeError, ValidationError):
        return None


def call_records(calls: Sequence[Call], common: Mapping[str, Any], id_: str) -> list[ToolCall]:
    """A record for each call that a model makes; its result is not known yet."""
    return [
        ToolCall(**common, id=f"{id_}-call-{number}", kind="tool_call", name=call.name, arguments=call.arguments)
        for number, call in enumerate(calls[:_MOST_CALLS], start=1)
    ]


def failure_records(
    said: Sequence[Message], response: str, failed: Collection[str], common: Mapping[str, Any], id_: str
) -> list[ToolCall]:
    """A record for each call in `said` that failed and was not repeated with success, with what was told of it.

    `failed` are the ids of calls whose spans ended in an error.
    """
    calls = [call for message in said for call in message.calls][:_MOST_CALLS]
    results = [result for message in said for result in message.results]
    by_id = {result.id: result for result in results if result.id}
    # Without ids, results come in the order of the calls.
    in_order = iter(results if not by_id else ())
    pairs = [(call, by_id.get(call.id) or next(in_order, None)) for call in calls]
    open_: dict[str, tuple[Call, Result]] = {}
    for call, result in pairs:
        if result is None:
            continue
        told = has_failed(result.value) if result.failed is None else result.failed
        if told or (call.id and call.id in failed):
            open_[call.name] = (call, result)
        else:
            open_.pop(call.name, None)
    return [
        ToolCall(
            **common,
            id=f"{id_}-failed-{number}",
            kind="tool_call",
            name=call.name,
            arguments=call.arguments,
            result=result.value,
            is_error=True,
            response=response,
        )
        for number, (call, result) in enumerate(open_.values(), start=1)
    ]
