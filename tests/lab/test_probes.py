"""`assay probes run`: simulated subjects come out at their known accuracies, and the command as users run it."""

import json
import random
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.longtail.corpus import BUNDLED, Statement, read_corpus
from checkers.longtail.templates import polarity, templates_of
from lab.probes import ALL, AskedQuestion, ProbeResult, effective, report, share
from lab.report import Report
from tests.assay.running import assay
from tests.checkers.longtail import probes
from tests.checkers.longtail.probes import Manner, SimulatedSubject, always_no, corpus_in, perfect, right_at, statements
from tests.lab.interrupted import figures, subject
from tests.support.stub_endpoint import StubEndpoint

RUN = AskedQuestion(model="acme", way="zero-shot")


def result(statement: Statement, template: int, right: bool | None, expected: str, **fields: Any) -> ProbeResult:
    given = {"number": 1, "way": "zero-shot", "model": "acme", "question": "q", "answer": "a", "expected": expected}
    given |= {"statement": statement.id, "domain": statement.domain, "distribution": statement.distribution}
    given |= {"template": template, "polarity": polarity(template, expected), "right": right, **fields}
    return ProbeResult.model_validate(given | ({"cause": "subject_unusable"} if right is None else {}))


def report_of(known: Iterable[Statement], manner: Manner) -> Report:
    draw, results = random.Random(0), []
    for statement in known:
        for template in templates_of(statement):
            asked = probes.Asked(statement, template)
            results.append(result(statement, template.number, manner(asked, draw) == asked.right, asked.right))
    return report([RUN], results)


def cell(found: Mapping[str, Any], **where: str) -> dict[str, Any]:
    (only,) = (one for one in found["runs"][0]["cells"] if where.items() <= one.items())
    return only


def gap(found: Report) -> dict[str, Any]:
    (only,) = (one for one in found.figures["runs"][0]["gaps"] if (one["domain"], one["polarity"]) == (ALL, ALL))
    return only


def row(found: Report, sign: str) -> list[str]:
    (only,) = (line.split() for line in found.lines if line.startswith("all ") and f" {sign} " in line)
    return only


def test_always_no_is_right_in_seven_of_thirteen_and_has_no_gap():
    found = report_of(statements(), always_no)
    accuracy = {
        (side, sign): cell(found.figures, domain=ALL, distribution=side, polarity=sign)["accuracy"]
        for side in ("head", "tail")
        for sign in ("all", "positive", "negative")
    }
    assert accuracy["head", "all"] == accuracy["tail", "all"] == pytest.approx(7 / 13)
    assert (accuracy["tail", "positive"], accuracy["tail", "negative"]) == (0.0, 1.0)
    assert gap(found)["gap"] == 0


@pytest.mark.parametrize("expected", [0.1, 0.3])
def test_a_weak_tail_comes_out_at_its_gap(expected: float):
    found = gap(report_of(statements(4, 50), right_at({"head": 0.9, "tail": 0.9 - expected})))
    low, high = found["interval"]
    assert low < expected < high
    assert found["gap"] == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("tail", [0.0, 0.2, 0.5])
def test_a_gap_says_so_where_head_and_tail_differ_in_answers_that_cannot_be_read(tail: float):
    draw, results = random.Random(5), []
    for statement in statements(4, 10):
        for template in templates_of(statement):
            right = None if statement.distribution == "tail" and draw.random() < tail else True
            results.append(result(statement, template.number, right, template.answer(statement)))
    found = report([RUN], results)
    assert (gap(found)["gap"], gap(found)["unread_differs"]) == (0, tail > 0)
    assert (row(found, "all")[-1] == "*") is (tail > 0)
    assert float(row(found, "all")[9]) == pytest.approx(100 * tail, abs=5)
    assert any(line.startswith("* Head and tail differ") for line in found.lines) is (tail > 0)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60))
def test_the_effective_number_lies_between_that_of_statements_and_that_of_answers(drawn: list[tuple[int, bool]]):
    answers = [(str(statement), right) for statement, right in drawn]
    right, n = effective(answers)
    assert len({statement for statement, _ in answers}) - 1e-9 <= n <= len(answers) + 1e-9
    assert 0 <= right <= n
    if n:
        assert right / n == pytest.approx(share(answers))


def test_the_paired_figure_shows_knowledge_behind_answers_that_are_always_the_same():
    results = []
    for number, statement in enumerate(statements(2, 10)):
        known = statement.distribution == "head" or number % 2 == 0
        for template, yes in ((1, 0.2), (8, 0.1 if known else 0.3)):
            expected = "yes" if template == 1 else "no"
            results.append(result(statement, template, template == 8, expected, yes=yes))
    found = report([RUN], results)
    assert row(found, "all")[2:5] == ["50.0", "50.0", "+0.0"]
    assert row(found, "paired")[2:5] == ["100.0", "50.0", "+50.0"]


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=SimulatedSubject(statements(), perfect)) as endpoint:
        yield endpoint


def run(data: Path, *arguments: object, **variables: str) -> "subprocess.CompletedProcess[str]":
    return assay("probes", "run", str(data), *map(str, arguments), cwd=data.parent, **variables)


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
    assert {one["domain"] for one in found["runs"][0]["cells"]} == {*probes.DOMAINS, "all"}
    told = cell(found, domain="all", distribution="tail", polarity="all")
    assert told["statements"] == 3 * len(probes.DOMAINS)


def test_both_ways_are_asked_and_reported(tmp_path: Path, stub: StubEndpoint):
    out = tmp_path / "out.jsonl"
    options = ("--way", "zero-shot", "--way", "chain-of-thought", "--json", "--out", out)
    found = figures(run(corpus_in(tmp_path, 2, 1), *options, **subject(stub)))
    assert [one["way"] for one in found["runs"]] == ["zero-shot", "chain-of-thought"]
    assert all(one["accuracy"] in {1.0, None} for each in found["runs"] for one in each["cells"])
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["number"] for line in lines] == list(range(1, 2 * 4 * 13 + 1))
    assert {line["reasoning"] for line in lines[:52]} == {None}
    assert {line["reasoning"] for line in lines[52:]} == {"It follows."}
