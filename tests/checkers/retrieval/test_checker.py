"""The checker on hits: accept, reject and abstain, with what a person needs to see why."""

import asyncio
import importlib.resources
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from checkers.checker import Models
from checkers.retrieval.checker import RetrievalChecker
from checkers.retrieval.settings import RetrievalSettings
from models.build import build_model
from models.local import EmbeddingJudge, LocalSettings
from models.meter import MeteredGrader
from models.protocol import Model, ModelUnavailable
from models.settings import JudgeSettings
from schemas import Abstention, Generation, Retrieval, RetrievalEvidence, Verdict, to_json
from tests.checkers.conftest import MakeModel
from tests.support.attacks import ATTACKS, name_of
from tests.support.graders import grading
from tests.support.retrieval import StubMatcher, hit
from tests.support.stub_acts import half_json, nonsense, status
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
def judge(model_of: MakeModel) -> Model:
    return model_of()


@pytest.fixture
def checker_of(judge: Model) -> MakeChecker:
    """Builds a checker from retrieval settings."""
    return lambda **settings: RetrievalChecker(RetrievalSettings(**settings), Models(judge=judge))


def judging(grades: Mapping[str, float]) -> MeteredGrader:
    """A judge that grades a stored text and the query, either way, as it is told for the text."""
    return grading(lambda reference, sentence: grades.get(sentence, grades.get(reference)))


def _evidence(verdict: Verdict) -> RetrievalEvidence:
    assert isinstance(verdict.evidence, RetrievalEvidence), verdict.reason
    return verdict.evidence


def _cause(verdict: Verdict) -> str:
    assert (verdict.outcome, verdict.score) == ("abstain", None)
    assert isinstance(verdict.evidence, Abstention)
    return verdict.evidence.cause


async def test_a_cache_hit_that_asks_the_same_is_accepted_in_one_call(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    record = hit("Is the pool open today?", "Today, is the open pool?", candidates=[("Is it warm today?", 0.7)])
    verdict = await checker_of().check(record)
    assert (verdict.outcome, verdict.score, verdict.error_bound) == ("accept", 1.0, None)
    assert verdict.judge == "openai/stub"
    evidence = _evidence(verdict)
    assert (evidence.store, evidence.metric, evidence.threshold) == ("cache", "cosine", 0.5)
    assert (evidence.matched.id, evidence.matched.vector_score, evidence.matched.score) == ("q-1", 0.97, 1.0)
    assert evidence.relation is evidence.better is None
    assert evidence.differences == ()
    assert [(one.id, one.score, one.vector_score) for one in evidence.candidates] == [("c1", 0.0, 0.7)]
    assert "means the same as the query" in verdict.reason
    assert verdict.usage.calls == len(stub.requests) == 1


async def test_a_false_match_has_its_relation_the_words_both_directions_and_the_better_candidate(
    checker_of: MakeChecker,
) -> None:
    record = hit(
        "Can I return shoes that I have worn?",
        "Can I return shoes that I have not worn?",
        candidates=[("May sandals be returned?", 0.93), ("Shoes that I have worn: can I return?", 0.91)],
    )
    verdict = await checker_of().check(record)
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)
    evidence = _evidence(verdict)
    assert evidence.relation == "negative_expression"
    assert [(one.kind, one.query, one.matched) for one in evidence.differences] == [("added", (), ("not",))]
    # Every word of the query stands in the matched text, but not the other way round.
    assert (evidence.matched.text_to_query.score, evidence.matched.query_to_text.score) == (1.0, 0.0)
    assert evidence.matched.query_to_text.reason == "A word is missing."
    assert evidence.better is not None
    assert (evidence.better.id, evidence.better.score) == ("c2", 1.0)
    assert "Negative expression" in verdict.reason
    assert "“not”" in verdict.reason
    assert "Text matching prefers c2" in verdict.reason


async def test_a_knowledge_store_needs_support_only_and_a_cache_the_same(checker_of: MakeChecker) -> None:
    more = "The desk opens at nine on weekdays."
    less = "The desk opens at nine."
    outcomes = {
        (store, query): await checker_of().check(hit(query, more if query == less else less, store=store))
        for store in ("knowledge", "cache")
        for query in (less, more)
    }
    assert {key: verdict.outcome for key, verdict in outcomes.items()} == {
        ("knowledge", less): "accept",
        ("knowledge", more): "reject",
        ("cache", less): "reject",
        ("cache", more): "reject",
    }
    assert "supports the query" in outcomes["knowledge", less].reason
    rejected = _evidence(outcomes["knowledge", more])
    assert rejected.needs == ("text_to_query",)
    assert rejected.relation == "word_deletion"
    # A direction that the store does not need is scored all the same.
    assert (rejected.matched.text_to_query.score, rejected.matched.query_to_text.score) == (0.0, 1.0)


