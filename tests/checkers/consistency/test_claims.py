"""Sentences that claim nothing count for nothing, and never make an accept by themselves."""

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from schemas import ConsistencyEvidence, Verdict
from tests.checkers.conftest import MakeModel
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_answers import entries_of, without_claim
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

GOOD = "The board approved the budget."
FALSE = "The chairman resigned afterwards."
HELLO = "Thanks for asking about it!"


def _evidence(verdict: Verdict) -> ConsistencyEvidence:
    assert isinstance(verdict.evidence, ConsistencyEvidence), verdict.reason
    return verdict.evidence


def _cause(verdict: Verdict) -> str:
    assert verdict.evidence.type == "abstention", verdict.reason
    return verdict.evidence.cause


@pytest.mark.parametrize("marks_from", ["boolean", "reasons"])
async def test_a_courtesy_beside_a_claim_counts_for_nothing_and_is_shown(
    checker_of: MakeChecker, stub: StubEndpoint, marks_from: str
) -> None:
    def answer(request: StubRequest) -> str:
        if request.reasons:
            assert "a courtesy" not in request.reasons
            return entries_of((number, "it says so", "not" not in told) for number, told in _told(request))
        return without_claim(HELLO)(request)

    stub.answer = answer
    checker = checker_of(marks_from=marks_from)
    for response, outcome, score in ((f"{HELLO} {GOOD}", "accept", 1.0), (f"{GOOD} {HELLO} {FALSE}", "reject", 0.5)):
        verdict = await checker.check(generation(response))
        assert (verdict.outcome, verdict.score) == (outcome, score)
        (empty,) = _evidence(verdict).without_claim
        assert (empty.text, empty.reason, response[empty.start : empty.end]) == (HELLO, "a courtesy", HELLO)
        assert HELLO not in [found.text for found in _evidence(verdict).sentences]


def _told(request: StubRequest) -> list[tuple[int, str]]:
    return list(zip(request.numbers, request.reasons, strict=True))


@pytest.mark.parametrize("marks_from", ["boolean", "reasons"])
async def test_a_response_without_a_claim_is_abstained_on(
    checker_of: MakeChecker, stub: StubEndpoint, marks_from: str
) -> None:
    stub.answer = without_claim(HELLO, "Which model do you have?")
    verdict = await checker_of(marks_from=marks_from).check(generation(f"{HELLO} Which model do you have?"))
    assert (verdict.outcome, _cause(verdict)) == ("abstain", "no_claim")
    assert f"“{HELLO}” a courtesy" in verdict.reason


async def test_a_judge_that_finds_no_claim_anywhere_accepts_nothing(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.adds_control = False
    stub.answer = lambda request: entries_of((number, "no claim", None) for number in request.asked)
    assert _cause(await checker_of().check(generation(f"{FALSE} {GOOD}"))) == "no_claim"


async def test_a_judge_that_finds_no_claim_in_the_control_sentence_is_misled(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.adds_control = False
    stub.answer = lambda request: entries_of(
        (number, "so", True if text == GOOD else None) for number, text in request.asked.items()
    )
    assert _cause(await checker_of().check(generation(f"{GOOD} {FALSE}"))) == "judge_misled"


async def test_one_aspect_that_claims_something_is_a_claim(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.answer = lambda request: entries_of([(1, "thanks", None), (1, "the day is wrong", False), (2, "so", True)])
    verdict = await checker_of().check(generation(f"{HELLO} {GOOD}"))
    assert [(found.mark, found.reason) for found in _evidence(verdict).sentences] == [
        (-1, "the day is wrong"),
        (1, "so"),
    ]


async def test_a_sentence_is_a_claim_where_one_sample_is_held_to_bear_on_it(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    def answer(request: StubRequest) -> str:
        empty = [HELLO, FALSE] if "Nothing" in request.reference else [HELLO]
        return without_claim(*empty)(request)

    stub.answer = answer
    samples = [GOOD, "Nothing happened."]
    verdict = await checker_of().check(generation(f"{HELLO} {FALSE} {GOOD}", reference=None, samples=samples))
    evidence = _evidence(verdict)
    assert [found.text for found in evidence.sentences] == [FALSE, GOOD]
    assert [found.text for found in evidence.without_claim] == [HELLO]
    assert [agreement.inconsistent for agreement in evidence.samples] == [(0,), (1,)]


async def test_a_sentence_is_a_claim_where_one_piece_of_the_reference_is_held_to_bear_on_it(
    model_of: MakeModel, stub: StubEndpoint
) -> None:
    def answer(request: StubRequest) -> str:
        return without_claim(*([HELLO] if "budget" in request.reference else [HELLO, GOOD, FALSE]))(request)

    stub.answer = answer
    reference = "Rain fell over the northern valleys again. " * 300 + GOOD
    checker = ConsistencyChecker(ConsistencySettings(), Models(judge=model_of(context_tokens=3000)))
    evidence = _evidence(await checker.check(generation(f"{GOOD} {HELLO} {FALSE}", reference=reference)))
    assert len({request.reference for request in stub.requests}) > 1
    assert [(found.text, found.mark) for found in evidence.sentences] == [(GOOD, 1), (FALSE, -1)]
    assert [found.text for found in evidence.without_claim] == [HELLO]


async def test_probabilities_belong_to_the_claims(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.answer = without_claim(HELLO)
    stub.probability = lambda request, place: [0.9, 0.3, 0.1][place]
    verdict = await checker_of().check(generation(f"{GOOD} {HELLO} {FALSE}"))
    assert [found.support for found in _evidence(verdict).sentences] == pytest.approx([0.9, 0.3])
    assert _evidence(verdict).score_is == "graded"


async def test_the_form_of_the_reply_allows_for_no_claim(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    await checker_of().check(generation(GOOD))
    schema = stub.requests[0].body["response_format"]["json_schema"]["schema"]
    kinds = schema["$defs"]["Entry"]["properties"]["consistent"]["anyOf"]
    assert kinds == [{"type": "boolean"}, {"type": "null"}]
