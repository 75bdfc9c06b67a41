"""The total rubric, relevant parts, labels and versions; the paper's table 1 on every string of twelve bits."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.rubric import load_rubric, no_judge
from tests.support.labelling import rubric_of

EXAMPLES = Path(__file__).parents[3] / "examples" / "rubrics"
STRINGS = ["".join(bits) for bits in product("01", repeat=12)]


async def test_in_phenomenon_of_table_1() -> None:
    rubric = load_rubric(EXAMPLES / "in-phenomenon.yaml")
    assert [one.name for one in rubric.total] == [
        "even-ones",
        "starts-or-contains",
        "starts-or-contains.1",
        "starts-or-contains.2",
        "many-ones",
    ]
    for x in STRINGS:
        zero_first, holds_pattern = x[0] == "0", "10101" in x
        even, many = sum(map(int, x)) % 2 == 0, sum(map(int, x)) > 5
        either = zero_first is not holds_pattern
        assert await rubric.bits(x, no_judge) == (even, either, many)
        assert await rubric.total_bits(x, no_judge) == (even, either, zero_first, holds_pattern, many)
        assert rubric.label(await rubric.bits(x, no_judge)) == int(even + either + many >= 2)


async def test_out_of_phenomenon_of_table_1() -> None:
    rubric = load_rubric(EXAMPLES / "out-of-phenomenon.yaml")
    assert rubric.total == rubric.criteria
    for x in STRINGS:
        expected = ("111" in x, int(x, 2) % 2 == 1, x.find("110001") >= 0)
        assert await rubric.bits(x, no_judge) == expected
        assert await rubric.total_bits(x, no_judge) == expected
        assert rubric.label(await rubric.bits(x, no_judge)) == int(sum(expected) >= 2)


async def test_support_tickets() -> None:
    rubric = load_rubric(EXAMPLES / "support-tickets.yaml")
    ticket: dict[str, Any] = {
        "subject": "We are LOCKED OUT",
        "body": "Nobody in the office can log in since this morning.",
        "customer": {"plan": "free", "open_tickets": 3},
        "minutes_waiting": 12,
    }

    class Judge:
        async def __call__(self, criterion: str, x: Any) -> bool:
            assert x == ticket["body"]
            return "nothing but thanks" not in criterion

    assert await rubric.bits(ticket, Judge()) == (1, 1, 0, 1)
    assert rubric.label((1, 1, 0, 1)) == "on-call"
    assert rubric.label((0, 1, 1, 1)) == "queue"


def test_the_six_criteria_of_west_frisian_must_all_hold() -> None:
    rubric = load_rubric(EXAMPLES / "west-frisian.yaml")
    assert [one.name.split("-")[0] for one in rubric.total] == ["c1", "c2a", "c2b", "c3", "c4", "c5"]
    assert all(one.plain for one in rubric.criteria)
    assert rubric.relevance == "whole"
    for bits in product((0, 1), repeat=6):
        assert rubric.label(bits) == int(0 not in bits)


def test_clauses_of_clauses_follow_and_nothing_stands_twice() -> None:
    a, b, c, d = ({"contains": letter} for letter in "abcd")
    rubric = rubric_of({"and": [{"xor": [a, b]}, c]}, {"not": {"or": [d, c]}}, c)
    either = 'exactly one of these holds, not both: (it contains "a"); (it contains "b")'
    assert [(one.name, one.description) for one in rubric.total] == [
        ("c0", f'all of these hold: ({either}); (it contains "c")'),
        ("c0.1", either),
        ("c0.1.1", 'it contains "a"'),
        ("c0.1.2", 'it contains "b"'),
        ("c2", 'it contains "c"'),
        ("c1", 'this does not hold: (at least one of these holds: (it contains "d"); (it contains "c"))'),
        ("c1.1", 'it contains "d"'),
    ]


BITSTRING = st.text(st.sampled_from("01"), max_size=12)
LITERAL = st.text(st.sampled_from("01"), min_size=1, max_size=4)
SIMPLE = st.one_of(
    st.tuples(st.sampled_from(["contains", "starts", "ends"]), LITERAL).map(lambda pair: dict([pair])),
    LITERAL.map(lambda literal: {"count": literal, "is": "even"}),
    st.integers(0, 12).map(lambda number: {"length": "characters", "at_least": number}),
)
COMPOUND = st.recursive(
    SIMPLE,
    lambda inner: (
        inner.map(lambda one: {"not": one})
        | st.lists(inner, min_size=2, max_size=2, unique_by=repr).map(lambda two: {"xor": two})
    ),
    max_leaves=5,
)


@given(st.lists(COMPOUND, min_size=1, max_size=4, unique_by=repr), BITSTRING)
async def test_the_total_rubric_holds_the_rubric_and_each_condition_once(conditions: list[Any], x: str) -> None:
    rubric = rubric_of(*conditions)
    names = [one.name for one in rubric.total]
    assert len(set(names)) == len(names)
    assert len({one.description for one in rubric.total}) == len(names)
    assert {one.name for one in rubric.criteria} <= set(names)
    total = dict(zip(names, await rubric.total_bits(x, no_judge), strict=True))
    assert await rubric.bits(x, no_judge) == tuple(total[one.name] for one in rubric.criteria)


@given(st.lists(COMPOUND, min_size=1, max_size=4, unique_by=repr), BITSTRING, BITSTRING)
async def test_equal_total_bits_make_equal_parts(conditions: list[Any], x: str, other: str) -> None:
    """So an evaluator whose x' agrees in every bit of the total rubric stands up to the first challenge."""
    rubric = rubric_of(*conditions)
    parts = rubric.relevant(x)
    assert parts[0] == x
    assert len(set(parts)) == len(parts)
    assert all(part in x for part in parts)
    if await rubric.total_bits(x, no_judge) == await rubric.total_bits(other, no_judge):
        assert set(parts[1:]) - {other} == set(rubric.relevant(other)[1:]) - {x}


