"""Texts are matched by the chat model, or by the bundled judge where that is right on more of the built-in pairs."""

import json
from importlib import resources
from pathlib import Path

import pytest

from models.judges.self_test import FormResult, KeptTest, PairOutcome
from models.protocol import ClaimKind, Claims, ModelUnavailable
from tests.conftest import READ
from tests.models.judges.conftest import MakeJudge
from tests.support.stub_acts import good, status
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

PAIRS = [
    json.loads(line) for line in resources.files("models.judges").joinpath("matching.jsonl").read_text().splitlines()
]
SAME = {frozenset({pair["query"], pair["same"]}) for pair in PAIRS}
HIT = (
    Claims("The heron left at dawn.", ("At dawn the heron left.",), ClaimKind.MATCH),
    Claims("At dawn the heron left.", ("The heron left at dawn.",), ClaimKind.MATCH),
)
GERMAN = Claims(
    "Der Reiher flog im Morgengrauen davon, und niemand hat ihn danach noch einmal am Wehr gesehen.",
    ("Im Morgengrauen ist der Reiher davongeflogen, und danach hat ihn keiner mehr am Wehr gesehen.",),
    ClaimKind.MATCH,
)


@pytest.fixture(autouse=True)
def _nothing_on_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    passed = KeptTest.read
    forms = lambda test: isinstance(test.depends_on[-1], list)  # noqa: E731
    monkeypatch.setattr(KeptTest, "read", lambda test: passed(test) if forms(test) else READ(test))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def knowing(request: StubRequest) -> str:
    """A model that is right on every built-in pair, and says no otherwise."""
    return "yes" if frozenset(request.quotes.values()) in SAME else "no"


async def test_a_model_that_knows_the_pairs_is_asked_itself(judge_of: MakeJudge, stub: StubEndpoint):
    stub.answer = knowing
    grades = (await judge_of("short", None).grade("retrieval.cache", HIT)).reply
    assert [(one.supported, "matched by" in one.reason) for (one,) in grades] == [(False, False)] * 2


async def test_a_judge_that_failed_its_self_test_matches_nothing_where_that_is_required(
    judge_of: MakeJudge, monkeypatch: pytest.MonkeyPatch
):
    outcomes = tuple(PairOutcome("number", supported, 5.0) for supported in (True, False))
    monkeypatch.setattr(KeptTest, "read", lambda test: [FormResult("short", 0.0, outcomes)])
    with pytest.raises(ModelUnavailable, match=r"judge\.require_self_test is set"):
        await judge_of("short", None, require_self_test=True).grade("retrieval.cache", HIT)


async def test_an_endpoint_that_fails_on_some_pairs_is_asked_itself_and_tested_again_by_the_next_process(
    judge_of: MakeJudge, stub: StubEndpoint, tmp_path: Path
):
    stub.play(lambda request: status(400) if "bridge" in str(request.body) else good())
    stub.answer = lambda request: "yes"
    grades = (await judge_of("short", None).grade("retrieval.cache", HIT)).reply
    assert not any("matched by" in one.reason for (one,) in grades)
    assert not list(tmp_path.rglob("*.json"))  # noqa: ASYNC240 - a small folder


async def test_one_that_says_yes_to_all_is_replaced_and_the_reason_says_so(judge_of: MakeJudge, stub: StubEndpoint):
    stub.answer = lambda request: "yes"
    judge = judge_of("short", None)
    grades = (await judge.grade("retrieval.cache", HIT)).reply
    assert [one.supported for (one,) in grades] == [True, True]
    assert all(f"of 16 built-in pairs; {judge.name} on 8)" in one.reason for (one,) in grades)
    asked = len(stub.requests)
    assert asked == 4 * len(PAIRS)
    # Kept on file, and of a language that the bundled judge does not read the model is asked.
    again = judge_of("short", None)
    ((one,),) = (await again.grade("retrieval.cache", [GERMAN])).reply
    assert "matched by" not in one.reason
    assert len(stub.requests) == asked + 1