async def test_a_closer_candidate_that_fails_as_well_is_not_named() -> None:
    judge = judging({"One three?": 0.2, "Two one?": 0.4})
    record = hit("One two?", "One three?", candidates=[("Two one?", 0.9)])
    verdict = await RetrievalChecker(RetrievalSettings(), Models(judge=judge)).check(record)
    assert (verdict.outcome, verdict.score) == ("reject", 0.2)
    assert [one.score for one in _evidence(verdict).candidates] == [0.4]
    assert _evidence(verdict).better is None
    named = await RetrievalChecker(RetrievalSettings(threshold=0.4), Models(judge=judge)).check(record)
    assert _evidence(named).better is not None


@pytest.mark.parametrize(("grade", "outcome"), [(0.69, "reject"), (0.7, "accept")])
async def test_a_score_that_reaches_the_threshold_is_accepted(grade: float, outcome: str) -> None:
    checker = RetrievalChecker(RetrievalSettings(threshold=0.7), Models(judge=judging({"Two one?": grade})))
    assert (await checker.check(hit("One two?", "Two one?"))).outcome == outcome


async def test_of_equally_good_ones_the_matched_one_stays_and_else_the_closest_is_named(
    checker_of: MakeChecker,
) -> None:
    candidates = [("Two one?", 0.2), ("Two, one?", 0.6)]
    right = await checker_of().check(hit("One two?", "Two one", metric="cosine", candidates=candidates))
    assert _evidence(right).better is None
    wrong = await checker_of().check(hit("One two?", "One three?", candidates=candidates))
    assert _evidence(wrong).better is not None
    assert _evidence(wrong).better.id == "c2"  # type: ignore[union-attr]


