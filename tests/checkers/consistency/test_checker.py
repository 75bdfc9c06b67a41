"""The consistency checker over a real endpoint: what is held against what, what is concluded, what it costs."""

from functools import partial
from typing import Any

import pytest

from schemas import ConsistencyEvidence
from schemas.evidence import SelfTestFigure
from tests.checkers.case import cause_of, evidence_of
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_acts import nonsense
from tests.support.stub_answers import without_claim
from tests.support.stub_endpoint import StubEndpoint

GOOD = "The board approved the budget."
FALSE = "The chairman resigned afterwards."
HELLO = "Thanks for asking about it!"
TWO = f"{GOOD} {FALSE}"


_evidence = partial(evidence_of, ConsistencyEvidence)


async def test_a_faithful_response_is_accepted_with_a_call_and_a_control(checker_of: MakeChecker, stub: StubEndpoint):
    verdict = await checker_of().check(generation(GOOD))
    assert verdict.outcome == "accept"
    assert verdict.score == pytest.approx(1)
    assert verdict.usage.calls == len(stub.requests) == 2


async def test_the_sentence_at_fault_is_named_with_its_place_and_what_is_wrong(checker_of: MakeChecker):
    verdict = await checker_of().check(generation(TWO))
    assert verdict.outcome == "reject"
    fault = _evidence(verdict).sentences[1]
    assert (fault.text, fault.mark, fault.reason) == (FALSE, -1, "not in the reference")
    assert TWO[fault.start : fault.end] == FALSE
    assert FALSE in verdict.reason
    assert "not in the reference" in verdict.reason


async def test_a_courtesy_beside_a_claim_counts_for_nothing_and_is_shown(checker_of: MakeChecker, stub: StubEndpoint):
    stub.answer = without_claim(HELLO)
    for response, outcome in ((f"{HELLO} {GOOD}", "accept"), (f"{GOOD} {HELLO} {FALSE}", "reject")):
        verdict = await checker_of().check(generation(response))
        assert verdict.outcome == outcome
        (empty,) = _evidence(verdict).without_claim
        assert (empty.text, response[empty.start : empty.end]) == (HELLO, HELLO)
        assert HELLO not in [found.text for found in _evidence(verdict).sentences]


async def test_a_response_without_a_claim_is_abstained_on_in_the_judges_name(
    checker_of: MakeChecker, stub: StubEndpoint
):
    stub.answer = without_claim(HELLO, "Which model do you have?")
    verdict = await checker_of().check(generation(f"{HELLO} Which model do you have?"))
    assert cause_of(verdict) == "no_claim"
    assert f"the judge calls no sentence of the response a claim: “{HELLO}”" in verdict.reason


async def test_a_judge_that_says_yes_to_everything_accepts_nothing_and_is_told_to_be_measured(
    checker_of: MakeChecker, stub: StubEndpoint
):
    stub.answer = lambda request: "yes"
    verdict = await checker_of().check(generation(FALSE))
    assert cause_of(verdict) == "judge_misled"
    assert "assay judge check" in verdict.reason


async def test_a_judge_without_a_usable_answer_is_an_abstention(checker_of: MakeChecker, stub: StubEndpoint):
    stub.play(lambda request: nonsense())
    assert cause_of(await checker_of().check(generation(TWO))) == "judge_unusable"


async def test_without_anything_to_hold_it_against_it_abstains(checker_of: MakeChecker, stub: StubEndpoint):
    assert cause_of(await checker_of().check(generation(GOOD, reference=" "))) == "no_reference"
    assert not stub.requests


@pytest.mark.parametrize(("response", "cause"), [(" ... ", "empty_response"), ("It rained. " * 401, "too_long")])
async def test_what_cannot_be_divided_is_abstained_on(checker_of: MakeChecker, response: str, cause: str):
    assert cause_of(await checker_of().check(generation(response))) == cause


async def test_contexts_and_true_answer_are_one_reference(checker_of: MakeChecker, stub: StubEndpoint):
    verdict = await checker_of().check(
        generation(GOOD, reference=None, contexts=["The board met.", "Budget approved."])
    )
    assert _evidence(verdict).against == "contexts"
    assert stub.requests[0].reference == "The board met.\n\nBudget approved."


async def test_without_a_reference_the_other_samples_decide(checker_of: MakeChecker, stub: StubEndpoint):
    samples = ["The board approved the budget.", "A board approved the budget then.", "Nothing happened."]
    verdict = await checker_of().check(generation(GOOD, reference=None, samples=samples))
    assert verdict.outcome == "accept"
    assert verdict.score == pytest.approx(2 / 3)
    assert [agreement.inconsistent for agreement in _evidence(verdict).samples] == [(), (), (0,)]
    assert {request.reference for request in stub.requests if request.reference} == set(samples)


async def test_the_judges_form_and_self_test_are_in_the_evidence_and_bear_on_ids(checker_of: MakeChecker):
    settings: list[dict[str, Any]] = [{}, {}, {"form": "list"}, {"threshold": 1.0}, {"form": "auto", "threshold": None}]
    found = [await checker_of(judge=judge).check(generation(GOOD)) for judge in settings]
    assert found[0].id == found[1].id
    assert len({verdict.id for verdict in found[:4]}) == 3
    forms = [_evidence(verdict).judge_version.split()[0] for verdict in found]
    assert forms == ["short", "short", "list", "short", "short"]
    figures = [_evidence(verdict).self_test for verdict in found]
    assert figures == [None] * 4 + [SelfTestFigure(form="short", accuracy=1.0, pairs=2)]
