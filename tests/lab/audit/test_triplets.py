"""Triplets: as files hold them, and as a judge makes them: what it writes, what its gate refuses, how it fails."""

import json
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cli.common import CannotRun
from checkers.model_patience import ModelPatience
from lab.audit.triplets import TripletAttempt, TripletWriter, read_triplets, with_another_number
from models.build import build_model
from models.settings import JudgeSettings
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

ROW = {
    "id": "t-1",
    "relation": "word_swap",
    "base": "The cat sees the dog.",
    "positive": "The dog is seen by the cat.",
    "negative": "The dog sees the cat.",
}


def lines(folder: Path, *rows: object) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_the_authors_columns_and_names_are_read_as_they_are(tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != "relation"}
    path = lines(tmp_path, {**row, "mr": "obj_sub", "unrelated_negative": "It rains.", "source_rating": None})
    (triplet,) = read_triplets(path)
    assert (triplet.relation, triplet.unrelated) == ("object_substitution", "It rains.")


def test_a_fault_is_told_with_line_and_field(tmp_path: Path) -> None:
    path = lines(tmp_path, ROW, {**ROW, "relation": "synonyms"})
    reading = read_triplets(path)
    assert next(reading).id == "t-1"
    with pytest.raises(CannotRun, match=f"^{path}:2: relation: Input should be 'word_swap', "):
        next(reading)


TEXTS = ["The lift is working again.", "Rahel met Petra in Oslo on 12 March."]
ASKS = {
    "positive": "negative_expression",
    "back translation": "back_translation_error",
    "substitution": "action_substitution",
    "inference": "inference_error",
}
"""A relation that has the judge write this."""
MARKS = ("positive_holds", "negative_differs", "well_formed")


class Author:
    """Writes and judges by simple rules, and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.refuses = ""
        self.doubted = "negative_differs"

    def __call__(self, request: StubRequest) -> str:
        self.asked.append(request.texts)
        if "base" in request.texts:
            fine = not self.refuses or self.refuses not in request.texts["negative"]
            marks = dict.fromkeys(MARKS, True) | {self.doubted: fine}
            return json.dumps({"reason": "All is well." if fine else "It means the same."} | marks)
        text, wanted = request.texts["text"], wanted_by(request)
        if wanted == "inference":
            return json.dumps({"context": f"Then this: {text} So they said.", "without_evidence": "So they said."})
        if wanted == "negation":
            return json.dumps({"change": "denied", "rewording": text.replace(" is ", " is not ")})
        if wanted == "substitution":
            return json.dumps({"change": "another one", "rewording": text.replace("lift", "door").replace("is", "was")})
        if wanted == "back translation":
            return json.dumps({"change": "turned round", "rewording": f"Otherwise than: {text}"})
        return json.dumps({"rewording": f"In other words: {text}"})


def wanted_by(request: StubRequest) -> str:
    """What the judge is to write."""
    system = request.body["messages"][0]["content"]
    if "without_evidence" in system:
        return "inference"
    if "one negation" in system:
        return "negation"
    if "Replace one" in system:
        return "substitution"
    return "back translation" if '"change"' in system else "positive"


@pytest.fixture
def author():
    return Author()


@pytest.fixture
def stub(author):
    with StubEndpoint(answer=author) as stub:
        yield stub


async def attempts(stub, texts, relations) -> list[TripletAttempt]:
    judge = build_model(JudgeSettings(backend="openai", base_url=stub.base_url, model="writer"))
    found: list[TripletAttempt] = []
    try:
        await TripletWriter(judge).attempt_all(texts, relations, found.append, ModelPatience(lambda _: None, 30))
    finally:
        await judge.close()
    return found


async def test_a_triplet_for_every_text_and_relation_that_can_be_made(stub, author):
    found = await attempts(stub, TEXTS, ["negative_expression", "quantifier_substitution"])
    assert [(one.relation, one.missing) for one in found] == [
        ("negative_expression", ""),
        ("quantifier_substitution", "have no number"),
        ("negative_expression", "had no usable answer from the judge"),
        ("quantifier_substitution", ""),
    ]
    first = found[0].triplet
    assert (first.base, first.positive) == (TEXTS[0], f"In other words: {TEXTS[0]}")
    assert first.negative == "The lift is not working again."
    assert first.id.startswith("negative_expression-")
    assert found[3].triplet.id != first.id


async def test_what_the_gate_refuses_is_dropped(stub, author):
    for author.doubted in MARKS:
        author.refuses = "not working"
        (found,) = await attempts(stub, TEXTS[:1], ["negative_expression"])
        assert (found.triplet, found.missing) == (None, "gave a triplet that the judge found bad")


@pytest.mark.parametrize(
    ("wanted", "reply"),
    [
        ("back translation", "no json at all"),
        ("positive", {"rewording": TEXTS[0].replace(" ", "  ")}),
        ("substitution", {"change": "x", "rewording": f"{TEXTS[0]} And much more than a word."}),
        ("inference", {"context": f"So they say. {TEXTS[0]}", "without_evidence": TEXTS[0]}),
        ("inference", {"context": "The lift runs.", "without_evidence": "The door runs."}),
    ],
)
async def test_an_answer_that_cannot_be_used_costs_its_triplet_alone(author, wanted, reply):
    texts = [TEXTS[0], "The lift is locked again."]

    def answer(request: StubRequest) -> str:
        if request.texts.get("text") != texts[0] or wanted_by(request) != wanted:
            return author(request)
        return reply if isinstance(reply, str) else json.dumps(reply)

    with StubEndpoint(answer=answer) as other:
        found = await attempts(other, texts, [ASKS[wanted]])
    assert [one.missing for one in found] == ["had no usable answer from the judge", ""]
    assert found[0].failure


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("It costs $20.50 a litre.", r"It costs \$\d+\.\d\d a litre\."),
        ("They sold 1,204,000 lamps.", r"They sold [\d,]+ lamps\."),
        ("It has 0 errors.", r"It has [1-9]\d* errors\."),
    ],
)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_a_number_becomes_another_one_written_alike(text, pattern, seed):
    other = with_another_number(text, Random(seed))
    assert other != text
    assert re.fullmatch(pattern, other)


def test_what_is_no_number_is_left_alone():
    for text in ("Yes.", "", "It came 3rd.", "In the 1870s.", "Bolts of type B12.", "1914-1918.", "9" * 400):
        assert with_another_number(text, Random(0)) is None
