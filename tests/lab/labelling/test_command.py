"""`assay trust` as users run it: figures, files of many forms, broken-off runs, wrong use."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkers.model_patience import ModelPatience
from tests.assay.running import ROOT, assay, environment
from tests.checkers.labelling.players import StubLabeller, bit_strings
from tests.lab.interrupted import torn
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until

RUBRICS = ROOT / "examples" / "rubrics"
IN = RUBRICS / "in-phenomenon.yaml"


def strings(count: int) -> list[str]:
    return [x for x, _ in zip(bit_strings(), range(count), strict=False)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Forty strings with their labels."""
    labelled = StubLabeller()
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"x": x, "y": labelled.label(x)}) + "\n" for x in strings(40)))
    return path


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=StubLabeller()) as endpoint:
        yield endpoint


def with_subject(stub: StubEndpoint, name: str = "LABELLER") -> dict[str, str]:
    return {f"ASSAY_SUBJECTS__{name}__BASE_URL": stub.base_url, f"ASSAY_SUBJECTS__{name}__MODEL": "m"}


def trust(*arguments: object, cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return assay("trust", *map(str, arguments), cwd=cwd, **variables)


def figures(ran: "subprocess.CompletedProcess[str]") -> dict:
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_model_is_asked_and_the_figures_are_a_table(tmp_path, corpus, stub):
    ran = trust(corpus, "--rubric", IN, "--evaluator", "labeller", cwd=tmp_path, **with_subject(stub))
    assert ran.returncode == 0, ran.stderr
    lines = {tuple(line.split()) for line in ran.stdout.splitlines()}
    assert {("successes", "40"), ("success_rate", "1.000"), ("success_interval", "0.912", "to", "1.000")} <= lines
    assert {("accuracy", "1.000"), ("f1", "1.000"), ("error_bound", "0.125")} <= lines
    assert ran.stderr == ""


def test_the_labels_and_why_go_to_a_file(tmp_path, corpus, stub):
    out = tmp_path / "out.jsonl"
    figures(trust(corpus, "--rubric", IN, "--out", out, "--json", cwd=tmp_path, **with_subject(stub)))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(1, 41))
    assert all(line["succeeded"] and line["label"] == line["y"] for line in lines)
    assert len(lines[0]["runs"][0]["rounds"]) == 3
    assert not list(tmp_path.glob("out.jsonl.*"))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('{"text": "0101", "gold": 0}\n', ("--x", "text", "--y", "gold")),
        ('\ufeff{"String": "0101"}\r\n\r\n', ("--x", "String")),
        (
            '{"kind": "labelling", "source": "s", "model": "labeller", "datapoint": "0101", "rubric": "r", "label": 1}',
            (),
        ),
    ],
)
def test_datapoints_in_many_forms(tmp_path, stub, text, options):
    file = tmp_path / "file"
    file.write_text(text, encoding="utf-8")
    found = figures(trust(file, "--rubric", IN, "--json", *options, cwd=tmp_path, **with_subject(stub)))
    assert found["successes"] == found["datapoints"] > 0


def test_a_label_that_the_rubric_does_not_know_is_abstained_on_and_not_counted_as_wrong(tmp_path, stub):
    labels = StubLabeller()
    file = tmp_path / "in.jsonl"
    known = [{"x": x, "y": labels.label(x)} for x in strings(4)]
    file.write_text("".join(json.dumps(one) + "\n" for one in [*known, {"x": "0101", "y": "banana"}]))
    ran = trust(file, "--rubric", IN, "--out", "out.jsonl", cwd=tmp_path, **with_subject(stub))
    assert re.search(r"^compared_with_y +4\naccuracy +1.000\n", ran.stdout, flags=re.MULTILINE)
    detail = "the rubric 'in-phenomenon' does not know the label 'banana'; allowed are 1, 0"
    assert re.search(rf"^why, unknown_label +{re.escape(detail)}\n", ran.stdout, flags=re.MULTILINE)
    last = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[-1])
    assert (last["cause"], last["detail"], last["label"]) == ("unknown_label", detail, None)


