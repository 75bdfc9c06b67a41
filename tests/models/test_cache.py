"""Identical questions are asked once; kinds of claims and causes of failures go by their values."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from models.meter import MeteredJudge, MeteredModel, request_digest
from models.protocol import ClaimKind, Claims, Message, ModelFailed
from schemas.evidence import AbstentionCause, JudgeCause, SubjectCause
from tests.checkers.graders import ScriptedGrader
from tests.models.asking import Other, question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


async def test_identical_questions_share_one_call_also_while_it_is_under_way(model: MeteredModel, stub: StubEndpoint):
    stub.delay = 0.1

    answers = await asyncio.gather(*(model.ask(question()) for _ in range(10)))
    answers.append(await model.ask(question()))

    assert len(stub.requests) == 1
    assert {answer.reply for answer in answers} == {answers[0].reply}
    assert Counter((one.usage.calls, one.usage.cached, one.usage.cost) for one in answers) == {
        (1, 0, 0): 1,
        (0, 1, 0): 10,
    }


async def test_one_that_leaves_does_not_end_the_call_of_the_others(model: MeteredModel, stub: StubEndpoint):
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


async def test_when_all_have_left_the_call_ends_and_the_next_asks_anew(model: MeteredModel, stub: StubEndpoint):
    stub.play([stubs.hang()])
    asked = [asyncio.create_task(model.ask(question())) for _ in range(2)]
    while not stub.requests:  # noqa: ASYNC110 the stub lives in another thread
        await asyncio.sleep(0.01)
    for one in asked:
        one.cancel()
    await asyncio.gather(*asked, return_exceptions=True)

    assert (await model.ask(question())).usage.calls == 1
    assert len(stub.requests) == 2


async def test_a_failure_is_told_to_all_who_wait_and_not_kept(model: MeteredModel, stub: StubEndpoint):
    stub.play([stubs.status(422)])

    endings = await asyncio.gather(*(model.ask(question()) for _ in range(3)), return_exceptions=True)

    assert [type(ending) for ending in endings] == [ModelFailed] * 3
    assert sum(ending.usage.calls for ending in endings if isinstance(ending, ModelFailed)) == 1
    assert (await model.ask(question())).usage.calls == 1


async def test_grades_are_cached_and_shared_as_answers_are():
    grader = ScriptedGrader(lambda reference, sentence: 0.75)
    judge = MeteredJudge(grader)

    answers = [await judge.grade("t", [Claims("r", ("s",), "summary")]) for _ in range(2)]

    assert [answer.reply[0][0].support for answer in answers] == [0.75, 0.75]
    assert [(answer.usage.calls, answer.usage.cached) for answer in answers] == [(1, 0), (0, 1)]


async def test_an_answer_that_is_too_old_is_asked_for_again(
    model_of: MakeModel, stub: StubEndpoint, monkeypatch: pytest.MonkeyPatch
):
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


def test_whatever_bears_on_the_answer_is_in_the_digest_and_nothing_else_is():
    changes: list[dict[str, Any]] = [
        {},
        {"task": "consistency.answer"},
        {"prompt_version": "v2"},
        {"messages": (Message("user", "Compare."),)},
        {"messages": (Message("user", "Compare."), *question().messages[1:])},
        {"reply": Other},
        {"max_tokens": 5},
        {"graded": "is_consistent"},
        {"number": 1},
        {"number": 2},
    ]
    assert len({request_digest(question(**change)) for change in changes}) == len(changes)
    assert request_digest(question(complaint=lambda _: "never")) == request_digest(question())


def test_the_value_of_a_kind_stands_for_it_and_no_other():
    assert Claims("r", ("s",), "summary").kind is ClaimKind.SUMMARY  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'summery' is not a valid ClaimKind"):
        Claims("r", ("s",), "summery")  # type: ignore[arg-type]


def test_a_cause_is_that_of_an_abstention_and_has_its_like_for_subjects():
    for cause in get_args(JudgeCause):
        of_subject = ModelFailed("no answer", cause=cause).cause_of_subject
        assert {cause, of_subject} <= set(get_args(AbstentionCause))
        assert of_subject == cause.replace("judge_", "subject_")
        assert of_subject in get_args(SubjectCause)
