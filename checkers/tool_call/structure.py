"""What can be said of a call without a judge: its name, its arguments by the schema, its result as flags tell it."""

from collections.abc import Mapping

from pydantic import JsonValue

from checkers.tool_call.arguments import Argument, Unparsable, listed, parsed
from checkers.tool_call.json_schema import Untestable, is_within, schema_faults
from models.wording import on_a_line
from schemas import ArgumentFinding, ResponseFinding, SchemaFault, Tool, ToolCall, ToolCallEvidence, has_failed

_MOST_NAMES = 128
_MOST_ARGUMENTS = 50
_MOST_VALUES = 10_000
_DEEPEST = 64


def tested(record: ToolCall) -> tuple[ToolCallEvidence, list[Argument]]:
    """The findings, and the arguments in the order of their findings; none of them is graded."""
    tool = next((one for one in record.tools if one.name == record.name), None)
    base = ToolCallEvidence(
        tool=on_a_line(record.name),
        tools=tuple(on_a_line(one.name) for one in record.tools[:_MOST_NAMES]),
        fault=None if tool is not None or not record.tools else "unknown_tool",
        failed=record.failed,
        response=_told(record),
    )
    try:
        values = parsed(record.arguments)
        if not is_within(values, _DEEPEST, iter(range(_MOST_VALUES))):
            raise Unparsable(f"they have more than {_MOST_VALUES} values or {_DEEPEST} levels")
    except Unparsable as error:
        return base.model_copy(update={"fault": base.fault or "unparsable", "unparsable": str(error)}), []
    faults, untested = _by_schema(tool, values)
    arguments = list(listed(values, None if tool is None else tool.parameters))[:_MOST_ARGUMENTS]
    told_as_success = base.response is not None and base.response.finding == "told_as_success"
    found = base.fault or ("schema" if faults else "told_as_success" if told_as_success else None)
    findings = [
        ArgumentFinding(name=on_a_line(one.name), value=one.shown, finding="untested", reason="no judge was asked")
        for one in arguments
    ]
    more = {"fault": found, "schema_faults": faults, "schema_untested": untested, "arguments": tuple(findings)}
    return base.model_copy(update=more), arguments


def _by_schema(tool: Tool | None, values: Mapping[str, JsonValue]) -> tuple[tuple[SchemaFault, ...], str | None]:
    if tool is None or tool.parameters is None:
        return (), "the record has no schema for them"
    try:
        return schema_faults(values, tool.parameters)
    except Untestable as error:
        return (), str(error)


def _told(record: ToolCall) -> ResponseFinding | None:
    """How a failure is told, where the response is structured as well."""
    if not record.failed or not (record.response or "").strip():
        return None
    failure = has_failed(record.response)
    if failure is None:
        return ResponseFinding(finding="untested", reason="no judge was asked")
    finding, what = ("told_as_failure", "a failure") if failure else ("told_as_success", "a success")
    return ResponseFinding(finding=finding, reason=f"the response is structured, and says {what}")
