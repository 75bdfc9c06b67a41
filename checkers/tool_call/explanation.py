"""The findings about a call, for a person: a sentence in each verdict, lines about a rejected call."""

from collections.abc import Iterator

from checkers.wording import labelled
from models.wording import counted, on_a_line
from schemas import ToolCallEvidence, Verdict, nearest

_MOST_LINES = 5
_MOST_NAMES = 5


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about a rejected call: the call, and each thing that is at fault; none about any other verdict."""
    evidence = verdict.evidence
    if verdict.outcome != "reject" or not isinstance(evidence, ToolCallEvidence):
        return
    values = ", ".join(f"{one.name}={one.value}" for one in evidence.arguments)
    yield from labelled("call:   ", f"{evidence.tool}({values})")
    faults = list(_faults(evidence))
    for fault in faults[:_MOST_LINES]:
        yield from labelled("fault:  ", fault)
    if len(faults) > _MOST_LINES:
        yield f"and {len(faults) - _MOST_LINES} more"


def reason_of(evidence: ToolCallEvidence, *, accepted: bool, score: float) -> str:
    """The findings, in a sentence or two."""
    faults = list(_faults(evidence))
    if accepted:
        allowed = f" {faults[0]}, which the threshold allows." if faults else ""
        return f"The call of {evidence.tool} holds: {_held(evidence)}.{allowed}"
    if not faults:
        return f"The score {score:g} is too low, though nothing is at fault alone."
    more = f" ({counted(len(faults), 'fault')})" if len(faults) > 1 else ""
    return f"{faults[0]}{more}."


def _held(evidence: ToolCallEvidence) -> str:
    parts = []
    if evidence.tools:
        parts.append("the tool is known" if evidence.schema_untested else "its arguments fit the schema")
    number = sum(one.finding == "supported" for one in evidence.arguments)
    if number:
        parts.append(f"{number} of {counted(len(evidence.arguments), 'value')} supported by what was said")
    elif evidence.arguments:
        parts.append("no value was tested")
    if evidence.response is not None and evidence.response.finding == "told_as_failure":
        parts.append("its failure is told")
    return ", ".join(parts) or "it has no arguments"


def _faults(evidence: ToolCallEvidence) -> Iterator[str]:
    """Everything that is at fault, as sentences without a full stop."""
    if evidence.fault == "unknown_tool":
        meant = nearest(evidence.tool, evidence.tools)
        known = f"perhaps {meant!r} was meant" if meant else f"there are {', '.join(evidence.tools[:_MOST_NAMES])}"
        yield f"There is no tool {evidence.tool!r}; {known}"
    if evidence.unparsable is not None:
        yield f"The arguments of {evidence.tool} cannot be read: {evidence.unparsable}"
    for one in evidence.schema_faults:
        yield f"The arguments of {evidence.tool} do not fit its schema at {one.path}: {on_a_line(one.message)}"
    if evidence.response is not None and evidence.response.finding == "told_as_success":
        yield f"{evidence.tool} failed, and the response tells a success: {evidence.response.reason.rstrip('.')}"
    for argument in evidence.arguments:
        if argument.finding == "unsupported":
            reason = on_a_line(argument.reason.rstrip("."), 240)
            yield f"{argument.name} is “{on_a_line(argument.value)}”: {reason}"
