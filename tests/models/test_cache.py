"""Identical questions are asked once."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from models.claims import Claims
from models.meter import MeteredJudge, MeteredModel
from models.protocol import Message, ModelFailed
from models.recording import request_digest
from tests.checkers.graders import ScriptedGrader
from tests.models.asking import Other, question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


async def test_a_question_asked_again_is_answered_from_memory(model: MeteredModel, stub: StubEndpoint) -> None:
    first = await model.ask(question())
    second = await model.ask(question())

    assert second.reply == first.reply
    assert (second.usage.cached, second.usage.calls, second.usage.prompt_tokens, second.usage.cost) == (1, 0, 0, 0)
    assert len(stub.requests) == 1


async def test_identical_questions_under_way_share_one_call(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.delay = 0.1

    answers = await asyncio.gather(*(model.ask(question()) for _ in range(10)))

    assert len(stub.requests) == 1
    assert sum(answer.usage.calls for answer in answers) == 1
    assert sum(answer.usage.cached for answer in answers) == 9


async def test_one_that_leaves_does_not_end_the_call_of_the_others(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.delay = 0.2
    asked = [asyncio.create_task(model.ask(question())) for _ in range(3)]
    while not stub.requests:  # noqa: ASYNC110 the stub lives in another thread
        await asyncio.sleep(0.01)
    asked[0].cancel()

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1].reply == answers[2].reply  # type: ignore[union-attr]
    assert [(answer.usage.calls, answer.usage.cached) for answer in answers[1:]] == [(1, 0), (0, 1)]  # type: ignore[union-attr]
    assert len(stub.requests) == 1


async def test_when_all_have_left_the_call_ends_and_the_next_asks_anew(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.play([stubs.hang()])
    asked = [asyncio.create_task(model.ask(question())) for _ in range(2)]
    while not stub.requests:  # noqa: ASYNC110 the stub lives in another thread
        await asyncio.sleep(0.01)
    for one in asked:
        one.cancel()
    await asyncio.gather(*asked, return_exceptions=True)

    assert (await model.ask(question())).usage.calls == 1
    assert len(stub.requests) == 2


async def test_a_failure_is_told_to_all_who_wait_and_not_kept(model: MeteredModel, stub: StubEndpoint) -> None:
    stub.play([stubs.status(422)])

    endings = await asyncio.gather(*(model.ask(question()) for _ in range(3)), return_exceptions=True)

    assert [type(ending) for ending in endings] == [ModelFailed] * 3
    assert sum(ending.usage.calls for ending in endings if isinstance(ending, ModelFailed)) == 1
    assert (await model.ask(question())).usage.calls == 1


async def test_grades_are_cached_and_shared_as_answers_are() -> None:
    grader = ScriptedGrader(lambda reference, sentence: 0.75)
    judge = MeteredJudge(grader, cached=True)

    answers = [await judge.grade("t", [Claims("r", ("s",), "summary")]) for _ in range(2)]

    assert [answer.reply[0][0].support for answer in answers] == [0.75, 0.75]
    assert [(answer.usage.calls, answer.usage.cached) for answer in answers] == [(1, 0), (0, 1)]


async def test_an_answer_that_is_too_old_is_asked_for_again(
    model_of: MakeModel, stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 0.0
    monkeypatch.setattr("models.meter.time", SimpleNamespace(monotonic=lambda: seconds))
    model = model_of()
    await model.ask(question())
    seconds = 3_599.0
    await model.ask(question())
    assert len(stub.requests) == 1
    seconds = 3_601.0
    await model.ask(question())

    assert len(stub.requests) == 2


CHANGES = {
    "task": {"task": "consistency.answer"},
    "prompt_version": {"prompt_version": "v2"},
    "messages": {"messages": (Message("user", "Compare."),)},
    "role": {"messages": (Message("user", "Compare."), *question().messages[1:])},
    "reply": {"reply": Other},
    "max_tokens": {"max_tokens": 5},
    "graded": {"graded": "is_consistent"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_bears_on_the_answer_is_in_the_digest(change: dict[str, object]) -> None:
    assert request_digest(replace(question(), **change)) != request_digest(question())  # type: ignore[arg-type]


def test_what_does_not_bear_on_the_answer_is_not_in_the_digest() -> None:
    assert request_digest(question(complaint=lambda _: "never")) == request_digest(question())
