"""The forms in which a judge asks whether passages support sentences."""

from itertools import takewhile

import pytest

from models.protocol import ModelFailed
from tests.models.judges.conftest import FALSE, GOOD, PASSAGES, MakeJudge, graded
from tests.support.stub_acts import Act, good, hang, says, status
from tests.support.stub_answers import judge_answer, verdicts_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

LONG = [f"The board approved the budget of Monday {number}." for number in range(15)]
ALL = f"{PASSAGES} {' '.join(LONG)}"


def asked(stub: StubEndpoint, kind: str = "supported") -> list[str]:
    """The sentence of each question, or an answer as a whole."""
    return [request.sentences[0] for request in stub.requests if request.kind == kind]


def parts(stub: StubEndpoint, kind: str = "list") -> list[list[int]]:
    return sorted(
        list(request.numbered) for request in stub.requests if request.kind == kind and 0 not in request.numbered
    )


def prefix(requests: list[StubRequest]) -> str:
    first, second = (str(request.body["messages"]) for request in requests)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


async def test_a_short_answer_is_asked_about_as_a_whole_and_then_by_sentence_if_it_is_not_supported(
    judge_of: MakeJudge, stub: StubEndpoint
):
    grades = await graded(judge_of(), GOOD, "Nobody objected.", prompt="What did they do?")
    assert [one.supported for one in grades] == [True, True]
    # The other one is about a control sentence.
    assert (asked(stub)[0], len(stub.requests)) == (f"{GOOD} Nobody objected.", 2)
    stub.requests.clear()
    grades = await graded(judge_of(), GOOD, FALSE, prompt="What did they do?")
    assert [one.supported for one in grades] == [True, False]
    assert asked(stub)[:3] == [f"{GOOD} {FALSE}", GOOD, FALSE]


async def test_the_answer_as_a_whole_decides_where_each_sentence_alone_pleases(judge_of: MakeJudge, stub: StubEndpoint):
    supports = {GOOD: 0.9, "Nobody objected.": 0.7, f"{GOOD} Nobody objected.": 0.2}
    stub.probability = lambda request, place: supports.get(
        request.sentences[0], 0.9 if request.kind == "informs" else 0
    )
    grades = await graded(judge_of(), GOOD, "Nobody objected.")
    assert [one.support for one in grades] == pytest.approx([0.9, 0.2])


async def test_a_long_answer_is_asked_about_sentence_by_sentence_with_those_around_it_if_it_is_very_long(
    judge_of: MakeJudge, stub: StubEndpoint
):
    grades = await graded(judge_of(), *LONG, reference=ALL)
    assert all(one.supported for one in grades)
    assert asked(stub)[0] == LONG[0]
    assert sorted(asked(stub)[:15]) == sorted(LONG)
    many = [f"The board approved the budget of Monday {number:04}." for number in range(120)]
    await graded(judge_of(), *many, reference=" ".join(many))
    shown = next(one for one in stub.requests if one.sentences == [many[60]]).quotes["Answer"]
    assert shown == " ".join(many[55:62])


async def test_all_questions_of_a_record_share_a_prefix_up_to_the_sentence(judge_of: MakeJudge, stub: StubEndpoint):
    for sentences in ([GOOD, FALSE], LONG[:4]):
        stub.requests.clear()
        await graded(judge_of(), *sentences)
        supported = [request for request in stub.requests if "Sentence of the answer" in request.quotes]
        for other in supported[1:]:
            shared = prefix([supported[0], other])
            assert PASSAGES in shared
            assert shared.rindex(sentences[-1]) < shared.rindex("Sentence of the claim")


async def test_the_list_form_asks_about_at_most_seven_in_parts_of_about_the_same_size(
    judge_of: MakeJudge, stub: StubEndpoint
):
    grades = await graded(judge_of("list"), *LONG, reference=ALL)
    assert all(one.supported for one in grades)
    assert parts(stub) == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]
    # And one about a control sentence, alone.
    assert len(stub.requests) == 4


@pytest.mark.parametrize(
    "reply",
    [
        says(verdicts_of({1: True, 4711: True})),
        says(verdicts_of({1: True})[:-2] + ', {"number": 2, "supp', finish_reason="length"),
    ],
    ids=["lacking", "cut off"],
)
async def test_what_a_list_lacks_is_asked_for_again(judge_of: MakeJudge, stub: StubEndpoint, reply: Act):
    stub.play([reply])
    grades = await graded(judge_of("list"), GOOD, FALSE, "Nobody objected.")
    assert [one.supported for one in grades] == [True, False, True]
    assert parts(stub) == [[1, 2, 3], [2, 3]]


@pytest.mark.parametrize("act", [says('{"verdicts": [{"num', finish_reason="length"), hang()], ids=["cut off", "slow"])
async def test_a_list_without_a_whole_entry_or_in_time_is_asked_for_in_halves(
    judge_of: MakeJudge, stub: StubEndpoint, act: Act
):
    stub.play(lambda request: act if len(request.numbered) > 1 else good())
    grades = await graded(judge_of("list", timeout_seconds=1.0), GOOD, FALSE)
    assert [one.supported for one in grades] == [True, False]
    assert parts(stub)[0] == [1]
    assert parts(stub)[-1] == [2]


async def test_in_the_papers_form_the_reason_comes_first_and_is_what_counts(judge_of: MakeJudge, stub: StubEndpoint):
    def answer(request: StubRequest) -> str:
        if request.kind == "paper":
            return verdicts_of(
                dict.fromkeys(request.numbered, True), dict.fromkeys(request.numbered, "not said at all")
            )
        return judge_answer(request)

    stub.answer = answer
    (grade,) = await graded(judge_of("paper"), GOOD)
    assert (grade.supported, grade.reason) == (False, "not said at all")
    first, second = list(stub.requests)[:2]
    assert (first.kind, second.kind, second.notes) == ("paper", "convert", {1: "not said at all"})
    schema = first.body["response_format"]["json_schema"]["schema"]["$defs"]["ReasonedVerdict"]
    assert list(schema["properties"]) == ["number", "reason", "supported"]


@pytest.mark.parametrize("told", [True, False])
async def test_of_passages_beyond_the_window_the_piece_that_supports_it_most_counts(
    judge_of: MakeJudge, stub: StubEndpoint, told: bool
):
    window = 4000

    def refuses(request: StubRequest) -> Act:
        size = request.size // 4
        return good() if size < window else status(400, f"maximum context length is {window} tokens, got {size} tokens")

    stub.play(refuses)
    reference = f"{'Rain fell over the northern valleys again. ' * 500}\n\n{GOOD}"
    grades = await graded(judge_of(**({"context_tokens": window} if told else {})), GOOD, FALSE, reference=reference)
    assert [one.supported for one in grades] == [True, False]
    assert len({request.reference for request in stub.requests if request.size // 4 < window}) > 1
    assert told is (stub.requests[0].size // 4 < window)


async def test_a_sentence_that_leaves_no_room_for_passages_is_too_long(judge_of: MakeJudge, stub: StubEndpoint):
    with pytest.raises(ModelFailed) as failure:
        await graded(judge_of(context_tokens=4000), f"It rained{' and rained' * 3000}.", reference="It rained. " * 500)
    assert failure.value.cause == "too_long"