def test_the_same_seed_gives_the_same_results(tmp_path, corpus, stub):
    turning = StubLabeller()
    # What is like x as a whole, and not in its parts: what is drawn decides if it is caught.
    turning.generates = lambda x, asked: x[::-1] if not asked else x[asked:] + x[:asked]
    stub.answer = turning

    def run(seed: int) -> str:
        out = tmp_path / f"out-{seed}"
        options = ("--phi", "0.5", "--seed", seed, "--out", out)
        assert trust(corpus, "--rubric", IN, *options, cwd=tmp_path, **with_subject(stub)).returncode == 0
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        return json.dumps([{**line, "usage": None} for line in lines])

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path, stub):
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps({"x": x}) + "\n" for x in strings(120)))
    stub.delay = 0.05
    arguments = ("trust", file, "--rubric", IN, "--out", out, "--json")
    variables = {**with_subject(stub), "ASSAY_SUBJECTS__LABELLER__CONCURRENCY": "16"}
    with subprocess.Popen(
        [sys.executable, "-m", "assay", *map(str, arguments)],
        cwd=tmp_path,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until(lambda: len(stub.requests) >= 100)
        process.kill()
    assert not out.exists()
    torn(tmp_path)
    asked = len(stub.requests)
    stub.delay = 0

    ran = assay(*arguments, cwd=tmp_path, **variables)
    assert int(re.search(r"going on with (\d+) answers", ran.stderr)[1]) >= asked - 32
    found = figures(ran)
    assert found["successes"] == 120
    # Cost counts whatever the process that paid it.
    assert found["usage"]["calls"] == 480
    assert len(stub.requests) <= 480 + 32
    assert [json.loads(line)["number"] for line in out.read_text().splitlines()] == list(range(1, 121))
    assert not list(tmp_path.glob("out.jsonl.*"))


WRONG = [
    (('{"x": "01"}',), ("--rubric", "missing.yaml"), "rubric 'missing.yaml': no such file, nor a name"),
    (('{"a": 1}', "nonsense", "7"), ("--rubric", IN), "in.jsonl:1: there is no field 'x'; it has 'a' (see --x)"),
    (('{"x": 1, "y": [2]}',), ("--rubric", IN), "in.jsonl:1: 'y' is list; a label is a whole number"),
    (("", ""), ("--rubric", IN), "holds no datapoint"),
    (('{"x": NaN}',), ("--rubric", IN), "not JSON: unexpected character"),
    (('{"x": "\\ud800"}',), ("--rubric", IN), "not JSON: no low surrogate"),
    (('{"x": "01"}',), ("--rubric", IN), "--evaluator is needed: the file names no model"),
    (('{"x": "01"}',), ("--rubric", IN, "--evaluator", "nobody"), "there is no such subject; configured are: none"),
    (('{"x": "01"}',), ("--rubric", RUBRICS / "west-frisian.yaml"), "which the local judge cannot answer"),
    (('{"x": "01"}',), ("--rubric", IN, "--rubric", IN), "the label 1 has two meanings"),
    (('{"x": "01"}',), ("--rubric", IN, "--phi", "2"), "2.0 is not in the range 0<=x<=1"),
]


@pytest.mark.parametrize(("lines", "options", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_wrong_use_is_told_before_anything_is_asked(tmp_path, lines, options, said):
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    ran = trust("in.jsonl", *options, "--out", "out.jsonl", cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stdout == ""
    assert not list(tmp_path.glob("out.jsonl*"))


def test_a_model_can_pick_among_the_other_datapoints_of_the_file(tmp_path, corpus, stub):
    picking = {"ASSAY_LABELLING__STRATEGY": "pick"}
    found = figures(trust(corpus, "--rubric", IN, "--json", cwd=tmp_path, **picking, **with_subject(stub)))
    # Some of the forty have no like among them.
    assert found["successes"] == found["decided"] > 20
    assert found["abstained"] == {"no_candidate": 40 - found["decided"]}


def test_a_model_that_is_away_ends_the_run_and_keeps_what_is_done(tmp_path, stub, monkeypatch):
    stub.down()
    monkeypatch.setattr(ModelPatience.__init__, "__defaults__", (1.0,))
    (tmp_path / "in.jsonl").write_text('{"x": "0101"}\n')
    ran = trust("in.jsonl", "--rubric", IN, "--out", "out.jsonl", cwd=tmp_path, **with_subject(stub))
    assert ran.returncode == 3
    assert "could not be reached for 1 s" in ran.stderr
    assert "the same command continues" in ran.stderr
