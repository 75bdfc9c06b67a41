"""Conditions on datapoints, each against a second formulation in plain Python."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from checkers.labelling.rubric import no_judge
from tests.support.labelling import rubric_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
LITERAL = st.text(st.sampled_from("ab1 ß_"), min_size=1, max_size=3)
TEXT = st.text(st.sampled_from("aAbB1 ßẞ_.İ"), max_size=12)


async def bit(condition: Any, x: JsonValue) -> bool:
    bits = await rubric_of(condition).bits(x, no_judge)
    return bool(bits[0])


@given(LITERAL, TEXT)
async def test_texts(literal: str, text: str) -> None:
    assert await bit({"contains": literal}, text) == (literal in text)
    assert await bit({"starts": literal}, text) == (text[: len(literal)] == literal)
    assert await bit({"ends": literal}, text) == (text[-len(literal) :] == literal)
    assert await bit({"equals": literal}, text) == (literal == text)
    assert await bit({"in": [literal, "a"]}, text) == (text in {literal, "a"})
    assert await bit({"matches": re.escape(literal)}, text) == (literal in text)


@given(LITERAL, TEXT, st.integers(0, 4))
async def test_counts(literal: str, text: str, number: int) -> None:
    found = len(re.findall(re.escape(literal), text))
    assert await bit({"count": literal, "is": number}, text) == (found == number)
    assert await bit({"count": {"matches": re.escape(literal)}, "is": number}, text) == (found == number)
    words = len(re.findall(rf"(?<!\w){re.escape(literal)}(?!\w)", text))
    assert await bit({"count": {"word": literal}, "is": number}, text) == (words == number)


async def test_words_begin_anew_where_one_was_none() -> None:
    assert await bit({"count": {"word": "a a"}, "is": 1}, "ba a a")
    assert await bit({"count": {"word": "a a"}, "is": 1}, "a a a")


async def test_empty_matches_do_not_count() -> None:
    assert await bit({"count": {"matches": "a*"}, "is": 2}, "baacab")
    assert await bit({"count": {"matches": "^|$"}, "is": 0}, "b")


@given(TEXT, st.integers(0, 12))
async def test_lengths(text: str, number: int) -> None:
    assert await bit({"length": "characters", "is": number}, text) == (len(text) == number)
    assert await bit({"length": "words", "at_most": number}, text) == (len(text.split()) <= number)
    assert await bit({"length": "items", "is": number}, list(text)) == (len(text) == number)


@given(st.integers(-20, 20) | st.floats(allow_nan=False), st.integers(-5, 5), st.integers(0, 5))
async def test_comparisons(value: float, bound: int, width: int) -> None:
    assert await bit({"is": bound}, value) == (value == bound)
    assert await bit({"more_than": bound}, value) == (value > bound)
    assert await bit({"at_least": bound}, value) == (value >= bound)
    assert await bit({"less_than": bound}, value) == (value < bound)
    assert await bit({"at_most": bound}, value) == (value <= bound)
    assert await bit({"between": [bound, bound + width]}, value) == (bound <= value <= bound + width)
    assert await bit({"is": "even"}, value) == (value % 2 == 0)
    assert await bit({"is": "odd"}, value) == (value % 2 == 1)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"contains": "REFUND"}, "a refund, please"),
        ({"starts": "straße"}, "STRAßE 5"),
        ({"starts": "İstanbul"}, "İSTANBUL"),
        ({"ends": "Please"}, "now, PLEASE"),
        ({"equals": "spam"}, "SpAm"),
        ({"in": ["Spam", 3]}, "SPAM"),
        ({"matches": "^r[aeiou]f"}, "REFund"),
        ({"count": "a", "is": 3}, "aAa"),
        ({"count": {"word": "No"}, "is": 2}, "no! NO! nope"),
        ({"count": {"matches": "[a-c]+"}, "is": 2}, "AbC d A"),
    ],
)
async def test_letter_case_can_make_no_difference(condition: dict[str, Any], text: str) -> None:
    assert await bit({**condition, "case": "ignore"}, text)
    assert not await bit({**condition, "case": "exact"}, text)
    assert not await bit(condition, text)


@given(LITERAL, TEXT)
async def test_ignoring_case_loses_nothing(literal: str, text: str) -> None:
    for test in ("contains", "starts", "ends", "equals"):
        if await bit({test: literal}, text):
            assert await bit({test: literal, "case": "ignore"}, text)


@pytest.mark.parametrize(
    ("name", "holding"),
    [
        ("string", ["", "1"]),
        ("number", [0, 1.5, 3.0]),
        ("integer", [0, 3.0]),
        ("boolean", [True, False]),
        ("array", [[], [1]]),
        ("object", [{}, {"a": 1}]),
        ("null", [None]),
    ],
)
async def test_types(name: str, holding: list[JsonValue]) -> None:
    every: list[JsonValue] = ["", "1", 0, 1.5, 3.0, True, False, [], [1], {}, {"a": 1}, None]
    held = [x for x in every if await bit({"type": name}, x)]
    assert list(map(repr, held)) == list(map(repr, holding))


async def test_equality_is_that_of_json() -> None:
    assert await bit({"equals": 5}, 5.0)
    assert not await bit({"equals": 1}, True)
    assert not await bit({"equals": True}, 1)
    assert not await bit({"equals": "5"}, 5)
    assert await bit({"equals": None}, None)
    assert not await bit({"in": [0, "0", None]}, False)


DATAPOINT: JsonValue = {"a": {"b": [{"list price": 5}, "x"], "c.d": 1, '"': 2}, "null": None, "": 3}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('a.b[0]."list price"', 5),
        ("a.b[0].list price", 5),
        ("a.b[1]", "x"),
        ('a."c.d"', 1),
        (r'a."\""', 2),
        ('""', 3),
        ("null", None),
    ],
)
async def test_fields(path: str, value: JsonValue) -> None:
    assert await bit({"field": path, "equals": value}, DATAPOINT)
    assert await bit({"field": path, "exists": True}, DATAPOINT)
    assert not await bit({"field": path, "exists": False}, DATAPOINT)


@pytest.mark.parametrize("path", ["b", "a.b.0", "a.b[2]", "a.b[1].x", "a[0]", "null.x", "a.b[0].price"])
async def test_what_is_missing_does_not_hold(path: str) -> None:
    conditions = [{"equals": None}, {"at_least": -1}, {"type": "null"}, {"contains": "x"}, {"length": "items", "is": 0}]
    for condition in [*conditions, {"exists": True}, {"ask": "Is it?"}]:
        assert not await bit({"field": path, **condition}, DATAPOINT)
        assert await bit({"not": {"field": path, **condition}}, DATAPOINT)
    assert await bit({"field": path, "exists": False}, DATAPOINT)


EVERY_TEST: list[Any] = [
    {"contains": "a"},
    {"starts": "a", "case": "ignore"},
    {"ends": "a"},
    {"matches": "[^b]"},
    {"matches": "(?i)é|^$"},
    {"equals": 1},
    {"in": ["a", 1, None, False]},
    {"count": "a", "is": "odd"},
    {"count": {"word": "a"}, "at_most": 3},
    {"count": {"matches": ".?"}, "less_than": 3},
    {"length": "characters", "is": "even"},
    {"length": "words", "between": [1, 2]},
    {"length": "items", "more_than": 0},
    {"is": "even"},
    {"at_most": 1e300},
    {"type": "integer"},
    {"field": "a", "exists": True},
    {"field": "a[0]", "contains": "a"},
]


@given(JSON)
async def test_every_test_is_total_and_pure(x: JsonValue) -> None:
    rubric = rubric_of(*EVERY_TEST)
    before = repr(x)
    first = await rubric.total_bits(x, no_judge)
    assert first == await rubric.total_bits(x, no_judge)
    assert first == await rubric.bits(x, no_judge)
    assert len(first) == len(EVERY_TEST)
    assert repr(x) == before


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.lists(st.text(max_size=2), max_size=3))
async def test_tests_of_texts_do_not_hold_for_what_is_no_text(x: JsonValue) -> None:
    tests = [{"contains": "a"}, {"starts": "1"}, {"ends": "1"}, {"matches": ".?"}, {"count": "a", "at_least": 0}]
    assert await rubric_of(*tests).bits(x, no_judge) == (0,) * len(tests)


async def test_half_a_character_is_a_character() -> None:
    assert await bit({"matches": "^a.b$"}, "a\ud800b")
    assert await bit({"length": "characters", "is": 3}, "a\ud800b")


async def test_an_expression_made_to_run_away_does_not() -> None:
    assert not await bit({"matches": "(a|aa)+$"}, "a" * 100_000 + "b")
    assert not await bit({"matches": "(x+x+)+y"}, "x" * 100_000)


async def test_counting_that_would_take_too_long_does_not_hold() -> None:
    """Looking for the b from every a on makes time grow with the square of the text."""
    looking_ahead = {"count": {"matches": "a.*b|a"}, "at_least": 1}
    assert await bit(looking_ahead, "a" * 14_000)
    assert not await bit(looking_ahead, "a" * 1_000_000)
    assert await bit({"count": {"matches": "a+"}, "is": 1}, "a" * 1_000_000)
