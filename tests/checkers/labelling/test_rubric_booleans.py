"""The laws of and, or, xor and not, with and without a judge, and which questions they leave unasked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.rubric import no_judge
from tests.support.labelling import KnownJudge, rubric_of

SIMPLE = st.sampled_from("abcdef").map(lambda letter: {"contains": letter})
ASKED = st.sampled_from("pqrs").map(lambda letter: {"ask": letter})
CONDITION = st.recursive(
    SIMPLE | ASKED,
    lambda inner: st.one_of(
        inner.map(lambda one: {"not": one}),
        st.lists(inner, min_size=2, max_size=2, unique_by=repr).map(lambda two: {"xor": two}),
        st.lists(inner, min_size=2, max_size=4, unique_by=repr).map(lambda some: {"and": some}),
        st.lists(inner, min_size=2, max_size=4, unique_by=repr).map(lambda some: {"or": some}),
    ),
    max_leaves=12,
)
TRUTHS = st.dictionaries(st.sampled_from("pqrs"), st.booleans())
TEXT = st.text(st.sampled_from("abcdef"), max_size=6)


def value(condition: dict[str, Any], text: str, truths: dict[str, bool]) -> bool:
    ((joint, of),) = condition.items()
    if joint == "contains":
        return of in text
    if joint == "ask":
        return truths.get(of, False)
    if joint == "not":
        return not value(of, text, truths)
    values = [value(one, text, truths) for one in of]
    return {"and": all(values), "or": any(values), "xor": sum(values) == 1}[joint]


@given(CONDITION, TEXT, TRUTHS)
async def test_compounds_are_what_they_say(condition: Any, text: str, truths: dict[str, bool]) -> None:
    rubric = rubric_of(condition)
    judge = KnownJudge(lambda question, _: truths.get(question, False))
    assert await rubric.bits(text, judge) == (value(condition, text, truths),)
    for criterion, bit in zip(rubric.total, await rubric.total_bits(text, judge), strict=True):
        assert await criterion.condition.holds(text, judge) == bit


@given(SIMPLE, SIMPLE, TEXT)
async def test_laws(a: Any, b: Any, text: str) -> None:
    if a == b:
        return
    rubric = rubric_of(
        {"not": {"and": [a, b]}},
        {"or": [{"not": a}, {"not": b}]},
        {"xor": [a, b]},
        {"xor": [b, a]},
        {"and": [{"or": [a, b]}, {"not": {"and": [a, b]}}]},
        {"xor": [{"not": a}, b]},
        {"not": {"xor": [a, b]}},
        {"not": {"not": a}},
        a,
    )
    nand, or_of_nots, xor, turned, spelled, half, xnor, twice, once = await rubric.bits(text, no_judge)
    assert nand == or_of_nots
    assert xor == turned == spelled
    assert half == xnor == 1 - xor
    assert twice == once


@given(CONDITION, TEXT, TRUTHS)
async def test_no_question_is_asked_twice(condition: Any, text: str, truths: dict[str, bool]) -> None:
    for encode in ("bits", "total_bits"):
        judge = KnownJudge(lambda question, _: truths.get(question, False))
        await getattr(rubric_of(condition), encode)(text, judge)
        assert all(count == 1 for count in judge.asked.values())


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ({"or": [{"ask": "p"}, {"contains": "a"}]}, []),
        ({"and": [{"ask": "p"}, {"contains": "z"}]}, []),
        ({"and": [{"ask": "p"}, {"contains": "a"}]}, ["p"]),
        ({"or": [{"ask": "p"}, {"ask": "q"}]}, ["p"]),
        ({"and": [{"ask": "p"}, {"ask": "q"}]}, ["p", "q"]),
        ({"xor": [{"ask": "p"}, {"contains": "a"}]}, ["p"]),
        ({"and": [{"or": [{"ask": "p"}, {"contains": "a"}]}, {"ask": "q"}]}, ["q"]),
        ({"not": {"or": [{"ask": "p"}, {"contains": "a"}]}}, []),
        ({"not": {"ask": "p"}}, ["p"]),
    ],
)
async def test_the_judge_is_asked_only_what_the_bit_turns_on(condition: Any, asked: list[str]) -> None:
    judge = KnownJudge()
    await rubric_of(condition).bits("a", judge)
    assert [question for question, _ in judge.asked] == asked


async def test_the_total_rubric_needs_every_answer() -> None:
    judge = KnownJudge()
    rubric = rubric_of({"or": [{"contains": "a"}, {"and": [{"ask": "p"}, {"ask": "q"}]}]})
    assert await rubric.total_bits("a", judge) == (1, 1, 1, 1, 1)
    assert [question for question, _ in judge.asked] == ["p", "q"]