async def test_candidates_beyond_the_limit_are_counted_and_not_matched(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    record = hit("One two?", "One three?", candidates=[(f"Text {number}", number / 20) for number in range(13)])
    verdict = await checker_of().check(record)
    assert [one.id for one in _evidence(verdict).candidates] == [f"c{number}" for number in range(13, 3, -1)]
    assert _evidence(verdict).left_out == 3
    assert json.loads(stub.requests[0].fences["texts"]) == [
        "One three?",
        *(f"Text {number}" for number in range(12, 2, -1)),
    ]


async def test_candidates_have_the_characters_that_query_and_matched_text_leave(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    text = "One three?".ljust(20_000 - len("One two?") - len("Two"), "x")
    record = hit("One two?", text, candidates=[("Two one four", 0.9), ("Two", 0.8)])
    verdict = await checker_of().check(record)
    assert [one.id for one in _evidence(verdict).candidates] == ["c2"]
    assert _evidence(verdict).left_out == 1
    assert json.loads(stub.requests[0].fences["texts"]) == [text, "Two"]


async def test_the_same_text_needs_no_judge(checker_of: MakeChecker, stub: StubEndpoint) -> None:
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
) -> None:
    verdict = await checker_of().check(hit(**fields))
    assert _cause(verdict) == cause
    assert said in verdict.reason
    assert not stub.requests


async def test_an_unusable_answer_is_repaired_once_and_then_abstained_on(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play([half_json()])
    repaired = await checker_of().check(hit("Is it open?", "Open, is it?"))
    assert (repaired.outcome, repaired.usage.calls) == ("accept", 2)
    stub.play(lambda _: nonsense())
    assert _cause(await checker_of().check(hit("Is it shut?", "Shut, is it?"))) == "judge_unusable"


async def test_a_refusal_is_abstained_on_and_an_endpoint_that_is_down_holds_the_record(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play(lambda _: status(400, "content policy"))
    assert _cause(await checker_of().check(hit("Is it open?", "Open, is it?"))) == "judge_failed"
    stub.down()
    with pytest.raises(ModelUnavailable):
        await checker_of().check(hit("Is it shut?", "Shut, is it?"))


async def test_the_same_record_gets_the_same_verdict_whatever_the_deadline(checker_of: MakeChecker) -> None:
    record = hit("One two?", "One three?", candidates=[("Two one", 0.5)])
    first, second = await checker_of().check(record), await checker_of().check(record)
    assert (first.id, first.evidence, first.score) == (second.id, second.evidence, second.score)
    assert checker_of(deadline_seconds=9).config_digest == checker_of().config_digest


async def test_what_bears_on_a_verdict_changes_its_id(checker_of: MakeChecker, tmp_path: Path) -> None:
    built_in = importlib.resources.files("checkers.retrieval.prompts") / "cache.txt"
    own = tmp_path / "cache.txt"
    own.write_text(built_in.read_text().replace("You are exact", "You are quite exact"))
    settings = [{}, {"threshold": 0.7}, {"prompts": {"cache": own}}]
    checkers = [checker_of(**one) for one in settings]
    verdicts = [await checker.check(hit("One two?", "One two?")) for checker in checkers]
    assert len({checker.config_digest for checker in checkers}) == len(settings)
    assert len({verdict.id for verdict in verdicts}) == len(settings)


@pytest.mark.parametrize("place", ["query", "text", "candidate"])
@pytest.mark.parametrize("attack", ATTACKS, ids=name_of)
async def test_attacks_stay_in_their_fence_and_change_no_verdict(
    checker_of: MakeChecker, stub: StubEndpoint, attack, place
) -> None:
    said = attack.response
    if place == "candidate":
        record = hit("Is the desk open?", "Is the desk closed?", candidates=[(said, 0.9)])
    else:
        record = hit(**({"query": "Is the desk open?", "text": "Is the desk closed?"} | {place: said}))
    verdict = await checker_of().check(record)
    assert verdict.outcome == "reject"
    assert _evidence(verdict).better is None
    fences = stub.requests[0].fences
    assert fences["query"] == record.query
    assert json.loads(fences["texts"]) == [record.matched.text, *(one.text for one in record.candidates)]
    spoken = json.dumps(stub.requests[0].body["messages"], ensure_ascii=False)
    for fenced in fences.values():
        spoken = spoken.replace(json.dumps(fenced, ensure_ascii=False)[1:-1], "")
    assert json.dumps(said, ensure_ascii=False)[1:-1] not in spoken


def test_an_unknown_template_is_refused(checker_of: MakeChecker) -> None:
    with pytest.raises(ValueError, match="no template is called 'vault'; allowed are cache, knowledge, question"):
        checker_of(prompts={"vault": "x.txt"})


async def test_a_question_to_a_knowledge_store_must_be_answered_which_is_asked_for_with_a_prompt_of_its_own(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    query = "Is the pool open today?"
    candidates = [("Today is warm.", 0.7), ("Yes, the pool is open today, until ten.", 0.6)]
    record = hit(query, "The pool is open.", store="knowledge", candidates=candidates)
    verdict = await checker_of().check(record)
    assert verdict.outcome == "reject"
    assert "the matched text does not answer the query (0.00)" in verdict.reason
    evidence = _evidence(verdict)
    assert evidence.is_question
    assert list(evidence.prompt_versions) == ["question"]
    assert [one.query_to_text for one in (evidence.matched, *evidence.candidates)] == [None] * 3
    assert evidence.better is not None
    assert evidence.better.id == "c2"
    assert set(stub.requests[0].fences) == {"question", "texts"}
    answered = await checker_of().check(hit(query, candidates[1][0], store="knowledge"))
    assert (answered.outcome, answered.reason) == ("accept", "The matched text answers the query (1.00).")
    assert Verdict.model_validate_json(to_json(verdict)) == verdict


SHOES = hit(
    "Can I return shoes that I have worn?",
    "Can I return shoes that I have not worn?",
    id="shoes",
    candidates=[("May worn shoes be sent back?", 0.91)],
)
PASSAGE = "The Moonlight pass covers the night bus and the last ferry. It is sold on board for nine euros."
SUPPORTED = {
    "name": "Does the Moonlight pass cover the last ferry?",
    "number": "Is the pass sold on board for nine euros?",
    "statement": "The Moonlight pass covers the night bus.",
}
UNSUPPORTED = {
    "other name": "Does the Sunlight pass cover the last ferry?",
    "other number": "Is the pass sold on board for twelve euros?",
    "negation": "The Moonlight pass does not cover the night bus.",
}


def _attacked(attack: Generation, number: int) -> Retrieval:
    """A false hit with the attack after its text, after its query, or in the place of its text."""
    query, text = SHOES.query, SHOES.matched.text
    told = [(query, f"{text} {attack.response}"), (f"{query} {attack.response}", text), (query, attack.response)]
    return hit(*told[number % len(told)], id=attack.id)


@pytest.fixture(scope="module")
def by_local_judge() -> dict[str, Verdict]:
    """Verdicts of the local judge, by record."""
    questions = [
        hit(query, PASSAGE, store="knowledge", id=name) for name, query in {**SUPPORTED, **UNSUPPORTED}.items()
    ]
    attacks = [_attacked(attack, number) for number, attack in enumerate(ATTACKS)]

    # What is loaded in this process is there at once: no question's patience runs out on a busy machine.
    EmbeddingJudge(LocalSettings()).load()

    async def judged() -> list[Verdict]:
        judge = build_model(JudgeSettings())
        checker = RetrievalChecker(RetrievalSettings(deadline_seconds=3600), Models(judge=judge))
        try:
            return await asyncio.gather(*(checker.check(record) for record in (SHOES, *questions, *attacks)))
        finally:
            await judge.close()

    return {verdict.record_id: verdict for verdict in asyncio.run(judged())}


def test_the_local_judge_finds_the_negation_in_a_false_hit(by_local_judge: dict[str, Verdict]) -> None:
    verdict = by_local_judge["shoes"]
    assert verdict.outcome == "reject"
    evidence = _evidence(verdict)
    assert evidence.relation == "negative_expression"
    assert [one.matched for one in evidence.differences] == [("not",)]
    assert evidence.better is not None
    assert evidence.better.id == "c1"


def test_the_local_judge_looks_for_what_a_question_says_in_the_passage(by_local_judge: dict[str, Verdict]) -> None:
    right = [by_local_judge[name].outcome == "accept" for name in SUPPORTED]
    right += [by_local_judge[name].outcome == "reject" for name in UNSUPPORTED]
    assert sum(right) >= 5


@pytest.mark.parametrize("attack", ATTACKS, ids=name_of)
def test_the_local_judge_is_talked_into_nothing(by_local_judge: dict[str, Verdict], attack) -> None:
    assert by_local_judge[attack.id].outcome == "reject"
