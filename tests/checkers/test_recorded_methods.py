"""The methods over what a real, small model answered in all roles, which the backend `replay` gives again.

    python -m tests.checkers.test_recorded_methods --base-url URL

asks the model again and writes test_recorded_methods.jsonl, which is needed after a change of the methods' prompts. The
file is of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) behind llama.cpp.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from checkers.checker import Models
from checkers.plugin import own_checkers
from models.build import build_judge, build_model
from models.judges.prompted import PromptedJudge
from models.settings import JudgeSettings, SubjectSettings
from schemas import ConsistencyEvidence, ToolCallEvidence, Verdict, read_record
from tests.checkers.case import evidence_of

MODEL = "qwen2.5-coder-1.5b-instruct"
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
_DESK = {
    "kind": "generation",
    "reference": "Lost property at Marren junction is kept for 40 days. Handing out costs 4 euros, for bicycles 12 "
    "euros. The desk is open from Tuesday to Saturday, 10 am to 6 pm. Keys are never sent by post.",
}
_BOTH = {"prompt": "How long, and how much?", "response": "We keep things for 40 days. Handing out is free."}
_KEPT = {"prompt": "How long do you keep things?", "response": "We keep lost property for 40 days."}
RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "yes": ("accept", _DOOR | {"sentence2": "At nine the keeper locked the north gate.", "answer": True}),
    "yes of others": ("accept", _DOOR | {"sentence2": "At nine the porter opened the north gate.", "answer": True}),
    "no": ("accept", _DOOR | {"sentence2": "Nobody locked the north gate before ten.", "answer": False}),
    "names": ("accept", {"kind": "extraction", "text": _MOVED, "entities": ["Milda Vasquez", "Tarsk", "Oberwald"]}),
    "not in the text": ("reject", {"kind": "extraction", "text": _BRIG, "entities": ["Corvina", "Brandt"]}),
    "bits": ("reject", {"kind": "labelling", "datapoint": "000001111100", "label": "0", "rubric": "bits"}),
    "right": ("accept", _TRAIN | {"arguments": {"from": "Brem", "to": "Alsted"}}),
    "with a default": ("accept", _TRAIN | {"arguments": {"from": "Brem", "to": "Alsted", "seat": "second"}}),
    "invented": ("reject", _TRAIN | {"arguments": {"from": "Brem", "to": "Torvik"}}),
    "told as a failure": ("accept", _JAMMED | {"response": "The door is jammed, so I could not lock it."}),
    "told as a success": ("reject", _JAMMED | {"response": "The shed is locked. Good night!"}),
    "kept": ("accept", _DESK | _KEPT),
    "wrong figure": (
        "accept",
        _DESK
        | {"prompt": "What does it cost to get my bicycle back?", "response": "Getting a bicycle back costs 4 euros."},
    ),
    "wrong day": (
        "reject",
        _DESK | {"prompt": "When is the desk open?", "response": "The desk is open from Monday to Friday."},
    ),
    "denied": ("reject", _DESK | {"prompt": "Can you send me my keys?", "response": "Yes, keys are sent by post."}),
    "one of two": ("accept", _DESK | _BOTH),
    "refusal": (
        "accept",
        _DESK | {"prompt": "Who found my umbrella?", "response": "The rules do not say who found it."},
    ),
}
"""With the model's own outcomes: it takes *opened* for *locked*, keeps no criterion of the bits, and is wrong about
a figure and about the second of two sentences."""
IN_A_LIST = {"kept": "accept", "one of two": "reject"}
"""The outcomes of the records that are judged in the form `list` as well."""


async def verdicts(**model: Any) -> dict[str, Verdict]:
    """The verdict on each record, by its name, in both forms; the model is that of the settings, in all roles."""
    short = await _verdicts(RECORDS, form="short", **model)
    listed = await _verdicts(IN_A_LIST, form="list", **model)
    return short | {f"{name}, in a list": verdict for name, verdict in listed.items()}


async def _verdicts(names: Iterable[str], *, form: str, **model: Any) -> dict[str, Verdict]:
    judge = build_judge(JudgeSettings.model_validate({"form": form, "threshold": 0.0, **model}))
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
        for name in names:
            fields = RECORDS[name][1]
            said = orjson.dumps({"source": "desk", "model": MODEL, "id": name, **fields})
            found[name] = await checkers[fields["kind"]].check(read_record(said, max_bytes=10_000))
    finally:
        await judge.close()
        await subject.close()
    return found


async def test_verdicts_are_those_that_the_model_gave():
    found = await verdicts(backend="replay", recording=RECORDING, model=MODEL)
    outcomes = {name: told for name, (told, _) in RECORDS.items()}
    outcomes |= {f"{name}, in a list": told for name, told in IN_A_LIST.items()}
    assert {name: one.outcome for name, one in found.items()} == outcomes
    assert "“Brandt” is not in the text" in found["not in the text"].reason
    assert "no part of “000001111101” is like “000001111100”" in found["bits"].reason
    assert all(verdict.usage.calls == 0 for verdict in found.values())
    calls = [evidence_of(ToolCallEvidence, found[name]) for name, (_, one) in RECORDS.items() if "tools" in one]
    assert [one.finding for one in calls[2].findings] == ["supported", "unsupported"]
    # Words alone, without their probabilities, would make each 0 or 1.
    generations = [one.evidence for one in found.values() if isinstance(one.evidence, ConsistencyEvidence)]
    assert len(generations) == 8
    assert all(0.001 < one.support < 0.999 for call in calls for one in call.findings)
    assert all(0.001 < one.support < 0.999 for each in generations for one in each.sentences)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True)
    address = {"backend": "openai", "base_url": parser.parse_args().base_url, "model": MODEL}
    with tempfile.TemporaryDirectory() as folder:
        exchanges = Path(folder) / "exchanges.jsonl"
        asked = verdicts(recording=exchanges, timeout_seconds=2880, concurrency=1, **address)
        for name, verdict in asyncio.run(asked).items():
            print(f"{name:<18} {verdict.outcome:<8} {verdict.reason}", flush=True)
        lines = exchanges.read_bytes().splitlines()
    RECORDING.write_bytes(b"\n".join(line for line in lines if orjson.loads(line)["type"] == "answer") + b"\n")


if __name__ == "__main__":
    main()
