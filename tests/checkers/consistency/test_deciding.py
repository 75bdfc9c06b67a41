"""From booleans and reasons to marks: the boolean decides, or with AMC what a reader of the reason says."""

from collections.abc import Callable

import pytest

from schemas import ConsistencyEvidence, Verdict
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_acts import good, says
from tests.support.stub_answers import entries_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

# The mark that a reader of each reason gives. The first two begin as if all were well.
READ = {
    "This sentence is consistent with the article's topic. It adds that he resigned, which is invented.": -1,
    "Supported as far as the meeting goes, but who won is left open by the article.": -1,
    "The article gives Tuesday, the sentence Monday, so the day is wrong.": -1,
    "The fine is not mentioned anywhere.": -1,
    "It repeats the article word for word.": 1,
    "Nothing in it is wrong; the day and the names are those of the article.": 1,
    "It does not contradict the article; the vote and its result are both there.": 1,
}
SENTENCE = "The board approved the budget."


def _evidence(verdict: Verdict) -> ConsistencyEvidence:
    assert isinstance(verdict.evidence, ConsistencyEvidence), verdict.reason
    return verdict.evidence


def _judge(reasons: dict[str, bool]) -> Callable[[StubRequest], str]:
    """Gives these reasons and booleans for the sentences in turn, and reads a reason as the reader does."""

    def answer(request: StubRequest) -> str:
        if request.reasons:
            read = [READ[reason] > 0 for reason in request.reasons]
            return entries_of(zip(request.numbers, request.reasons, read, strict=True))
        told = list(reasons.items())
        return entries_of((number, *told[number - 1]) for number in request.numbers)

    return answer


@pytest.mark.parametrize("said", [True, False])
async def test_the_boolean_decides_whatever_the_reason_beside_it_says(
    checker_of: MakeChecker, stub: StubEndpoint, said: bool
) -> None:
    stub.answer = _judge(dict.fromkeys(READ, said))
    evidence = _evidence(await checker_of().check(generation(" ".join(SENTENCE for _ in READ))))
    assert {found.mark for found in evidence.sentences} == {1 if said else -1}
    assert {found.converted for found in evidence.sentences} == {"boolean"}
    assert (len(stub.requests), evidence.overruled, "convert" in evidence.prompt_versions) == (1, 0, False)


@pytest.mark.parametrize("said", [True, False])
async def test_the_papers_way_has_every_reason_read(checker_of: MakeChecker, stub: StubEndpoint, said: bool) -> None:
    stub.answer = _judge(dict.fromkeys(READ, said))
    evidence = _evidence(await checker_of(marks_from="reasons").check(generation(" ".join(SENTENCE for _ in READ))))
    assert {found.reason: found.mark for found in evidence.sentences} == READ
    assert {found.converted for found in evidence.sentences} == {"asked"}
    assert sorted(reason for request in stub.requests for reason in request.reasons) == sorted(READ)
    assert evidence.overruled == sum((mark > 0) != said for mark in READ.values())
    assert evidence.is_consistent is said
    assert "convert" in evidence.prompt_versions


async def test_a_conversion_without_a_usable_answer_is_an_abstention(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play(lambda request: says('{"entries": []}') if request.reasons else good())
    verdict = await checker_of(marks_from="reasons").check(generation(SENTENCE))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "judge_unusable"


async def test_probabilities_become_supports_and_the_score_ranks(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    for probable in (0.9, 0.6):
        stub.answer = _judge({"the vote on Monday": True, "not in it": False})
        stub.probability = lambda request, place, first=probable: {1: first, 2: 0.2}[request.numbers[0]]
        verdict = await checker_of(max_tokens=120).check(generation(f"{SENTENCE} {SENTENCE}"))
        evidence = _evidence(verdict)
        assert [found.support for found in evidence.sentences] == pytest.approx([probable, 0.2])
        assert evidence.score_is == "graded"
        assert verdict.score == pytest.approx(0.6 * (probable + 0.2) / 2 + 0.4 * 0.2)
        assert evidence.consistent_share == 0.5


async def test_where_amc_decides_its_probability_counts(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.answer = _judge({next(iter(READ)): True})
    stub.probability = lambda request, place: 0.1 if request.reasons else 0.95
    verdict = await checker_of(marks_from="reasons").check(generation(SENTENCE))
    (found,) = _evidence(verdict).sentences
    assert (found.mark, found.converted) == (-1, "asked")
    assert (verdict.score, found.support) == pytest.approx((0.1, 0.1))


async def test_without_probabilities_the_score_is_a_share(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.answer = _judge({"the vote on Monday": True, "not in it": False})
    verdict = await checker_of().check(generation(f"{SENTENCE} {SENTENCE}"))
    assert (verdict.score, _evidence(verdict).score_is) == (0.5, "share")
    assert [found.support for found in _evidence(verdict).sentences] == [None, None]


async def test_a_response_that_is_accepted_may_have_a_lower_score_than_one_that_is_rejected(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    """The share of consistent sentences decides; the score ranks."""
    stub.answer = _judge({"the vote on Monday": True, "not in it": False})
    supports = {1: 0.55, 2: 0.49}
    stub.probability = lambda request, place: supports[request.numbers[0]]
    checker = checker_of(max_tokens=120)
    accepted = await checker.check(generation(SENTENCE))
    supports[1] = 0.99
    rejected = await checker.check(generation(f"{SENTENCE} {SENTENCE} "))
    assert (accepted.outcome, rejected.outcome) == ("accept", "reject")
    assert accepted.score < rejected.score
    assert _evidence(rejected).consistent_share < _evidence(rejected).threshold == _evidence(accepted).consistent_share