def test_parts_are_what_criteria_look_at() -> None:
    rubric = rubric_of(
        {"starts": "Dear"},
        {"not": {"contains": "REFUND", "case": "ignore"}},
        {"or": [{"matches": "[0-9]+"}, {"ends": "Bye"}]},
        {"count": "e", "is": "even"},
        {"field": "a", "contains": "e"},
    )
    assert rubric.relevant("Dear X, refund 45 of 90") == ("Dear X, refund 45 of 90", "Dear", "refund", "45")
    assert rubric.relevant("Dear") == ("Dear",)
    assert rubric.relevant({"a": "Dear"}) == ({"a": "Dear"},)
    assert rubric.relevant(7) == (7,)


def test_parts_stand_as_they_are_in_the_text() -> None:
    """Letters that become two when case is put aside move nothing."""
    rubric = rubric_of({"contains": "b", "case": "ignore"}, {"ends": "ß", "case": "ignore"})
    assert rubric.relevant("ßİßBẞ") == ("ßİßBẞ", "B", "ẞ")


def test_parts_can_be_left_out_and_are_where_a_judge_is_asked() -> None:
    assert rubric_of({"starts": "a"}, relevant="whole").relevant("ab") == ("ab",)
    assert rubric_of({"starts": "a"}, {"ask": "p"}).relevant("ab") == ("ab",)
    assert rubric_of({"starts": "a"}, {"ask": "p"}, relevant="parts").relevant("ab") == ("ab", "a")


BITS = st.lists(st.integers(0, 1), min_size=1, max_size=30)


def aggregated(bits: list[int], by: str, **options: object) -> int:
    tests = ({"is": number} for number in range(len(bits)))
    return rubric_of(*tests, label={"by": by, **options}).aggregator(bits)


@given(BITS)
def test_majority_is_the_more_frequent_bit(bits: list[int]) -> None:
    ones, zeros = bits.count(1), bits.count(0)
    for ties in (0, 1):
        assert aggregated(bits, "majority", ties=ties) == (ties if ones == zeros else int(ones > zeros))


@given(BITS)
def test_equal_weights_are_a_vote(bits: list[int]) -> None:
    def weighted(threshold: float) -> int:
        return aggregated(
            bits, "weights", weights={f"c{number}": 1 for number in range(len(bits))}, threshold=threshold
        )

    assert weighted(len(bits) / 2) == aggregated(bits, "majority")
    assert weighted(len(bits)) == aggregated(bits, "all") == min(bits)
    assert weighted(1) == aggregated(bits, "any") == max(bits)


def test_descriptions_tell_aggregators_apart() -> None:
    weights = [{"by": "weights", "weights": {"c0": a, "c1": b}, "threshold": 2} for a, b in ((1, 2), (2, 1))]
    every = [{"by": "majority"}, {"by": "majority", "ties": 0}, {"by": "any"}, {"by": "all"}, *weights]
    assert len({rubric_of({"is": 1}, {"is": 2}, label=one).aggregator.description for one in every}) == len(every)


def test_labels() -> None:
    def labelled(label: Any, bits: tuple[int, ...]) -> Any:
        return rubric_of({"contains": "a"}, {"contains": "b"}, label=label).label(bits)

    assert labelled("majority", (0, 1)) == 1
    assert labelled({"by": "majority", "ties": 0}, (0, 1)) == 0
    assert labelled("any", (0, 1)) == 1
    assert labelled("all", (0, 1)) == 0
    assert labelled({"by": "all", "values": {"0": "bad", "1": "good"}}, (1, 1)) == "good"
    assert labelled({"by": "weights", "weights": {"c1": 2, "c0": -1}, "threshold": 2}, (0, 1)) == 1
    assert labelled({"by": "weights", "weights": {"c1": 2, "c0": -1}, "threshold": 2}, (1, 1)) == 0
    with pytest.raises(ValueError, match="3 bits; rubric r has 2 criteria"):
        labelled("any", (0, 0, 1))


def test_the_version_is_that_of_the_meaning() -> None:
    a, b = {"contains": "a"}, {"contains": "b"}
    same = [rubric_of(a, b), rubric_of(a, b, rubric="other"), rubric_of(a, b, relevant="parts")]
    assert len({one.version for one in same}) == 1
    others = [
        rubric_of(b, a),
        rubric_of(a),
        rubric_of(a, {"contains": "b", "case": "ignore"}),
        rubric_of(a, {"field": "x", **b}),
        rubric_of(a, b, label="any"),
        rubric_of(a, b, label={"by": "majority", "ties": 0}),
        rubric_of(a, b, label={"by": "majority", "values": {"0": "x", "1": "y"}}),
        rubric_of(a, b, about="Texts."),
        rubric_of(a, b, relevant="whole"),
    ]
    assert len({one.version for one in [*others, same[0]]}) == len(others) + 1
