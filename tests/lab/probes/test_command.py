"""`assay probes run` as users run it: table 3 for an endpoint, interrupted runs, wrong use."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkers.longtail.corpus import BUNDLED, DOMAINS, read_corpus, write_corpus
from tests.assay.running import assay, environment
from tests.checkers.longtail.probes import SimulatedSubject, always_no, corpus_in, perfect, right_at, statements
from tests.lab.interrupted import torn
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=SimulatedSubject(statements(), perfect)) as endpoint:
        yield endpoint


def subject(stub: StubEndpoint, name: str = "ACME") -> dict[str, str]:
    return {f"ASSAY_SUBJECTS__{name}__BASE_URL": stub.base_url, f"ASSAY_SUBJECTS__{name}__MODEL": "m"}


def run(data: Path, *arguments: object, **variables: str) -> "subprocess.CompletedProcess[str]":
    return assay("probes", "run", str(data), *map(str, arguments), cwd=data.parent, **variables)


def figures(ran: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def cell(found: dict[str, Any], **where: str) -> dict[str, Any]:
    (only,) = (one for one in found["runs"][0]["cells"] if where.items() <= one.items())
    return only


def test_a_subject_that_knows_the_head_is_told_in_a_table(tmp_path: Path, stub: StubEndpoint):
    stub.answer = SimulatedSubject(statements(), right_at({"head": 1.0, "tail": 0.0}))
    ran = run(corpus_in(tmp_path, 2, 2), "--model", "acme", **subject(stub))
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == f"{2 * 2 * 2 * 13} probes"
    assert "acme, zero-shot: right answers in percent, and the gap between head and tail in points" in lines
    (temporal,) = [line for line in lines if line.startswith("temporal") and " all " in line]
    assert temporal.split()[2:5] == ["100.0", "0.0", "+100.0"]
    assert ran.stderr == (
        "4 statements of the head and 4 of the tail: the gap's interval will be ±19 to ±50 points, as a statement's 13 "
        "answers differ or are alike; ±10 needs 15 to 189 of each, and 189 for the paired figure\n"
    )
    paired = [line.split() for line in lines if line.startswith("temporal") and " paired " in line]
    assert paired[0][2:5] == ["100.0", "0.0", "+100.0"]
    by_template = lines[lines.index("acme, zero-shot: answers by template") + 2 :][:13]
    assert [line.split()[0] for line in by_template] == [str(number) for number in range(1, 14)]
    assert all(line.split()[-4:] == ["4", "4", "0", "0"] for line in by_template)


def test_the_bundled_corpus_gives_a_first_figure_without_a_build(tmp_path: Path):
    known = list(read_corpus(Path(BUNDLED)))
    with StubEndpoint(answer=SimulatedSubject(known, always_no)) as endpoint:
        found = figures(run(tmp_path / BUNDLED, "--limit", 3, "--json", **subject(endpoint)))
    assert {one["domain"] for one in found["runs"][0]["cells"]} == {*DOMAINS, "all"}
    told = cell(found, domain="all", distribution="tail", polarity="all")
    assert told["statements"] == 3 * len(DOMAINS)


def test_both_ways_are_asked_and_reported(tmp_path: Path, stub: StubEndpoint):
    out = tmp_path / "out.jsonl"
    found = figures(
        run(
            corpus_in(tmp_path, 2, 1), "--way", "zero-shot", "--way", "chain-of-thought", "--json", "--out", out,
            **subject(stub),
        )
    )  # fmt: skip
    assert [one["way"] for one in found["runs"]] == ["zero-shot", "chain-of-thought"]
    assert all(one["accuracy"] in {1.0, None} for each in found["runs"] for one in each["cells"])
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["number"] for line in lines] == list(range(1, 2 * 4 * 13 + 1))
    assert {line["reasoning"] for line in lines[:52]} == {None}
    assert {line["reasoning"] for line in lines[52:]} == {"It follows."}


def test_a_limit_draws_statements_of_each_domain_and_side(tmp_path: Path, stub: StubEndpoint):
    corpus = corpus_in(tmp_path, 2, 3)
    found = [figures(run(corpus, "--limit", 2, "--seed", 1, "--json", **subject(stub))) for _ in range(2)]
    assert {one["statements"] for one in found[0]["runs"][0]["cells"] if one["domain"] == "temporal"} == {2}
    assert found[0]["probes"] == 2 * 2 * 2 * 13
    assert found[0]["runs"] == found[1]["runs"]


def test_of_incorrect_statements_six_forms_are_asked_and_denying_is_right(tmp_path: Path):
    known = [one.model_copy(update={"correct": False}) for one in statements(1, 2)]
    file = tmp_path / "wrong.jsonl"
    write_corpus(file, known)
    with StubEndpoint(answer=SimulatedSubject(known, always_no)) as endpoint:
        found = figures(run(file, "--json", **subject(endpoint)))
    assert found["probes"] == 4 * 6
    told = cell(found, domain="all", distribution="tail", polarity="negative")
    assert (told["answered"], told["accuracy"]) == (12, 1.0)


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path, stub: StubEndpoint):
    corpus, out = corpus_in(tmp_path, 2, 2), tmp_path / "out.jsonl"
    variables = subject(stub) | {"ASSAY_SUBJECTS__ACME__CONCURRENCY": "4"}
    stub.delay = 0.05
    command = [sys.executable, "-m", "assay", "probes", "run", str(corpus), "--out", str(out)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(**variables)) as process:
        wait_until(lambda: len(stub.requests) >= 30)
        process.kill()
    assert not out.exists()
    torn(tmp_path)
    asked = len(stub.requests)
    stub.delay = 0

    ran = run(corpus, "--json", "--out", out, **variables)
    assert int(re.search(r"going on with (\d+) answers", ran.stderr)[1]) >= asked - 8
    assert cell(figures(ran), domain="all", distribution="head", polarity="all")["right"] == 52
    assert len(stub.requests) <= 120 + 8
    assert [json.loads(line)["number"] for line in out.read_text("utf-8").splitlines()] == list(range(1, 105))
    assert not list(tmp_path.glob("out.jsonl.*"))


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        ((), {}, "--model is needed; the subjects configured are: none"),
        (("--model", "nobody"), {}, "--model nobody: no subject has this name, so it has no endpoint to ask"),
        (("--way", "guess"), {}, "'guess' is not one of"),
        (("--limit", "0"), {}, "0 is not in the range"),
    ],
)
def test_wrong_use_is_named(tmp_path: Path, arguments, variables, said: str):
    ran = run(corpus_in(tmp_path), *arguments, **variables)
    assert ran.returncode == 2
    assert said in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr


def test_a_file_that_is_no_corpus_is_named_with_its_line(tmp_path: Path, stub: StubEndpoint):
    assert "nowhere: cannot be read: No such file" in run(tmp_path / "nowhere", **subject(stub)).stderr
    file = tmp_path / "bad.jsonl"
    file.write_text('{"premise": 3}\n', encoding="utf-8")
    ran = run(file, **subject(stub))
    assert ran.returncode == 2
    assert "bad.jsonl:1:" in ran.stderr
