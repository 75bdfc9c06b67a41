"""Criteria in plain language."""

import asyncio

import pytest
from pydantic import JsonValue

from assay.testing import ScriptedJudge
from checkers.labelling.labeller_questions import CriterionJudge
from models.claims import ClaimKind
from models.protocol import ModelFailed
from tests.support.labelling import KnownJudge, rubric_of

TICKET: JsonValue = {"subject": "Help", "body": "It is on fire."}


async def test_the_judge_is_shown_the_datapoint_or_the_field() -> None:
    judge = KnownJudge(lambda question, x: question == "Is it short?" or x == "It is on fire.")
    rubric = rubric_of({"ask": "Is it short?"}, {"field": "body", "ask": "Is it urgent?"})
    assert await rubric.bits(TICKET, judge) == (1, 1)
    assert list(judge.asked) == [
        ("Is it short?", '{"subject": "Help", "body": "It is on fire."}'),
        ("Is it urgent?", '"It is on fire."'),
    ]


async def test_the_same_question_about_two_fields_is_two() -> None:
    judge = KnownJudge(lambda _, x: x == "Help")
    ask = "Is it polite?"
    rubric = rubric_of({"and": [{"field": "subject", "ask": ask}, {"field": "body", "ask": ask}]})
    assert await rubric.total_bits(TICKET, judge) == (0, 1, 0)


async def test_nothing_is_asked_about_what_is_missing() -> None:
    judge = KnownJudge()
    rubric = rubric_of({"field": "from", "ask": "Is it a person?"}, {"not": {"field": "body.x", "ask": "Is it?"}})
    assert await rubric.bits(TICKET, judge) == (0, 1)
    assert await rubric.total_bits(TICKET, judge) == (0, 1)
    assert not judge.asked


async def test_questions_are_asked_at_once() -> None:
    together = asyncio.Barrier(4)

    class Meeting:
        async def __call__(self, criterion: str, x: JsonValue) -> bool:
            await together.wait()
            return True

    rubric = rubric_of({"ask": "p"}, {"ask": "q"}, {"xor": [{"ask": "r"}, {"ask": "s"}]})
    assert await rubric.total_bits("x", Meeting()) == (1, 1, 0, 1, 1)


async def test_what_the_judge_raises_is_raised() -> None:
    class Broken:
        async def __call__(self, criterion: str, x: JsonValue) -> bool:
            raise ModelFailed("no answer", cause="judge_failed")

    rubric = rubric_of({"contains": "a"}, {"ask": "p"}, {"ask": "q"})
    for encode in (rubric.bits, rubric.total_bits):
        with pytest.raises(ModelFailed, match="no answer"):
            await encode("a", Broken())


def test_only_criteria_that_ask_are_plain() -> None:
    rubric = rubric_of({"contains": "a"}, {"or": [{"starts": "b"}, {"not": {"ask": "p"}}]})
    assert [(one.name, one.plain) for one in rubric.total] == [
        ("c0", False),
        ("c1", True),
        ("c1.1", False),
        ("c1.2", True),
    ]
    assert rubric.plain
    assert not rubric_of({"contains": "a"}).plain


async def test_the_judge_is_asked_whether_a_datapoint_meets_a_criterion_and_about_each_pair_once() -> None:
    judge = ScriptedJudge(1.0, 0.0, 1.0, 0.0)
    holds = CriterionJudge(judge)
    assert [await holds("Is it?", x) for x in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "a", "a")] == [1, 1, 0, 0]
    assert await holds("Else?", "a")
    assert not await holds("Is it?", "b")
    assert [(one.kind, one.reference, one.sentences) for one in judge.claims] == [
        (ClaimKind.CRITERION, '{"a": 1, "b": 2}', ("Is it?",)),
        (ClaimKind.CRITERION, "a", ("Is it?",)),
        (ClaimKind.CRITERION, "a", ("Else?",)),
        (ClaimKind.CRITERION, "b", ("Is it?",)),
    ]
