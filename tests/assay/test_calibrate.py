"""`assay calibrate`: from labelled records to thresholds that a configuration takes."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assay.running import assay
from tests.support.stub_answers import judge_answer
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

REFERENCE = "The board approved the budget on Monday."


def _support(request: StubRequest, place: int = 0) -> float:
    """As sure as a response says that it is; a control sentence is false."""
    if request.kind != "supported":
        return 1.0
    if "Sentence of the answer" in request.quotes:
        # The answers have one sentence: this is a control.
        return 0.0
    (said,) = request.sentences
    return float(said.split()[-1].rstrip(".")) if said.startswith("Report") else 0.0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a configuration whose judge tells probabilities."""
    with StubEndpoint(answer=_answer) as stub:
        stub.probability = _support
        (tmp_path / "assay.toml").write_text(
            f'[judge]\nbackend = "openai"\nbase_url = "{stub.base_url}"\nmodel = "judge"\n'
        )
        yield tmp_path


def _answer(request: StubRequest) -> str:
    if request.kind == "supported":
        return "yes" if _support(request) >= 0.5 else "no"
    return judge_answer(request)


def record(number: int, support: float, label: str | None = None, **fields: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"id": f"r-{number}", "kind": "generation", "source": "s", "model": "m"}
    given |= {"reference": REFERENCE, "response": f"Report {number} is sure to {support:g}", **fields}
    return given if label is None else given | {"label": label}


def write(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "labelled.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def graded(count: int) -> list[dict[str, Any]]:
    """Half are good: people agree with the surest scores, and are of two minds in between."""
    said = [(0.9, "accept"), (0.5, "accept"), (0.1, "reject"), (0.5, "reject"), (0.8, "accept"), (0.2, "reject")]
    return [record(number, *said[number % 6]) for number in range(count)]


def test_it_begins_with_how_far_judge_and_people_agree(folder: Path):
    records = [record(number, 0.9, "accept", task="summary") for number in range(20)]
    records += [record(number, 0.1, "reject", task="summary") for number in range(20, 30)]
    records += [record(number, 0.9, "reject" if number % 2 else "accept", task="answer") for number in range(30, 40)]
    ran = assay("calibrate", write(folder, *records), cwd=folder)
    first = ran.stdout.splitlines()[0]
    assert first.startswith("consistency, judged by openai/judge: agrees with your people on 35 of 40 (kappa 0.7")
    told = json.loads(assay("calibrate", "labelled.jsonl", "--json", cwd=folder).stdout)["agreement"]
    assert (told["agreed"], told["of"]) == (35, 40)
    assert told["kappa"]["low"] < 0.71 < told["kappa"]["high"]


def test_the_section_that_is_printed_is_one_that_decides_as_the_table_says(folder: Path):
    records = graded(120)
    ran = assay("calibrate", write(folder, *records), "--error", "0.1", "--confidence", "0.9", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    table, section = ran.stdout.split("\n[")
    assert "120 labelled records" in table
    thresholds = tomllib.loads("[" + section)["consistency"]["thresholds"]
    assert thresholds["judge"] == "openai/judge"
    assert 0.2 < thresholds["reject_below"] <= 0.5 < thresholds["accept_from"] <= 0.8
    rows = {line.split("  ")[0]: line.split() for line in table.splitlines() if "  " in line}
    assert rows["accept from"][-3:] == ["40", "0", "0.0%"]
    assert rows["undecided"] == ["undecided", "40"]

    with (folder / "assay.toml").open("a") as file:
        file.write("\n[" + section)
    checked = assay("check", "labelled.jsonl", "--checker", "consistency", "--out", "verdicts", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    verdicts = [json.loads(line) for line in (folder / "verdicts").read_text().splitlines()]
    expected = ["accept", "abstain", "reject", "abstain", "accept", "reject"] * 20
    assert [verdict["outcome"] for verdict in verdicts] == expected
    assert {verdict["evidence"].get("cause") for verdict in verdicts} == {None, "between_thresholds"}


def test_a_promise_that_cannot_be_kept_is_refused_with_what_could_be_promised(folder: Path):
    path = write(folder, *graded(100))
    ran = assay("calibrate", path, "--error", "0.02", cwd=folder)
    assert ran.returncode == 3
    assert "an error of 0.02 with confidence 0.95 cannot be promised" in ran.stderr
    assert "No threshold to accept keeps an error of 0.02: these labels could promise 0." in ran.stdout
    assert "labels would keep 0.02" in ran.stdout
    assert "[consistency" not in ran.stdout
    assert json.loads(assay("calibrate", path, "--error", "0.02", "--json", cwd=folder).stdout)["kept"] is False


@pytest.mark.parametrize(
    ("lines", "arguments", "told"),
    [
        ([record(1, 0.9, "good")], (), "line 1: label is 'good'; allowed are accept and reject"),
        ([record(1, 0.9)], (), 'no record has a label: each needs a further field "label"'),
        ([record(1, 0.9, "accept")], ("--checker", "labelling"), "labelling: its verdicts do not depend on a score"),
        ([record(1, 0.9, "accept", kind="note")], (), "line 1: "),
    ],
)
def test_mistakes_are_told_in_a_line(folder: Path, lines: list[Any], arguments: tuple[str, ...], told: str):
    ran = assay("calibrate", write(folder, *lines), *arguments, cwd=folder)
    assert ran.returncode in {2, 3}
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
