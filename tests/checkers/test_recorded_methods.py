"""A real model's answers to the methods that ask a subject and a writer, which the backend `replay` gives again.

    python -m tests.checkers.test_recorded_methods --base-url URL

asks the model again and writes test_recorded_methods.jsonl, which is needed after a change of the methods' prompts.
The file is of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) behind llama.cpp.
"""

from pathlib import Path
from typing import Any

from checkers.checker import Checker, Models
from checkers.equivalence.checker import EquivalenceChecker, EquivalenceSettings
from checkers.extraction.checker import ExtractionChecker, ExtractionSettings
from checkers.labelling.checker import LabellingChecker, LabellingSettings
from models.build import build_judge, build_model
from models.judges.prompted import PromptedJudge
from models.settings import JudgeSettings, SubjectSettings
from schemas import Extraction, Labelling, Paraphrase, Verdict
from schemas.records import Envelope
from tests.support.recorded_model import MODEL, record

RECORDING = Path(__file__).with_suffix(".jsonl")
_RUBRICS = Path(__file__).parents[2] / "examples" / "rubrics"

_DOOR = "The keeper locked the north gate at nine."
_MOVED = "Milda Vasquez moved from Tarsk to Oberwald in 1987."
RECORDS: dict[str, Envelope] = {
    name: form.model_validate({"kind": kind, "source": "desk", "model": MODEL, "id": name, **fields})
    for name, form, kind, fields in (
        ("yes", Paraphrase, "paraphrase",
         {"sentence1": _DOOR, "sentence2": "At nine the keeper locked the north gate.", "answer": True}),
        ("yes of others", Paraphrase, "paraphrase",
         {"sentence1": _DOOR, "sentence2": "At nine the porter opened the north gate.", "answer": True}),
        ("no", Paraphrase, "paraphrase",
         {"sentence1": _DOOR, "sentence2": "Nobody locked the north gate before ten.", "answer": False}),
        ("names", Extraction, "extraction",
         {"text": _MOVED, "entities": ["Milda Vasquez", "Tarsk", "Oberwald"]}),
        ("not in the text", Extraction, "extraction",
         {"text": "The brig Corvina belongs to Haldane Shipping.", "entities": ["Corvina", "Brandt"]}),
        ("bits", Labelling, "labelling",
         {"datapoint": "000001111100", "label": "0", "rubric": "bits"}),
    )
}  # fmt: skip


async def verdicts(**model: Any) -> dict[str, Verdict]:
    """The verdict on each record, by its name; the model is that of the settings, in all roles."""
    judge = build_judge(JudgeSettings.model_validate({"form": "short", "threshold": 0.0, **model}))
    subject = build_model(SubjectSettings.model_validate(model))
    writer = judge.model if isinstance(judge, PromptedJudge) else None
    models = Models(judge=judge, writer=writer, subjects={MODEL: subject}, record_seconds=3600)
    checkers: dict[str, Checker[Any]] = {
        "paraphrase": EquivalenceChecker(EquivalenceSettings(), models),
        "extraction": ExtractionChecker(ExtractionSettings(), models),
        "labelling": LabellingChecker(LabellingSettings(rubrics={"bits": _RUBRICS / "in-phenomenon.yaml"}), models),
    }
    try:
        return {name: await checkers[record.kind].check(record) for name, record in RECORDS.items()}
    finally:
        await judge.close()
        await subject.close()


OUTCOMES = {
    "yes": "accept",
    "yes of others": "accept",
    "no": "reject",
    "names": "accept",
    "not in the text": "reject",
    "bits": "reject",
}
"""The model's own: it takes *opened* for *locked*, contradicts its no, and copies the datapoint."""


async def test_verdicts_are_those_that_the_model_gave():
    found = await verdicts(backend="replay", recording=RECORDING, model=MODEL)
    assert {name: verdict.outcome for name, verdict in found.items()} == OUTCOMES
    assert "“Brandt” is not in the text" in found["not in the text"].reason
    assert "is the given one" in found["bits"].reason
    assert all(verdict.usage.calls == 0 for verdict in found.values())


if __name__ == "__main__":
    record(__doc__, RECORDING, verdicts)
