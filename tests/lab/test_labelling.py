"""`assay trust`: as users run it, and in this process: pace, order, models that are away, what is added up."""

import asyncio
import json
import math
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checkers.draws import seed_of
from checkers.labelling.protocol import Verifier, play
from lab.labelling import DatapointResult, is_flipped, report
from tests.assay.running import ROOT, assay
from tests.checkers.labelling.players import IN_PHENOMENON, StubLabeller, bit_strings, honest, proposing
from tests.lab.interrupted import figures, resumed, subject
from tests.support.stub_endpoint import StubEndpoint

RUBRICS = ROOT / "examples" / "rubrics"
IN = RUBRICS / "in-phenomenon.yaml"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Forty strings with their labels."""
    labelled = StubLabeller()
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"x": x, "y": labelled.label(x)}) + "\n" for x in bit_strings()[:40]))
    return path


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=StubLabeller()) as endpoint:
        yield endpoint


def trust(*arguments: object, cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return assay("trust", *map(str, arguments), cwd=cwd, **variables)


def test_a_model_is_asked_and_the_figures_are_a_table(tmp_path, corpus, stub):
    ran = trust(corpus, "--rubric", IN, "--evaluator", "acme", cwd=tmp_path, **subject(stub))
    assert ran.returncode == 0, ran.stderr
    lines = {tuple(line.split()) for line in ran.stdout.splitlines()}
    assert {("successes", "40"), ("success_rate", "1.000"), ("success_interval", "0.912", "to", "1.000")} <= lines
    assert {("accuracy", "1.000"), ("f1", "1.000"), ("error_bound", "0.125")} <= lines
    assert ran.stderr == ""


def test_datapoints_have_fields_of_any_name(tmp_path, stub):
    file = tmp_path / "file"
    file.write_text('\ufeff{"text": "0101", "gold": 0}\r\n\r\n', encoding="utf-8")
    options = ("--rubric", IN, "--json", "--x", "text", "--y", "gold")
    found = figures(trust(file, *options, cwd=tmp_path, **subject(stub)))
    assert found["successes"] == found["datapoints"] == 1


def test_a_label_that_the_rubric_does_not_know_is_abstained_on_and_not_counted_as_wrong(tmp_path, stub):
    labels = StubLabeller()
    file = tmp_path / "in.jsonl"
    known = [{"x": x, "y": labels.label(x)} for x in bit_strings()[:4]]
    file.write_text("".join(json.dumps(one) + "\n" for one in [*known, {"x": "0101", "y": "banana"}]))
    ran = trust(file, "--rubric", IN, "--out", "out.jsonl", cwd=tmp_path, **subject(stub))
    assert re.search(r"^compared_with_y +4\naccuracy +1.000\n", ran.stdout, flags=re.MULTILINE)
    detail = "the rubric 'in-phenomenon' does not know the label 'banana'; allowed are 1, 0"
    assert re.search(rf"^why, unknown_label +{re.escape(detail)}\n", ran.stdout, flags=re.MULTILINE)
    last = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[-1])
    assert (last["cause"], last["detail"], last["label"]) == ("unknown_label", detail, None)


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path, stub):
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"x": x}) + "\n" for x in bit_strings()[:60]))
    variables = subject(stub) | {"ASSAY_SUBJECTS__ACME__CONCURRENCY": "16"}
    found = resumed(["trust", "in.jsonl", "--rubric", str(IN)], stub, 240, tmp_path, **variables)
    assert found["successes"] == 60
    # Cost counts whatever the process that paid it.
    assert found["usage"]["calls"] == 240


WRONG = [
    (('{"x": "01"}',), ("--rubric", "missing.yaml"), "rubric 'missing.yaml': no such file, nor a name"),
    (('{"a": 1}', "7"), ("--rubric", IN), "in.jsonl:1: x: Field required; expected datapoint (see --x and --y)"),
    (('{"x": "01"}',), ("--rubric", IN, "--evaluator", "nobody"), "no subject has this name (subjects.nobody)"),
    (('{"x": "01"}',), ("--rubric", RUBRICS / "west-frisian.yaml"), "which the local judge cannot answer"),
    (('{"x": "01"}',), ("--rubric", IN, "--rubric", IN), "the label 1 has two meanings"),
]


@pytest.mark.parametrize(("lines", "options", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_wrong_use_is_told_before_anything_is_asked(tmp_path, lines, options, said):
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    ran = trust("in.jsonl", *options, "--out", "out.jsonl", cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stdout == ""
    assert not list(tmp_path.glob("out.jsonl*"))


def result(number: int, **fields) -> DatapointResult:
    given = {"number": number, "x": "t", "y": None, "seed": "s", "label": 1, "succeeded": True}
    return DatapointResult.model_validate({**given, **fields})


def test_the_figures():
    results = [
        result(1, y=1, unfounded=True),
        result(2, y=1, label=0, succeeded=False),
        result(3, y=0, label=1, succeeded=False, flipped=True),
        result(4, y="0", label=0),
        result(5, label=None, succeeded=None, cause="subject_unusable", detail="no"),
    ]
    told = report(results, (1, 0), rounds=3, phi=0.5)
    found = told.figures
    assert (found["datapoints"], found["decided"], found["successes"], found["flips"]) == (5, 4, 2, 1)
    assert found["abstained"] == {"subject_unusable": 1}
    assert found["success_rate"] == 0.5
    assert found["labels"] == {"1": 2, "0": 2}
    assert (found["accuracy"], found["f1"]) == (0.5, 0.5)
    assert (found["error_bound"], found["paper_error_bound"]) == (0.125, 0.015625)
    lines = {tuple(line.split()) for line in told.lines}
    assert {("successes", "2"), ("success_interval", "0.150", "to", "0.850"), ("unfounded", "1")} <= lines
    assert found["unfounded"] == 1


def test_only_lost_games_are_flipped_and_as_often_as_phi_says():
    verifier = Verifier(IN_PHENOMENON)
    lost = asyncio.run(play("0" * 12, proposing(lambda x, _: x), verifier, seed="1"))
    won = asyncio.run(play("0" * 12, honest(verifier), verifier, seed="1"))
    assert not is_flipped(won, 1)
    flipped = sum(is_flipped(replace(lost, seed=seed_of(number)), 0.3) for number in range(4000))
    assert abs(flipped - 1200) < 4 * math.sqrt(4000 * 0.3 * 0.7)


def of(*faults: str | None, holds: tuple[int, ...] | None = (1, 0, 1), **fields: Any) -> list[DatapointResult]:
    """A result for each fault with which its last round ended; None for a datapoint that passed."""
    made = []
    for number, fault in enumerate(faults, start=1):
        last = {"number": 1, "similar": "1", "label": 1, "commitment": "", "challenge": "isomorphism"}
        bits = {"encoding": (1,), "similar_encoding": (1,), "unmatched": None}
        ended = last | bits | {"passed": fault is None, "fault": fault}
        names = {"criteria": ("a",), "total_criteria": ("a",), "labels": (0, 1)}
        run = {"rubric": "r", "rubric_version": "v", "rounds": [ended], "succeeded": fault is None, "holds": holds}
        made.append(result(number, succeeded=fault is None, runs=[run | names], **fields))
    return made


UNTESTED = "without reasons labels are not tested: x' alone decides, and a guesser may keep the criteria"
UNTOLD = "could not be tested, as its answers are not of the form"
UNREAD = {"label": None, "succeeded": None, "cause": "subject_unusable", "detail": "no"}


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (of(*["echo"] * 8, "other_encoding", *["unmatched_part"] * 3),
         "not trusted: 0 of 12, 8 copies of x, 3 with a part unlike any of x, 1 with other criteria than x"),
        (of(*[None] * 20, unfounded=True), "not trusted: 0 of 20, 20 passed for wrong reasons"),
        (of(*[None] * 9, holds=None), f"trusted: 9 of 9; {UNTESTED}"),
        ([result(1, **UNREAD)], f"cannot follow the form, which says nothing of its trust; 1 of 1 {UNTOLD}"),
        ([*of(*[None] * 9), result(10, **UNREAD)], f"trusted: 9 of 9; 1 of 10 {UNTOLD}"),
    ],
)  # fmt: skip
def test_the_verdict_says_what_the_figures_come_to(results: list[DatapointResult], said: str) -> None:
    told = report(results, (1, 0), rounds=3, phi=0)
    assert told.figures["verdict"] == said
    assert told.lines[-1] == said
