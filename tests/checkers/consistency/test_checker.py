"""DCE and AMC over a real endpoint: what is asked, what is concluded, what it costs."""

from itertools import takewhile

import pytest

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from schemas import ConsistencyEvidence, Verdict
from tests.checkers.conftest import MakeModel
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_acts import (
    Act,
    good,
    hang,
    invented_sentence,
    says,
    sentence_too_few,
)
from tests.support.stub_answers import entries_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

GOOD = "The board approved the budget."
FALSE = "The chairman resigned afterwards."
TWO = f"{GOOD} {FALSE}"


def _evidence(verdict: Verdict) -> ConsistencyEvidence:
    assert isinstance(verdict.evidence, ConsistencyEvidence), verdict.reason
    return verdict.evidence


async def test_a_faithful_response_is_accepted_with_one_call(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    verdict = await checker_of().check(generation(GOOD))
    assert (verdict.outcome, verdict.score) == ("accept", 1.0)
    assert verdict.usage.calls == len(stub.requests) == 1
    assert (_evidence(verdict).score_is, _evidence(verdict).overruled) == ("share", 0)


async def test_the_sentence_at_fault_is_named_with_its_place(checker_of: MakeChecker) -> None:
    verdict = await checker_of().check(generation(TWO))
    assert (verdict.outcome, verdict.score) == ("reject", 0.5)
    fault = _evidence(verdict).sentences[1]
    assert (fault.text, fault.mark) == (FALSE, -1)
    assert TWO[fault.start : fault.end] == FALSE
    assert FALSE in verdict.reason


async def test_a_threshold_accepts_less_than_all(checker_of: MakeChecker) -> None:
    verdict = await checker_of(threshold=0.5).check(generation(TWO))
    assert (verdict.outcome, verdict.score) == ("accept", 0.5)


async def test_a_list_is_cut_into_calls_of_about_the_same_size(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    response = " ".join(f"The board met {number}." for number in range(1, 16))
    verdict = await checker_of().check(generation(response))
    assert [found.mark for found in _evidence(verdict).sentences] == [1] * 15
    assert sorted(request.numbers for request in stub.requests) == [
        [1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10],
        [11, 12, 13, 14, 15],
    ]
    assert stub.requests[0].sentences[0].startswith("The board met")


async def test_the_models_token_limit_bounds_a_call_too(model_of: MakeModel, stub: StubEndpoint) -> None:
    for max_tokens, calls in ((60, 4), (180, 2), ("omit", 1)):
        stub.requests.clear()
        checker = ConsistencyChecker(ConsistencySettings(), Models(judge=model_of(max_tokens=max_tokens)))
        await checker.check(generation("The board met. It approved. The budget. Nobody objected."))
        assert len(stub.requests) == calls


def _shared(first: str, second: str) -> str:
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


async def test_the_calls_of_a_record_share_a_prefix_that_holds_the_reference(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    reference = f"The board met. {'It approved the budget. ' * 40}"
    for task in ("summary", "answer", "paraphrase"):
        stub.requests.clear()
        await checker_of(max_tokens=120).check(
            generation(TWO, task=task, reference=reference, prompt="What did they do?")
        )
        first, second = (request.body["messages"] for request in stub.requests)
        assert first[0] == second[0]
        shared = _shared(first[1]["content"], second[1]["content"])
        assert shared.index(reference.strip()) < shared.index("</response-")


async def test_answers_over_the_same_reference_share_a_prefix_that_holds_it(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    reference = f"The board met. {'It approved the budget. ' * 40}"
    for response in ("The board met.", "It approved the budget."):
        await checker_of().check(generation(response, reference=reference))
    first, second = (request.body["messages"][1]["content"] for request in stub.requests)
    assert reference.strip() in _shared(first, second)


def _told(*entries: tuple[int, str, bool]) -> Act:
    return says(entries_of(entries))


async def test_an_entry_about_the_whole_counts_for_nothing(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([_told((0, "as a whole it misleads", False), (1, "the same", True), (2, "not in it", False))])
    verdict = await checker_of().check(generation(TWO))
    assert verdict.score == 0.5
    assert (_evidence(verdict).alpha, _evidence(verdict).beta) == (1, -1)


async def test_one_aspect_at_fault_is_enough(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([_told((1, "the vote is stated", True), (1, "the day is not", False), (2, "the same", True))])
    verdict = await checker_of().check(generation(TWO))
    assert [(found.mark, found.reason) for found in _evidence(verdict).sentences] == [
        (-1, "the day is not"),
        (1, "the same"),
    ]


async def test_only_what_an_answer_lacks_is_asked_again(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([sentence_too_few()])
    verdict = await checker_of().check(generation(TWO))
    assert [found.mark for found in _evidence(verdict).sentences] == [1, -1]
    assert _evidence(verdict).asked_again == 1
    assert [request.numbers for request in stub.requests] == [[1, 2], [2]]


async def test_an_answer_that_is_cut_off_is_asked_again_for_what_it_lacks(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    # One whole entry and the beginning of another.
    stub.play([says(entries_of([(1, "the same", True)])[:-2] + ', {"number": 2, "rea', finish_reason="length")])
    verdict = await checker_of().check(generation(TWO))
    assert [found.mark for found in _evidence(verdict).sentences] == [1, -1]
    assert [request.numbers for request in stub.requests] == [[1, 2], [2]]


async def test_an_answer_cut_off_before_its_first_entry_is_asked_for_in_halves(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    def talkative(request: StubRequest) -> Act:
        return says('{"entries": [{"num', finish_reason="length") if len(request.numbers) > 1 else good()

    stub.play(talkative)
    verdict = await checker_of().check(generation(f"{TWO} {GOOD}"))
    assert [found.mark for found in _evidence(verdict).sentences] == [1, -1, 1]
    assert sorted(request.numbers for request in stub.requests if len(request.numbers) == 1) == [[1], [2], [3]]


@pytest.mark.parametrize("count", [1, 15, 50, 150, 400])
async def test_no_call_asks_for_more_than_a_slow_model_writes_in_time(
    checker_of: MakeChecker, stub: StubEndpoint, count: int
) -> None:
    """Twenty tokens a second, for twenty seconds; every sentence has a reason of twenty words."""
    reason = (
        "the article counts fourteen of them and says of the last that it came a week after all of those others did"
    )

    def answer(request: StubRequest) -> str:
        return entries_of((number, reason, False) for number in request.numbers)

    stub.answer = answer
    stub.play(lambda request: good() if len(answer(request)) / 4 <= 20 * 20 else hang())
    response = " ".join(f"The board met {number}." for number in range(count))
    verdict = await checker_of(answers_within=5).check(generation(response))
    assert len(_evidence(verdict).sentences) == count
    assert len(stub.requests) == verdict.usage.calls == -(-count // 7)


async def test_a_sentence_never_answered_is_abstained_on(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(lambda request: sentence_too_few())
    verdict = await checker_of().check(generation(TWO))
    assert verdict.outcome == "abstain"
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "judge_unusable"


async def test_an_invented_number_never_stands_in_the_evidence(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(lambda request: invented_sentence())
    verdict = await checker_of().check(generation(TWO))
    assert verdict.outcome == "reject"
    assert [found.text for found in _evidence(verdict).sentences] == [GOOD, FALSE]
    assert _evidence(verdict).invented == 1
    assert len(stub.requests) == 1


async def test_without_anything_to_hold_it_against_it_abstains(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    verdict = await checker_of().check(generation(GOOD, reference=" "))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "no_reference"
    assert not stub.requests


async def test_an_empty_response_is_abstained_on(checker_of: MakeChecker) -> None:
    verdict = await checker_of().check(generation(" ... "))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "empty_response"


async def test_contexts_and_true_answer_are_one_reference(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    verdict = await checker_of().check(
        generation(GOOD, reference=None, contexts=["The board met.", "Budget approved."])
    )
    assert _evidence(verdict).against == "contexts"
    assert stub.requests[0].fences["reference"] == "The board met.\n\nBudget approved."


async def test_without_a_reference_the_other_samples_decide(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    samples = ["The board approved the budget.", "A board approved the budget then.", "Nothing happened."]
    verdict = await checker_of().check(generation(GOOD, reference=None, samples=samples))
    assert verdict.outcome == "accept"
    assert verdict.score == pytest.approx(2 / 3)
    assert [agreement.inconsistent for agreement in _evidence(verdict).samples] == [(), (), (0,)]
    assert {request.fences["reference"] for request in stub.requests} == set(samples)


async def test_a_sentence_that_half_of_the_samples_support_is_accepted_and_no_majority_is_claimed(
    checker_of: MakeChecker,
) -> None:
    verdict = await checker_of().check(generation(GOOD, reference=None, samples=[GOOD, "Nothing happened."]))
    assert verdict.outcome == "accept"
    assert _evidence(verdict).sentences[0].support == 0.5
    assert "the other samples on average" in verdict.reason


async def test_the_users_own_template_is_used(checker_of: MakeChecker, stub: StubEndpoint, tmp_path) -> None:  # type: ignore[no-untyped-def]
    template = tmp_path / "mine.txt"
    own = "Be strict with these {{count}}.\n{{response}}\nThe source:\n{{reference}}\nThey are as in {{marks}}.\n"
    template.write_text(f"=== user ===\n{own}Judge sentences {{{{numbers}}}} of it by the source.\n")
    verdict = await checker_of(prompts={"summary": template}).check(generation(GOOD))
    assert verdict.outcome == "accept"
    assert "Be strict with these 2." in stub.requests[0].body["messages"][-1]["content"]


async def test_a_template_of_an_unknown_name_is_refused(checker_of: MakeChecker, tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="allowed are summary, answer"):
        checker_of(prompts={"sumary": tmp_path / "x.txt"})


async def test_long_responses_are_abstained_on(checker_of: MakeChecker) -> None:
    verdict = await checker_of().check(generation(" ".join(["It rained."] * 401)))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "too_long"
