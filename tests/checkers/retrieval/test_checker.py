"""The checker on hits: accept, reject and abstain, with what a person needs to see why."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from checkers.checker import Models, Thresholds
from checkers.retrieval.checker import RetrievalChecker, RetrievalSettings
from models.build import build_judge
from models.local.judge import BundledJudge
from models.protocol import Judgement
from models.settings import JudgeSettings
from schemas import RetrievalEvidence, Verdict, to_json
from tests.attacks.texts import ATTACKS
from tests.checkers.case import cause_of, evidence_of
from tests.checkers.conftest import MakeJudge
from tests.checkers.graders import grading
from tests.checkers.retrieval.setting import StubMatcher, hit
from tests.support.stub_endpoint import StubEndpoint

MakeChecker = Callable[..., RetrievalChecker]


@pytest.fixture
def matcher() -> StubMatcher:
    return StubMatcher()


@pytest.fixture
def stub(matcher: StubMatcher) -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=matcher) as endpoint:
        yield endpoint


@pytest.fixture
def checker_of(judge_of: MakeJudge) -> MakeChecker:
    """Builds a checker whose judge is the stub."""
    return lambda: RetrievalChecker(RetrievalSettings(), Models(judge=judge_of()))


_evidence = partial(evidence_of, RetrievalEvidence)


async def test_a_cache_hit_that_asks_the_same_is_accepted_by_a_question_for_each_direction(
    checker_of: MakeChecker, stub: StubEndpoint
):
    record = hit("Is the pool open today?", "Today, is the open pool?", candidates=[("Is it warm today?", 0.7)])
    verdict = await checker_of().check(record)
    assert (verdict.outcome, verdict.score, verdict.error_bound) == ("accept", 1.0, None)
    assert verdict.judge == "openai/stub"
    evidence = _evidence(verdict)
    assert (evidence.store, evidence.metric, evidence.threshold) == ("cache", "cosine", 0.5)
    assert (evidence.matched.id, evidence.matched.vector_score, evidence.matched.score) == ("q-1", 0.97, 1.0)
    assert evidence.better is None
    assert [(one.id, one.score, one.vector_score) for one in evidence.candidates] == [("c1", 0.0, 0.7)]
    assert "means the same as the query" in verdict.reason
    assert verdict.usage.calls == len(stub.requests) == 4


async def test_a_false_match_has_both_directions_and_the_better_candidate(
    checker_of: MakeChecker,
):
    record = hit(
        "Can I return shoes that I have worn?",
        "Can I return shoes that I have not worn?",
        candidates=[("May sandals be returned?", 0.93), ("Shoes that I have worn: can I return?", 0.91)],
    )
    verdict = await checker_of().check(record)
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)
    evidence = _evidence(verdict)
    # Every word of the query stands in the matched text, but not the other way round.
    assert (evidence.matched.text_to_query.score, evidence.matched.query_to_text.score) == (1.0, 0.0)
    assert evidence.matched.query_to_text.reason == "the judge does not find it supported (probability 0.00)"
    assert evidence.better is not None
    assert (evidence.better.id, evidence.better.score) == ("c2", 1.0)
    assert "The matched text does not follow from the query (0.00)" in verdict.reason
    assert "Text matching prefers c2" in verdict.reason


async def test_a_knowledge_store_needs_support_only_and_a_cache_the_same(checker_of: MakeChecker):
    more, less = "The desk opens at nine on weekdays.", "The desk opens at nine."
    accepted = await checker_of().check(hit(less, more, store="knowledge"))
    assert (accepted.outcome, accepted.reason) == ("accept", "The matched text supports the query (1.00).")
    rejected = await checker_of().check(hit(more, less, store="knowledge"))
    assert rejected.outcome == "reject"
    assert _evidence(rejected).needs == ("text_to_query",)
    # A direction that the store does not need is scored all the same.
    found = _evidence(rejected).matched
    assert (found.text_to_query.score, found.query_to_text and found.query_to_text.score) == (0.0, 1.0)
    assert (await checker_of().check(hit(less, more, store="cache"))).outcome == "reject"


@pytest.mark.parametrize(
    ("grade", "outcome", "accept_from"), [(0.69, "reject", 0.7), (0.7, "accept", 0.7), (0.69, "reject", None)]
)
async def test_a_score_is_held_against_the_thresholds(grade: float, outcome: str, accept_from: float | None):
    judge, thresholds = grading(lambda *_: grade), Thresholds(accept_from=accept_from, reject_below=0.7)
    checker = RetrievalChecker(RetrievalSettings(thresholds=thresholds), Models(judge=judge))
    verdict = await checker.check(hit("One two?", "Two one?"))
    assert (verdict.outcome, _evidence(verdict).threshold) == (outcome, 0.7)
    assert (outcome == "accept") is ("do not follow from each other" not in verdict.reason)


async def test_a_findings_reason_is_shown_whole_with_who_matched_the_texts():
    who = "by bundled@15, right on 15 of 16 built-in pairs; openai/a-model-of-a-rather-long-name-1.5b-instruct on 11"
    reason = f"its sentence says 'Thursday' where the query has 'Friday', and 'eleven' where it has 'twelve' ({who})"
    checker = RetrievalChecker(RetrievalSettings(), Models(judge=grading(lambda *_: Judgement(0.1, reason, None))))
    assert f"; {reason}." in (await checker.check(hit("One two?", "Two one?"))).reason


async def test_the_same_text_needs_no_judge(checker_of: MakeChecker, stub: StubEndpoint):
    verdict = await checker_of().check(hit("Where is gate 4?", "Where is gate 4?"))
    assert (verdict.outcome, verdict.score, verdict.usage.calls) == ("accept", 1.0, 0)
    assert not stub.requests


@pytest.mark.parametrize(
    ("fields", "cause", "said"),
    [
        ({"query": " \n"}, "empty_text", "the query holds no word"),
        ({"text": "…"}, "empty_text", "the matched text holds no word"),
        ({"text": "a" * 20_000}, "too_long", "characters; at most 20000 are compared"),
    ],
)
async def test_what_cannot_be_compared_is_an_abstention(
    checker_of: MakeChecker, stub: StubEndpoint, fields, cause, said
):
    verdict = await checker_of().check(hit(**fields))
    assert cause_of(verdict) == cause
    assert said in verdict.reason
    assert not stub.requests


async def test_a_question_to_a_knowledge_store_must_be_answered_which_is_a_question_of_its_own(
    checker_of: MakeChecker, stub: StubEndpoint
):
    query = "Is the pool open today?"
    candidates = [("Today is warm.", 0.7), ("Yes, the pool is open today, until ten.", 0.6)]
    record = hit(query, "The pool is open.", store="knowledge", candidates=candidates)
    verdict = await checker_of().check(record)
    assert verdict.outcome == "reject"
    assert "The matched text does not answer the query (0.00)" in verdict.reason
    evidence = _evidence(verdict)
    assert evidence.is_question
    assert [one.query_to_text for one in (evidence.matched, *evidence.candidates)] == [None] * 3
    assert evidence.better is not None
    assert evidence.better.id == "c2"
    assert {request.kind for request in stub.requests} == {"answerable"}
    answered = await checker_of().check(hit(query, candidates[1][0], store="knowledge"))
    assert (answered.outcome, answered.reason) == ("accept", "The matched text answers the query (1.00).")
    assert Verdict.model_validate_json(to_json(verdict)) == verdict


async def test_the_local_judge_finds_the_negation_in_a_false_hit_and_is_talked_into_nothing():
    query, text = "Can I return shoes that I have worn?", "Can I return shoes that I have not worn?"
    shoes = hit(query, text, candidates=[("May worn shoes be sent back?", 0.91)])
    # After the text, after the query, or in the place of the text.
    attacked = [
        hit(*((query, f"{text} {said}"), (f"{query} {said}", text), (query, said))[number % 3], id=ATTACKS[number].id)
        for number, said in enumerate(attack.response for attack in ATTACKS)
    ]
    # What is loaded in this process is there at once: no question's patience runs out on a busy machine.
    BundledJudge().load()
    judge = build_judge(JudgeSettings())
    checker = RetrievalChecker(RetrievalSettings(), Models(judge=judge, record_seconds=3600))
    try:
        verdict, *others = await asyncio.gather(*map(checker.check, (shoes, *attacked)))
    finally:
        await judge.close()
    better = _evidence(verdict).better
    assert (verdict.outcome, better and better.id) == ("reject", "c1")
    assert {one.record_id: one.outcome for one in others} == {attack.id: "reject" for attack in ATTACKS}
