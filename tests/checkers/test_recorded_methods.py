"""The methods over what a real, small model answered in all roles, which the backend `replay` gives again.

    python -m tests.checkers.test_recorded_methods --base-url URL

asks the model again and writes test_recorded_methods.jsonl, which is needed after a change of the methods' prompts. The
file is of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) behind llama.cpp.
"""

from pathlib import Path
from typing import Any

import orjson

from checkers.checker import Models
from checkers.plugin import own_checkers
from models.build import build_judge, build_model
from models.judges.prompted import PromptedJudge
from models.settings import JudgeSettings, SubjectSettings
from schemas import ToolCallEvidence, Verdict, read_record
from tests.checkers.case import evidence_of
from tests.support.recorded_model import MODEL, record

RECORDING = Path(__file__).with_suffix(".jsonl")
SETTINGS = {
    "labelling": {"rubrics": {"bits": Path(__file__).parents[2] / "examples" / "rubrics" / "in-phenomenon.yaml"}}
}

_DOOR = {"kind": "paraphrase", "sentence1": "The keeper locked the north gate at nine."}
_MOVED = "Milda Vasquez moved from Tarsk to Oberwald in 1987."
_BRIG = "The brig Corvina belongs to Haldane Shipping."
_STATIONS = {
    "from": {"type": "string", "description": "Station of departure"},
    "to": {"type": "string", "description": "Station of arrival"},
    "seat": {"enum": ["first", "second"], "default": "second"},
}
_TRAIN = {
    "kind": "tool_call",
    "prompt": "I need a train from Brem to Alsted.",
    "tools": [{"name": "find_train", "parameters": {"properties": _STATIONS}}],
    "name": "find_train",
}
_DOORS = {"properties": {"door": {"type": "string", "description": "Id"}}}
_JAMMED = {
    "kind": "tool_call",
    "prompt": "Please lock the shed.",
    "contexts": ["Doors: d1 house, d2 shed, d3 garage."],
    "tools": [{"name": "lock_door", "parameters": _DOORS}],
    "name": "lock_door",
    "arguments": {"door": "d2"},
    "result": {"error": "jammed"},
}
RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "yes": ("accept", _DOOR | {"sentence2": "At nine the keeper locked the north gate.", "answer": True}),
    "yes of others": ("accept", _DOOR | {"sentence2": "At nine the porter opened the north gate.", "answer": True}),
    "no": ("reject", _DOOR | {"sentence2": "Nobody locked the north gate before ten.", "answer": False}),
    "names": ("accept", {"kind": "extraction", "text": _MOVED, "entities": ["Milda Vasquez", "Tarsk", "Oberwald"]}),
    "not in the text": ("reject", {"kind": "extraction", "text": _BRIG, "entities": ["Corvina", "Brandt"]}),
    "bits": ("reject", {"kind": "labelling", "datapoint": "000001111100", "label": "0", "rubric": "bits"}),
    "right": ("accept", _TRAIN | {"arguments": {"from": "Brem", "to": "Alsted"}}),
    "with a default": ("accept", _TRAIN | {"arguments": {"from": "Brem", "to": "Alsted", "seat": "second"}}),
    "invented": ("reject", _TRAIN | {"arguments": {"from": "Brem", "to": "Torvik"}}),
    "told as a failure": ("accept", _JAMMED | {"response": "The door is jammed, so I could not lock it."}),
    "told as a success": ("reject", _JAMMED | {"response": "The shed is locked. Good night!"}),
}
"""With the model's own outcomes: it takes *opened* for *locked*, contradicts its no, and copies the datapoint."""


async def verdicts(**model: Any) -> dict[str, Verdict]:
    """The verdict on each record, by its name; the model is that of the settings, in all roles."""
    judge = build_judge(JudgeSettings.model_validate({"form": "short", "threshold": 0.0, **model}))
    subject = build_model(SubjectSettings.model_validate(model))
    writer = judge.model if isinstance(judge, PromptedJudge) else None
    models = Models(judge=judge, writer=writer, subjects={MODEL: subject}, record_seconds=3600)
    checkers = {
        kind: plugin.build(plugin.settings.model_validate(SETTINGS.get(plugin.name, {})), models)
        for plugin in own_checkers()
        for kind in plugin.kinds
        if not plugin.many
    }
    found = {}
    try:
        for name, (_, fields) in RECORDS.items():
            said = orjson.dumps({"source": "desk", "model": MODEL, "id": name, **fields})
            found[name] = await checkers[fields["kind"]].check(read_record(said, max_bytes=10_000))
    finally:
        await judge.close()
        await subject.close()
    return found


async def test_verdicts_are_those_that_the_model_gave():
    found = await verdicts(backend="replay", recording=RECORDING, model=MODEL)
    assert {name: one.outcome for name, one in found.items()} == {name: told for name, (told, _) in RECORDS.items()}
    assert "“Brandt” is not in the text" in found["not in the text"].reason
    assert "is the given one" in found["bits"].reason
    assert all(verdict.usage.calls == 0 for verdict in found.values())
    calls = [evidence_of(ToolCallEvidence, found[name]) for name, (_, one) in RECORDS.items() if "tools" in one]
    assert [one.finding for one in calls[2].findings] == ["supported", "unsupported"]
    # Words alone, without their probabilities, would make each 0 or 1.
    assert all(0.001 < one.support < 0.999 for call in calls for one in call.findings)


if __name__ == "__main__":
    record(__doc__, RECORDING, verdicts)
