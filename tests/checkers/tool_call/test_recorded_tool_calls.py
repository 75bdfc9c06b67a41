"""A real model's answers about a few tool calls, which the backend `replay` gives again.

    python -m tests.checkers.tool_call.test_recorded_tool_calls --base-url URL

asks the model again and writes test_recorded_tool_calls.jsonl, which is needed after a change of the judge's prompts
or of what it is asked about calls. The file is of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) behind llama.cpp.
"""

from pathlib import Path
from typing import Any

from checkers.checker import Models
from checkers.tool_call import PLUGIN
from models.build import build_judge
from models.settings import JudgeSettings
from schemas import ToolCall, ToolCallEvidence, Verdict
from tests.support.recorded_model import MODEL, record

RECORDING = Path(__file__).with_suffix(".jsonl")

_DOORS = "Doors: d1 house, d2 shed, d3 garage."
_TRAIN = {
    "name": "find_train",
    "parameters": {
        "properties": {
            "from": {"type": "string", "description": "Station of departure"},
            "to": {"type": "string", "description": "Station of arrival"},
            "seat": {"enum": ["first", "second"], "default": "second"},
        }
    },
}
_LOCK = {"name": "lock_door", "parameters": {"properties": {"door": {"type": "string", "description": "Id"}}}}
_ASKED = {"prompt": "I need a train from Brem to Alsted.", "tools": [_TRAIN], "name": "find_train"}
_SHED = {"prompt": "Please lock the shed.", "contexts": [_DOORS], "tools": [_LOCK], "name": "lock_door"}
_JAMMED = {"arguments": {"door": "d2"}, "result": {"error": "jammed"}}
RECORDS: dict[str, dict[str, Any]] = {
    "right": _ASKED | {"arguments": {"from": "Brem", "to": "Alsted"}},
    "with a default": _ASKED | {"arguments": {"from": "Brem", "to": "Alsted", "seat": "second"}},
    "invented": _ASKED | {"arguments": {"from": "Brem", "to": "Torvik"}},
    "told as a failure": _SHED | _JAMMED | {"response": "The door is jammed, so I could not lock it."},
    "told as a success": _SHED | _JAMMED | {"response": "The shed is locked. Good night!"},
}


async def verdicts(**judge: Any) -> dict[str, Verdict]:
    """The verdict on each record, by its name."""
    asked = build_judge(JudgeSettings.model_validate({"model": MODEL, "form": "short", "threshold": 0.0, **judge}))
    checker = PLUGIN.build(PLUGIN.settings(), Models(judge=asked, record_seconds=7200))
    known: Any = {"kind": "tool_call", "source": "agent", "model": "m"}
    try:
        return {name: await checker.check(ToolCall.model_validate(known | one)) for name, one in RECORDS.items()}
    finally:
        await asked.close()


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


if __name__ == "__main__":
    record(__doc__, RECORDING, verdicts)
