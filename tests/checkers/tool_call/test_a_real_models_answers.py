"""The tool_call checker over what a real, small model answered: its grades, and its mistakes."""

from schemas import ToolCallEvidence
from tests.checkers.tool_call.recorded_tool_calls import RECORDING, verdicts

OUTCOMES = {
    "right": "accept",
    "with a default": "accept",
    "invented": "reject",
    "told as a failure": "accept",
    "told as a success": "reject",
}


async def test_verdicts_are_those_that_the_model_gave():
    found = await verdicts(backend="replay", recording=RECORDING)
    assert {name: verdict.outcome for name, verdict in found.items()} == OUTCOMES
    evidence = {name: verdict.evidence for name, verdict in found.items()}
    assert all(isinstance(one, ToolCallEvidence) for one in evidence.values())
    supports = [one.support for each in evidence.values() for one in each.findings]
    # Words alone, without their probabilities, would make each 0 or 1.
    assert supports
    assert all(0.001 < support < 0.999 for support in supports)
    assert [one.finding for one in evidence["invented"].findings] == ["supported", "unsupported"]
