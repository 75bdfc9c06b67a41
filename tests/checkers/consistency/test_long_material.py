"""References and responses that a model's window does not take, and calls that take too long."""

from collections.abc import Callable

from checkers.checker import Models
from checkers.consistency.checker import ConsistencyChecker
from checkers.consistency.settings import ConsistencySettings
from schemas import ConsistencyEvidence, Verdict
from tests.checkers.conftest import MakeModel
from tests.checkers.consistency.conftest import MakeChecker, generation
from tests.support.stub_acts import Act, error, good, hang
from tests.support.stub_answers import entries_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

# A third of it speaks of each: the vote, the weather, the roof.
VOTE = "The board approved the budget on Monday. "
WEATHER = "Rain fell over the northern valleys again. "
ROOF = "Workers repaired the roof of the town hall. "
LONG = f"{VOTE * 150}\n\n{WEATHER * 150}\n\n{ROOF * 150}"


def _window(characters: int) -> Callable[[StubRequest], Act]:
    """Refuses what is longer, in the words of OpenAI's endpoint."""

    def play(request: StubRequest) -> Act:
        asked = sum(len(message["content"]) for message in request.body["messages"])
        if asked <= characters:
            return good()
        message = (
            f"This model's maximum context length is {characters // 4} tokens. However, your messages resulted in "
            f"{asked // 4} tokens. Please reduce the length of the messages."
        )
        return error(
            400, {"error": {"message": message, "code": "context_length_exceeded", "type": "invalid_request_error"}}
        )

    return play


def _evidence(verdict: Verdict) -> ConsistencyEvidence:
    assert isinstance(verdict.evidence, ConsistencyEvidence), verdict.reason
    return verdict.evidence


def _answered(stub: StubEndpoint, limit: int) -> list[StubRequest]:
    return [one for one in stub.requests if sum(len(turn["content"]) for turn in one.body["messages"]) <= limit]


async def test_a_long_reference_is_cut_and_one_piece_that_supports_a_sentence_is_enough(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    stub.play(_window(14_000))
    checker = checker_of()
    response = "The board approved the budget. Rain fell over valleys. The chairman resigned."
    evidence = _evidence(await checker.check(generation(response, reference=LONG)))
    assert [found.mark for found in evidence.sentences] == [1, 1, -1]
    pieces = {one.reference for one in _answered(stub, 14_000)}
    assert len(pieces) > 1
    assert all(piece in LONG for piece in pieces)

    stub.requests.clear()
    again = await checker.check(generation(response, reference=f"{LONG} {ROOF}", id="g-2"))
    assert [found.mark for found in _evidence(again).sentences] == [1, 1, -1]
    assert len(_answered(stub, 14_000)) == len(stub.requests), "the size is known: nothing is asked in vain"


async def test_a_window_in_the_settings_is_not_tried_out(model_of: MakeModel, stub: StubEndpoint) -> None:
    checker = ConsistencyChecker(ConsistencySettings(), Models(judge=model_of(context_tokens=4000)))
    evidence = _evidence(await checker.check(generation("Rain fell over valleys.", reference=LONG)))
    assert evidence.sentences[0].mark == 1
    assert len(stub.requests) > 1
    assert all(len(one.reference) < len(LONG) for one in stub.requests)


async def test_pieces_that_contradict_a_sentence_stay_in_the_evidence(
    checker_of: MakeChecker, stub: StubEndpoint
) -> None:
    def answer(request: StubRequest) -> str:
        if "board" in request.reference:
            return entries_of([(1, "approved on Monday", True)])
        silent = "Rain" in request.reference
        return entries_of([(1, "the board is not mentioned" if silent else "workers, where it says members", False)])

    stub.answer = answer
    stub.play(_window(11_000))
    (found,) = _evidence(await checker_of().check(generation("The board approved it.", reference=LONG))).sentences
    assert (found.mark, found.reason) == (1, "approved on Monday")
    assert found.contradicted_by
    for piece in found.contradicted_by:
        assert piece.reason == "workers, where it says members"
        assert ROOF in LONG[piece.start : piece.end]
        assert WEATHER not in LONG[piece.start : piece.end]


async def test_a_long_response_is_shown_in_excerpts(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(_window(9_000))
    response = " ".join([VOTE.strip()] * 200)
    evidence = _evidence(await checker_of().check(generation(response, reference=VOTE)))
    assert [found.mark for found in evidence.sentences] == [1] * 200
    assert all(len(one.fences["response"]) < len(response) for one in _answered(stub, 9_000))


async def test_of_many_sentences_a_call_shows_those_around_its_own(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    texts = [f"The board approved budget {number}." for number in range(60)]
    await checker_of().check(generation(" ".join(texts), reference=VOTE))
    call = next(one for one in stub.requests if 30 in one.numbers)
    first, last = min(call.numbers), max(call.numbers)
    shown = [text for number, text in call.marked.items() if number != call.control]
    assert shown == texts[first - 6 : last + 1]


async def test_a_single_sentence_beyond_the_window_is_too_long(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(_window(9_000))
    verdict = await checker_of().check(generation(f"It rained{' and rained' * 1000}.", reference=LONG))
    assert verdict.evidence.type == "abstention"
    assert verdict.evidence.cause == "too_long"


async def test_a_call_that_is_too_slow_is_asked_in_halves(checker_of: MakeChecker, stub: StubEndpoint) -> None:
    stub.play(lambda request: hang() if len(request.numbers) > 2 else good())
    response = " ".join([VOTE.strip()] * 3 + ["The chairman resigned."])
    evidence = _evidence(await checker_of(answers_within=0.5).check(generation(response, reference=VOTE)))
    assert [found.mark for found in evidence.sentences] == [1, 1, 1, -1]
    assert sorted(one.numbers for one in stub.requests if len(one.numbers) == 2) == [[1, 2], [3, 4]]
