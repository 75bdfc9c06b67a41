"""DCE and AMC over a real endpoint: what is asked, what is concluded, what it costs."""

from collections.abc import Callable

import orjson
import pytest

from schemas import ConsistencyEvidence, Verdict
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_endpoint import (
    Act,
    StubEndpoint,
    close,
    good,
    half_json,
    hang,
    invented_sentence,
    nonsense,
    says,
    sentence_too_few,
    status,
    too_many,
)

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
    assert _evidence(verdict).calls_saved == 1


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


async def test_each_sentence_in_a_call_of_its_own(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    verdict = await checker_of(calls="per_sentence").check(generation(TWO))
    assert [request.sentences for request in stub.requests] == [[GOOD], [FALSE]]
    assert [found.mark for found in _evidence(verdict).sentences] == [1, -1]


async def test_the_whole_response_as_one(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    answer = {"sentence": "The board", "reason": "This answer is not consistent with the passages: nobody resigned."}
    stub.play([says(orjson.dumps({"reason": [answer], "is_consistent": False}).decode())])
    verdict = await checker_of(granularity="paragraph").check(generation(TWO, task="answer"))
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)
    assert [found.text for found in _evidence(verdict).sentences] == [TWO]


async def test_dce_alone_takes_the_judges_flag(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    verdict = await checker_of(marks_from="flag").check(generation(TWO))
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)
    assert len(stub.requests) == 1


def _marks(*marks: int) -> Act:
    return says(orjson.dumps({"reason": ["so it says"] * len(marks), "answer": list(marks)}).decode())


def _with_reasons(*reasons: str) -> Act:
    """The answer about TWO with these reasons."""

    def change(text: str) -> str:
        reply = orjson.loads(text)
        for entry, reason in zip(reply["reason"], reasons, strict=True):
            entry["reason"] = reason
        return orjson.dumps(reply).decode()

    return Act(change=change)


async def test_only_reasons_without_a_clear_opening_are_converted_by_asking(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play([_with_reasons("This sentence is consistent with the article.", "Nobody resigned."), _marks(-1)])
    verdict = await checker_of().check(generation(TWO))
    assert [found.converted for found in _evidence(verdict).sentences] == ["opening", "asked"]
    assert [found.mark for found in _evidence(verdict).sentences] == [1, -1]
    assert orjson.loads(stub.requests[1].fences["reasons"]) == ["Nobody resigned."]
    assert verdict.usage.calls == 2


async def test_the_papers_mode_always_asks(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([good(), _marks(1, -1)])
    verdict = await checker_of(convert="always_ask").check(generation(TWO))
    assert verdict.score == 0.5
    assert _evidence(verdict).calls_saved == 0


async def test_a_wrong_number_of_marks_is_asked_again_and_then_abstained_on(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play([good(), _marks(1), _marks(1, 1, 1)])
    verdict = await checker_of(convert="always_ask").check(generation(TWO))
    assert verdict.outcome == "abstain"
    assert verdict.evidence.type == "abstention"
    assert verdict.usage.calls == 3


async def test_an_entry_about_the_whole_counts_for_nothing(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    def change(text: str) -> str:
        reply = orjson.loads(text)
        whole = {"sentence": TWO, "reason": "This summary is not consistent with the article."}
        return orjson.dumps({**reply, "reason": [whole, *reply["reason"]]}).decode()

    stub.play([Act(change=change)])
    verdict = await checker_of().check(generation(TWO))
    assert verdict.score == 0.5
    assert (_evidence(verdict).alpha, _evidence(verdict).beta) == (1, -1)


async def test_a_sentence_too_few_is_asked_about_again(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([sentence_too_few()])
    verdict = await checker_of().check(generation(TWO))
    assert [found.mark for found in _evidence(verdict).sentences] == [1, -1]
    assert _evidence(verdict).asked_again == 1


async def test_a_sentence_left_out_twice_is_asked_about_alone(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([sentence_too_few(), sentence_too_few()])
    verdict = await checker_of().check(generation(TWO))
    assert verdict.outcome == "reject"
    assert stub.requests[2].sentences == [FALSE]


async def test_a_sentence_never_answered_is_abstained_on(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(lambda request: sentence_too_few())
    verdict = await checker_of().check(generation(TWO))
    assert verdict.outcome == "abstain"


async def test_an_invented_sentence_never_stands_in_the_evidence(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(lambda request: invented_sentence())
    verdict = await checker_of().check(generation(TWO))
    assert verdict.outcome == "reject"
    assert [found.text for found in _evidence(verdict).sentences] == [GOOD, FALSE]
    assert _evidence(verdict).invented == 1
    assert len(stub.requests) == 2


@pytest.mark.parametrize(
    ("act", "cause"),
    [
        (nonsense, "judge_unusable"),
        (half_json, "judge_unusable"),
        (lambda: says(""), "judge_unusable"),
        (lambda: says('{"reason": [], "is_consistent": true}'), "judge_unusable"),
        (lambda: says('{"reason": [], "reason": [], "is_consistent": true}'), "judge_unusable"),
        (lambda: status(500), "judge_failed"),
        (lambda: status(422), "judge_failed"),
        (close, "judge_failed"),
    ],
    ids=["nonsense", "half-json", "empty", "no-entries", "duplicate-keys", "500", "422", "closed"],
)
async def test_a_judge_that_keeps_failing_is_an_abstention_that_says_why(
    checker_of: MakeChecker, stub: StubEndpoint, act: Callable[[], Act], cause: str
) -> None:
    stub.play(lambda request: act())
    verdict = await checker_of().check(generation(GOOD))
    assert (verdict.outcome, verdict.score) == ("abstain", None)
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == cause
    assert verdict.usage.calls == len(stub.requests)


async def test_a_question_that_the_judge_never_answers_is_an_abstention(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play(lambda request: hang() if request.sentences else good())
    verdict = await checker_of(answers_within=0.1).check(generation(GOOD))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "judge_slow"


async def test_one_hung_question_is_asked_again(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play([hang()])
    verdict = await checker_of(answers_within=2).check(generation(TWO))
    assert (verdict.outcome, verdict.score) == ("reject", 0.5)


@pytest.mark.parametrize(
    "act",
    [nonsense(), half_json(), sentence_too_few(), invented_sentence(), too_many("0.1"), status(500), close()],
    ids=["nonsense", "half-json", "too-few", "invented", "429", "500", "closed"],
)
async def test_a_single_failure_does_not_change_the_verdict(
    checker_of: MakeChecker, stub: StubEndpoint, act: Act
) -> None:
    stub.play([act])
    verdict = await checker_of().check(generation(TWO))
    assert (verdict.outcome, verdict.score) == ("reject", 0.5)


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


async def test_the_same_record_has_the_same_verdict_id(checker_of: MakeChecker) -> None:
    checker = checker_of()
    first, second = [await checker.check(generation(GOOD)) for _ in range(2)]
    assert first.id == second.id
    assert second.usage.calls == 0
    assert second.usage.cached == 1


async def test_another_configuration_has_another_verdict_id(checker_of: MakeChecker) -> None:
    first = await checker_of().check(generation(GOOD))
    second = await checker_of(threshold=0.9).check(generation(GOOD))
    assert first.id != second.id


async def test_the_users_own_template_is_used(checker_of: MakeChecker, stub: StubEndpoint, tmp_path) -> None:  # type: ignore[no-untyped-def]
    template = tmp_path / "mine.txt"
    template.write_text("=== user ===\nBe strict with these {{count}}.\n{{sentences}}\nThe source:\n{{reference}}\n")
    verdict = await checker_of(prompts={"summary": template}).check(generation(GOOD))
    assert verdict.outcome == "accept"
    assert "Be strict with these 1." in stub.requests[0].body["messages"][-1]["content"]


async def test_a_template_of_an_unknown_name_is_refused(checker_of: MakeChecker, tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="allowed are summary, answer"):
        checker_of(prompts={"sumary": tmp_path / "x.txt"})


async def test_long_responses_are_abstained_on(checker_of: MakeChecker) -> None:
    verdict = await checker_of(max_sentences=1).check(generation(TWO))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "too_long"


async def test_an_endless_check_ends_at_its_deadline(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(lambda request: hang())
    verdict = await checker_of(deadline_seconds=0.1).check(generation(GOOD))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "timeout"
