"""What a judge behind an endpoint makes of answers: refusals, courtesies, controls, reasons; other kinds of claims."""

import json

import pytest

from models.protocol import ClaimKind, ModelFailed
from tests.models.judges.conftest import FALSE, GOOD, PASSAGES, MakeJudge, graded
from tests.support.stub_acts import good, says
from tests.support.stub_answers import judge_answer, without_claim
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

REFUSAL = "I am afraid the minutes leave that open."
HELLO = "Thanks for asking about it!"


def kinds(stub: StubEndpoint) -> list[str]:
    return [request.kind for request in stub.requests]


@pytest.mark.parametrize("answerable", [True, False])
@pytest.mark.parametrize("form", ["short", "list"])
async def test_a_refusal_is_right_where_the_passages_do_not_hold_the_answer(
    judge_of: MakeJudge, stub: StubEndpoint, answerable: bool, form: str
):
    def answer(request: StubRequest) -> str:
        if request.kind == "answerable":
            assert request.quotes == {"Passages": PASSAGES, "Question": "Who resigned?"}
            return "yes" if answerable else "no"
        return without_claim(REFUSAL)(request)

    stub.answer = answer
    (grade,) = await graded(judge_of(form), REFUSAL, prompt="Who resigned?")
    assert grade.supported is not answerable
    assert not grade.claims_nothing


@pytest.mark.parametrize("prompt", [None, "What did they do?"])
async def test_a_sentence_that_gives_no_information_counts_for_nothing(
    judge_of: MakeJudge, stub: StubEndpoint, prompt: str | None
):
    stub.answer = without_claim(HELLO)
    sentences = (HELLO, GOOD, "Nobody objected.", FALSE)
    grades = await graded(judge_of(), *sentences, prompt=prompt)
    assert [one.claims_nothing for one in grades] == [True, False, False, False]
    assert [one.supported for one in grades[1:]] == [True, True, False]
    # What is supported claims something, and is not asked about.
    informs = [request.quotes["Answer"] for request in stub.requests if request.kind == "informs"]
    assert {GOOD, "Nobody objected."}.isdisjoint(informs)


@pytest.mark.parametrize("form", ["short", "list", "paper"])
async def test_a_judge_that_supports_controls_too_is_misled(judge_of: MakeJudge, stub: StubEndpoint, form: str):
    def credulous(request: StubRequest) -> str:
        return judge_answer(request).replace("false", "true").replace("no", "yes")

    stub.answer = credulous
    assert [one.misled for one in await graded(judge_of(form), GOOD, FALSE)] == [True, True]


@pytest.mark.parametrize("weak", [1, 2])
async def test_a_weak_yes_or_two_to_controls_are_followed_by_another(
    judge_of: MakeJudge, stub: StubEndpoint, weak: int
):
    controls: list[str] = []

    def answer(request: StubRequest) -> str:
        if "Sentence of the answer" in request.quotes:
            controls.append(request.sentences[0])
            return "yes" if len(controls) <= weak else "no"
        return judge_answer(request)

    stub.answer = answer
    (grade,) = await graded(judge_of(), GOOD)
    assert (grade.supported, grade.misled, len(set(controls))) == (True, False, weak + 1)


async def test_reasons_are_asked_for_what_is_rejected_alone_and_controls_where_anything_is_supported(
    judge_of: MakeJudge, stub: StubEndpoint
):
    grades = await graded(judge_of(), GOOD, FALSE)
    asked = [request.sentences for request in stub.requests if request.kind == "reason"]
    assert asked == [[FALSE]]
    assert grades[1].reason == "not in the reference"
    assert grades[0].reason == "the judge finds it supported (probability 1.00)"
    stub.requests.clear()
    await graded(judge_of(), FALSE)
    assert kinds(stub) == ["supported", "informs", "reason"]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("the chairman resigned", False),
        ("the passages give 17 votes", False),
        ("the passages give 12 votes, not 17", True),
    ],
)
async def test_a_reason_that_repeats_the_sentence_or_has_figures_of_its_own_is_left_out(
    judge_of: MakeJudge, stub: StubEndpoint, told: str, kept: bool
):
    stub.play(lambda request: says(json.dumps({"reason": told})) if request.kind == "reason" else good())
    (grade,) = await graded(judge_of(), FALSE, reference=f"{PASSAGES} It had 12 votes.")
    assert grade.reason == (told if kept else "the judge does not find it supported (probability 0.00)")


@pytest.mark.parametrize(
    ("kind", "name", "shown"),
    [
        (ClaimKind.ENTAILMENT, "entails", {"First text": "A.", "Second text": "B."}),
        (ClaimKind.ANSWERABILITY, "answerable", {"Passages": "A.", "Question": "B."}),
        (ClaimKind.STATEMENT, "true_statement", {"Statement": "B."}),
        (
            ClaimKind.PHRASE,
            "same_phrase",
            {"First text": "A.", "Second text": "B.", "Phrase of the first": "A.", "Phrase of the second": "B."},
        ),
    ],
)
async def test_other_kinds_of_claims_are_a_plain_question_each(
    judge_of: MakeJudge, stub: StubEndpoint, kind: ClaimKind, name: str, shown: dict[str, str]
):
    stub.answer = lambda request: "yes"
    stub.probability = lambda request, place: 0.7
    (grade,) = await graded(judge_of(), "B.", reference="A.", kind=kind)
    assert grade.support == pytest.approx(0.7)
    (request,) = stub.requests
    assert (request.kind, request.quotes) == (name, shown)


async def test_a_paraphrase_must_follow_both_ways(judge_of: MakeJudge, stub: StubEndpoint):
    supports = {("A.", "B."): 0.9, ("B.", "A."): 0.3}
    stub.probability = lambda request, place: supports[request.quotes["First text"], request.quotes["Second text"]]
    (grade,) = await graded(judge_of(), "B.", reference="A.", kind=ClaimKind.PARAPHRASE)
    assert grade.support == pytest.approx(0.3)
    assert len(stub.requests) == 2


async def test_nothing_is_held_against_an_empty_text(judge_of: MakeJudge, stub: StubEndpoint):
    with pytest.raises(ModelFailed, match="is empty"):
        await graded(judge_of(), GOOD, reference=" ")
    assert not stub.requests
