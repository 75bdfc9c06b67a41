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

from checkers.longtail.corpus import BUNDLED, DOMAINS, Statement, read_corpus
from checkers.longtail.templates import polarity, templates_of
from lab.probe_table import ALL, Asked, ProbeResult, ProbeTable, effective, share
from tests.assay.running import assay
from tests.checkers.longtail.probes import Asked as AskedProbe
from tests.checkers.longtail.probes import (
    Manner,
    SimulatedSubject,
    always_no,
    corpus_in,
    perfect,
    right_at,
    statements,
)
from tests.lab.interrupted import resumed
from tests.support.stub_endpoint import StubEndpoint

RUN = Asked(model="acme", way="zero-shot")


def result(statement: Statement, template: int, right: bool | None, expected: str) -> ProbeResult:
    return ProbeResult(
        number=1,
        model="acme",
        way="zero-shot",
        statement=statement.id,
        domain=statement.domain,
        distribution=statement.distribution,
        template=template,
        polarity=polarity(template, expected),
        question="q",
        expected=expected,
        answer="a",
        right=right,
        cause="subject_unusable" if right is None else None,
    )


def table_of(known: Iterable[Statement], manner: Manner, seed: int = 0) -> ProbeTable:
    draw, results = random.Random(seed), []
    for statement in known:
        for template in templates_of(statement):
            asked = AskedProbe(statement, template)
            results.append(result(statement, template.number, manner(asked, draw) == asked.right, asked.right))
    return ProbeTable([RUN], results)


def accuracy(table: ProbeTable, distribution, sign=ALL, domain: str = ALL) -> float:
    found = share(table.cell(RUN, domain, distribution, sign).read)
    assert found is not None
    return found


def test_a_perfect_subject_is_right_everywhere():
    table = table_of(statements(), perfect)
    for domain in table.domains:
        assert [
            accuracy(table, side, sign, domain) for side in ("head", "tail") for sign in ("positive", "negative")
        ] == [1.0] * 4
        assert table.gap(RUN, domain, ALL)["gap"] == 0


def test_always_no_is_right_in_seven_of_thirteen():
    table = table_of(statements(), always_no)
    assert accuracy(table, "head") == accuracy(table, "tail") == pytest.approx(7 / 13)
    assert (accuracy(table, "tail", "positive"), accuracy(table, "tail", "negative")) == (0.0, 1.0)
    assert table.gap(RUN, ALL, ALL)["gap"] == 0


@pytest.mark.parametrize("gap", [0.1, 0.3])
def test_a_weak_tail_comes_out_at_its_gap(gap: float):
    table = table_of(statements(4, 50), right_at({"head": 0.9, "tail": 0.9 - gap}))
    found = table.gap(RUN, ALL, ALL)
    low, high = found["interval"]
    assert low < gap < high
    assert found["gap"] == pytest.approx(gap, abs=0.04)


def unread_where(known: list[Statement], share: Mapping[str, float]) -> ProbeTable:
    """All is right, but so many of a side's answers cannot be read."""
    draw, results = random.Random(5), []
    for statement in known:
        for template in templates_of(statement):
            right = None if draw.random() < share[statement.distribution] else True
            results.append(result(statement, template.number, right, template.answer(statement)))
    return ProbeTable([RUN], results)


@pytest.mark.parametrize("tail", [0.0, 0.2, 0.5])
def test_a_gap_says_so_where_head_and_tail_differ_in_answers_that_cannot_be_read(tail: float):
    table = unread_where(list(statements(4, 10)), {"head": 0.0, "tail": tail})
    assert table.gap(RUN, ALL, ALL)["gap"] == 0
    (row,) = [line.split() for line in table.lines() if line.startswith("all ") and " all " in line]
    assert (row[-1] == "*") is (tail > 0)
    assert float(row[9]) == pytest.approx(100 * tail, abs=5)
    assert any(line.startswith("* Head and tail differ") for line in table.lines()) is (tail > 0)
    (gap,) = [one for one in table.summary()["runs"][0]["gaps"] if (one["domain"], one["polarity"]) == (ALL, ALL)]
    assert gap["unread_differs"] is (tail > 0)


def test_the_interval_is_that_of_statements_where_a_statement_is_known_or_not():
    """All 13 answers alike say no more than one."""
    draw = random.Random(1)
    known = {statement.id: draw.random() < 0.7 for statement in statements(4, 50)}
    alike = table_of(statements(4, 50), lambda asked, _: asked.right if known[asked.statement.id] else asked.wrong)
    apart = table_of(statements(4, 50), right_at({"head": 0.7, "tail": 0.7}))
    together, alone = (effective(table.cell(RUN, ALL, "head", ALL).read)[1] for table in (alike, apart))
    assert together == pytest.approx(200, rel=0.05)
    assert alone == pytest.approx(2600, rel=0.25)


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
            answer = result(statement, template, template == 8, "yes" if template == 1 else "no")
            results.append(answer.model_copy(update={"yes": yes}))
    table = ProbeTable([RUN], results)
    assert accuracy(table, "head") == accuracy(table, "tail") == 0.5
    assert (accuracy(table, "head", "paired"), accuracy(table, "tail", "paired")) == (1.0, 0.5)
    (row,) = [line.split() for line in table.lines() if line.startswith("all ") and " paired " in line]
    assert row[2:5] == ["100.0", "50.0", "+50.0"]


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


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path, stub: StubEndpoint):
    variables = subject(stub) | {"ASSAY_SUBJECTS__ACME__CONCURRENCY": "4"}
    found = resumed(["probes", "run", str(corpus_in(tmp_path, 2, 2))], stub, 120, tmp_path, **variables)
    assert cell(found, domain="all", distribution="head", polarity="all")["right"] == 52


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        ((), {}, "--model is needed; the subjects configured are: none"),
        (("--model", "nobody"), {}, "--model nobody: no subject has this name (subjects.nobody); configured are: none"),
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
