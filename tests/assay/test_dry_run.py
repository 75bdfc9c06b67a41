"""`assay check --dry-run`: what a file would cost, held against what an endpoint then counts."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assay.running import ROOT, assay
from tests.support.equivalence import ALIGNED, APART, StubSubject
from tests.support.labelling import StubLabeller
from tests.support.retrieval import StubMatcher
from tests.support.stub_answers import consistency_answer
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

REFERENCE = "The old mill was sold to the bank in March. " * 20


def answer(request: StubRequest) -> str:
    """What any of the methods is answered."""
    fences = request.fences
    if "datapoint" in fences:
        return labeller(request)
    if "texts" in fences:
        return matcher(request)
    return subject(request) if {"first", "sentence"} & fences.keys() else consistency_answer(request)


labeller, matcher, subject = StubLabeller(), StubMatcher(), StubSubject()


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=answer) as endpoint:
        yield endpoint


@pytest.fixture
def configured(tmp_path: Path, stub: StubEndpoint) -> Path:
    """A folder with a configuration whose judge and subject are the stub, at different prices."""
    rubric = ROOT / "examples" / "rubrics" / "in-phenomenon.yaml"
    (tmp_path / "assay.toml").write_text(
        f"""
[judge]
backend = "openai"
base_url = "{stub.base_url}"
model = "judge"
prompt_price = 10.0
completion_price = 20.0
[subjects.m]
base_url = "{stub.base_url}"
model = "m"
prompt_price = 1.0
completion_price = 2.0
[labelling.rubrics]
r = "{rubric}"
"""
    )
    return tmp_path


def record(kind: str, number: int, **body: Any) -> dict[str, Any]:
    return {"id": f"{kind}-{number}", "kind": kind, "source": "s", "model": "m", **body}


def responses() -> list[dict[str, Any]]:
    sentence = "The old mill was sold to the bank in March."
    # No response is another's, so that nothing comes from the cache.
    return [record("generation", n, response=f"{sentence} " * n, reference=f"{n}. {REFERENCE}") for n in (1, 7, 8, 30)]


def decisions() -> list[dict[str, Any]]:
    pairs = [(ALIGNED, True), (APART, True), (ALIGNED, False), (APART, False)]
    return [
        record("paraphrase", n, sentence1=first, sentence2=second, answer=yes, prompt=f"Decide for museum {n}.")
        for n, ((first, second), yes) in enumerate(pairs)
    ]


def labels() -> list[dict[str, Any]]:
    strings = ["011011010110", "111100001111", "000000000001"]
    return [
        record("labelling", n, datapoint=x, rubric="r", label=labeller.label(x), prompt="Count." if n else None)
        for n, x in enumerate(strings)
    ]


def hits() -> list[dict[str, Any]]:
    same = {"id": "a", "text": "Is it open?", "score": 0.9}
    other = {"id": "b", "text": "When does it open on Sundays?", "score": 0.8}
    store = {"store": "cache", "query": "Is it open?"}
    return [
        record("retrieval", 1, **store, matched=same),
        record("retrieval", 2, **store, matched=other, candidates=[same | {"id": "c", "text": "Is it shut?"}]),
        record("retrieval", 3, **store | {"store": "knowledge"}, matched=other),
    ]


RECORDS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "consistency": responses,
    "equivalence": decisions,
    "labelling": labels,
    "retrieval": hits,
}


def dry_run(folder: Path, records: list[Any], *options: str) -> dict[str, dict[str, Any]]:
    """What is told, by checker."""
    stdin = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records).encode()
    ran = assay("check", "-", "--dry-run", "--out", "-", *options, cwd=folder, stdin=stdin)
    assert ran.returncode == 0, ran.stderr
    return {one["checker"]: one for one in map(json.loads, ran.stdout.splitlines())}


@pytest.mark.parametrize("checker", RECORDS)
def test_it_tells_what_the_endpoint_then_counts(configured: Path, stub: StubEndpoint, checker: str) -> None:
    told = dry_run(configured, RECORDS[checker](), "--checker", checker)[checker]
    assert not stub.requests, "a dry run asks nothing"
    stdin = "\n".join(map(json.dumps, RECORDS[checker]())).encode()
    ran = assay("check", "-", "--checker", checker, cwd=configured, stdin=stdin)
    assert ran.returncode == 0, ran.stderr
    verdicts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {verdict["outcome"] for verdict in verdicts} <= {"accept", "reject"}
    used = {key: sum(verdict["usage"][key] for verdict in verdicts) for key in ("calls", *told["expected"])}
    assert used["calls"] == len(stub.requests) > 0
    for key, most in told["at_most"].items():
        assert used[key] <= most * 1.02
    if checker != "equivalence":
        # There the questions are certain; of replies, the stub's are short.
        assert used["calls"] == told["expected"]["calls"]
        assert used["prompt_tokens"] == pytest.approx(told["expected"]["prompt_tokens"], rel=0.02)


def test_a_no_is_expected_to_cost_what_noes_cost(configured: Path) -> None:
    told = dry_run(configured, decisions()[3:], "--checker", "equivalence")["equivalence"]
    assert 11 <= told["expected"]["calls"] <= 22


def test_prices_are_those_of_the_model_that_is_asked(configured: Path) -> None:
    for checker, price in {"retrieval": 10.0, "labelling": 1.0}.items():
        expected = dry_run(configured, RECORDS[checker](), "--checker", checker)[checker]["expected"]
        cost = (expected["prompt_tokens"] + 2 * expected["completion_tokens"]) * price / 1_000_000
        assert expected["cost"] == pytest.approx(cost, rel=0.01)


def test_a_person_gets_a_table_and_bad_lines_are_counted(configured: Path, site: Path, stub: StubEndpoint) -> None:
    (configured / "in.jsonl").write_text(
        "\n".join(
            [
                *map(json.dumps, [*responses(), *labels()]),
                json.dumps(record("labelling", 9, datapoint="0", rubric="none", label=1)),
                "no record",
                json.dumps({"kind": "poem"}),
                json.dumps(record("extraction", 1, text="a", entities=[])),
            ]
        )
    )
    chosen = [word for name in ("consistency", "labelling", "shouting") for word in ("--checker", name)]
    ran = assay("check", "in.jsonl", "--dry-run", *chosen, cwd=configured, site=site)
    assert ran.returncode == 0, ran.stderr
    assert "line 9: not_json" in ran.stderr
    assert "line 10: unknown_kind" in ran.stderr
    rows = [line.split() for line in ran.stdout.splitlines()]
    assert ["consistency", "4", "expected", "9"] in [row[:4] for row in rows]
    assert ["labelling", "4", "expected", "12"] in [row[:4] for row in rows]
    assert "shouting            4  unknown: the checker does not say what it asks" in ran.stdout
    assert "labelling: 1 record abstained on without a call" in ran.stdout
    assert "1 record of a kind that no selected checker takes" in ran.stdout
    assert "2 lines without a record that can be read" in ran.stdout
    assert not stub.requests


def test_a_checker_that_fails_is_named_and_its_cost_unknown(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("what the record says")

    monkeypatch.setattr("checkers.retrieval.checker.RetrievalChecker.estimate", fails)
    stdin = "\n".join(map(json.dumps, hits())).encode()
    ran = assay("check", "-", "--dry-run", "--checker", "retrieval", cwd=configured, stdin=stdin)
    assert ran.returncode == 0
    assert "line 1: retrieval failed on record retrieval-1: RuntimeError" in ran.stderr
    assert "what the record says" not in ran.stderr
    assert "unknown: the checker does not say what it asks" in ran.stdout


def test_a_cascade_is_reckoned_as_if_all_went_to_the_endpoint_and_the_table_says_so(
    configured: Path, stub: StubEndpoint
) -> None:
    alone = dry_run(configured, responses())["consistency"]
    toml = (configured / "assay.toml").read_text()
    cascade = toml.replace('"openai"', '"cascade"', 1) + "[consistency.thresholds]\naccept_from = 0.9\n"
    (configured / "assay.toml").write_text(cascade)
    assert dry_run(configured, [*responses(), *hits()])["consistency"] == alone | {"cascade": True}
    stdin = "\n".join(map(json.dumps, [*responses(), *hits()])).encode()
    table = assay("check", "-", "--dry-run", cwd=configured, stdin=stdin).stdout
    assert "consistency: as if the cascade's local judge decided nothing" in table
    assert "retrieval: as if" not in table
    assert not stub.requests


def test_no_model_is_loaded_and_a_local_judge_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("models.model_loading.ModelThread.load", load)
    monkeypatch.setattr("models.model_loading.ModelThread.model", load)
    told = dry_run(tmp_path, [*responses(), *decisions(), *hits()])
    assert told["consistency"]["expected"]["calls"] == 4
    assert told["equivalence"]["unasked"] == 2
    assert {one["at_most"]["cost"] for one in told.values()} == {0}
