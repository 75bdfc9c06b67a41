"""The laboratory is a distribution of its own; `assay equivalence` tells what of a subject's answers is proved."""

import json
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.root import cli
from tests.checkers.equivalence.setting import ALIGNED, APART, StubSubject
from tests.support.stub_endpoint import StubEndpoint


def run(tmp_path: Path, stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch, *lines: dict, options: tuple = ()):
    monkeypatch.setenv("ASSAY_SUBJECTS__MINE__BASE_URL", stub.base_url)
    monkeypatch.setenv("ASSAY_SUBJECTS__MINE__MODEL", "m")
    monkeypatch.chdir(tmp_path)
    Path("pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return CliRunner().invoke(cli, ["equivalence", "pairs.jsonl", *options])


def pair(sentences: tuple[str, str], **fields: object) -> dict[str, object]:
    return {"sentence1": sentences[0], "sentence2": sentences[1], **fields}


def test_accuracy_stands_beside_what_is_proved_and_what_stands(tmp_path, monkeypatch):
    subject = StubSubject(sentences=lambda first, second: (first, second) == ALIGNED)
    rows = [pair(ALIGNED, label=1), pair(APART, label=1), pair(APART, label=0)]
    with StubEndpoint(answer=subject) as stub:
        ran = run(tmp_path, stub, monkeypatch, *rows, options=("--json", "--out", "out.jsonl"))
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert list(found) == ["same", "different", "all"]
    assert found["same"] | {"interval": ""} == {
        "pairs": 2, "right": 0.5, "interval": "", "yes": 1, "yes decided": 1, "proved": 1,
        "no": 1, "no decided": 1, "stands": 1, "undecided": 0,
    }  # fmt: skip
    assert found["different"]["right"] == 1
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [(one["number"], one["answer"], one["outcome"]) for one in lines] == [
        (1, True, "accept"), (2, False, "accept"), (3, False, "accept"),
    ]  # fmt: skip


def test_what_cannot_be_asked_is_said_and_without_labels_there_is_no_accuracy(tmp_path, monkeypatch):
    with StubEndpoint(answer=StubSubject()) as stub:
        ran = run(tmp_path, stub, monkeypatch, pair(APART))
        assert ran.stdout.splitlines()[1].split()[:4] == ["all", "1", "-", "-"]
        wrong = run(tmp_path, stub, monkeypatch, pair(APART, label="perhaps"))
        nobody = run(tmp_path, stub, monkeypatch, pair(APART), options=("--subject", "other"))
    assert (wrong.exit_code, nobody.exit_code) == (2, 2)
    assert "pairs.jsonl:1: label: " in wrong.output
    assert "no subject has this name (subjects.other); configured are: mine" in nobody.output


ROOT = Path(__file__).parents[2]


def project(folder: str) -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))


def test_the_services_wheel_has_no_laboratory():
    assert "lab" not in project(".")["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert not [one for one in distribution("assay").entry_points if one.value.startswith("lab.")]


def test_both_are_of_one_version():
    version = project(".")["project"]["version"]
    assert project("lab")["project"]["version"] == version
    assert f"assay[judges]=={version}" in project("lab")["project"]["dependencies"]


def test_the_commands_come_with_the_laboratory():
    commands = {one.name for one in distribution("assay-lab").entry_points if one.group == "assay.commands"}
    assert commands == {"audit", "equivalence", "probes", "trust"}
