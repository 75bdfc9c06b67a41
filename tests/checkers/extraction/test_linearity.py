"""The linearity test: the paper's worked case, its bound, both readings, and the fast schedule."""

import itertools
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.extraction.evidence import statistics
from checkers.extraction.linearity import (
    LinearityTest,
    Reading,
    Result,
    Tried,
    Vector,
    draw_tests,
    error_bound,
    majority,
    rejection_probability,
    strays,
    tried_fast,
)
from checkers.extraction.linearity import result_of as result_of_answers
from checkers.extraction.mentions import Located

X, Y, BOTH = 0b01, 0b11, 0b11
"""x = 10 and y = 11 of the worked case, the first entity in the lowest bit."""


class Read(NamedTuple):
    """In the place of entities: answers that are read already."""

    mask: Vector

    @staticmethod
    def read(u: Reading) -> Reading:
        return u


def result_of(test: LinearityTest, samples: Any, mask: Vector, *, lenient: bool = False) -> Result:
    return result_of_answers(test, samples, Read(mask), lenient=lenient)  # type: ignore[arg-type]


def vectors_of(x: Vector, y: Vector) -> LinearityTest:
    return x, y, x ^ y


def outcome(of_x: list[int | None], of_y: list[int | None], of_xor: list[int | None], *, lenient: bool = False):
    return result_of(vectors_of(X, Y), [of_x, of_y, of_xor], BOTH, lenient=lenient).outcome


@pytest.mark.parametrize("lenient", [False, True])
def test_the_worked_case(lenient):
    assert vectors_of(X, Y) == (0b01, 0b11, 0b10)
    assert outcome([0b10], [0b00], [0b01], lenient=lenient) == "passed"
    assert outcome([0b11], [0b00], [0b01], lenient=lenient) == "failed"


def test_the_majority_is_that_of_each_entity_and_a_replacement_named_by_half_is_not():
    assert majority([0b10, 0b01, 0b11]) == 0b11
    assert majority([0b00, 0b01, 0b10]) == 0b00
    assert majority([0b00, 0b01]) == 0b01
    assert majority([None, 0b01, 0b01]) == 0b01
    assert majority([None, 0b01]) is None


def test_answers_that_cannot_be_read_decide_nothing():
    assert outcome([None, None, 0b10], [0b00] * 3, [0b01] * 3) == "unusable"
    assert outcome([None, None, 0b10], [0b00] * 3, [0b01] * 3, lenient=True) == "passed"
    assert outcome([None] * 3, [0b00] * 3, [0b01] * 3, lenient=True) == "unusable"
    assert outcome([None, None, 0b11], [0b00] * 3, [0b01] * 3, lenient=True) == "failed"


SAMPLES = st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=3, max_size=3)


@given(SAMPLES, SAMPLES, SAMPLES)
def test_the_combinations_that_pass_are_counted_and_lenient_needs_one(of_x, of_y, of_xor):
    combinations = itertools.product(of_x, of_y, of_xor)
    counted = sum(None not in (a, b, c) and c == ~(a ^ b) & BOTH for a, b, c in combinations)
    pairs = Located("", ("Ada", "Lagos"), (), (), ("Eve", "Turin"))
    answers = [
        [None if u is None else tuple(new for j, new in enumerate(pairs.replacements) if not u >> j & 1) for u in one]
        for one in (of_x, of_y, of_xor)
    ]
    result = result_of_answers(vectors_of(X, Y), answers, pairs, lenient=True)
    assert statistics(Tried(pairs, [result], {}), [])["a_rate"] == counted / 27
    assert (result.outcome == "passed") == (counted > 0)


def test_the_bound_is_the_papers():
    assert rejection_probability(0.1, 10) == pytest.approx(0.936, abs=5e-4)
    assert rejection_probability(0.05, 10) == pytest.approx(0.765, abs=5e-4)
    assert rejection_probability(0.1, 5) == pytest.approx(0.746, abs=5e-4)
    assert rejection_probability(0.05, 5) == pytest.approx(0.516, abs=5e-4)
    assert rejection_probability(0.25, 1) == pytest.approx(0.375)
    assert rejection_probability(0.4, 1) == pytest.approx(2 / 9)
    assert error_bound(0.1, 10, 4) == pytest.approx(1 - rejection_probability(0.1, 10), rel=1e-5)
    assert error_bound(0.2, 2, 2) == pytest.approx((1 - rejection_probability(0.2, 2)) * (16 / 15) ** 2)
    assert error_bound(0.1, 1, 4) == 1


@pytest.mark.parametrize(
    ("values", "at_fault"),
    [
        ((BOTH, BOTH, BOTH), BOTH),
        # The first entity's replacement is never named, the second one's always.
        ((0b11, 0b01, 0b01), 0b01),
        ((0b10, 0b00, 0b01), 0),
        # The second entity is not named beside the first one's replacement, in the bits above.
        ((0b1010, 0b00, 0b01), 0b10),
    ],
)
def test_a_subject_that_is_linear_and_not_ideal_is_found_out(values, at_fault):
    result = result_of(vectors_of(X, Y), [[one] for one in values], BOTH)
    assert result.outcome == "passed"
    assert strays([result], BOTH) == at_fault
    share = Tried(Read(BOTH), [result], {}).ideal_share  # type: ignore[arg-type]
    assert (share == 1) == (values[1:] == (0b00, 0b01))


def test_draws_are_uniform_repeatable_and_replace_each_entity():
    assert draw_tests(3, 5, Random(1)) == draw_tests(3, 5, Random(1))
    drawn = [test for seed in range(4000) for test in draw_tests(1, 1, Random(seed))]
    for pair in ((0, 1), (1, 0), (1, 1)):
        assert 0.3 < sum((x, y) == pair for x, y, _ in drawn) / len(drawn) < 0.37
    assert all((x | y) == 0b1111 for seed in range(200) for x, y, _ in draw_tests(4, 1, Random(seed)))


@st.composite
def cases(draw):
    """Tests, and by sentence answers that are the ideal ones, others near them, and such as cannot be read."""
    m = draw(st.integers(1, 4))
    mask, repeats = (1 << m) - 1, draw(st.integers(1, 11))
    there = Located("", ("Ada", "Lagos", "Turin", "Kyiv")[:m], (), (), ("Eve", "Bern", "Oslo", "Rome")[:m])

    def answer(u: Reading) -> Any:
        named = (new for j, new in enumerate(there.replacements) if u is not None and not u >> j & 1)
        return None if u is None else (*there.entities, *named)

    tests = draw_tests(m, draw(st.integers(1, 5)), Random(draw(st.integers(0, 2**32))))
    usual = draw(st.sampled_from([lambda v: ~v & mask, lambda v: mask]))
    steady, table = draw(st.booleans()), {}
    for v in sorted({v for test in tests for v in test}):
        one = st.sampled_from([usual(v), usual(v), usual(v), usual(v) ^ 1, mask, None]).map(answer)
        table[v] = [draw(one)] * repeats if steady else draw(st.lists(one, min_size=repeats, max_size=repeats))
    return tests, table, there, repeats


@given(cases())
async def test_the_decision_is_that_of_the_full_schedule_on_the_same_answers(case):
    tests, table, there, repeats = case

    async def ask(v: Vector, count: int, first: int) -> Any:
        assert 0 < count <= repeats - first
        return table[v][first : first + count]

    results = (await tried_fast(tests, ask, there, (), repeats)).results
    whole = [result_of_answers(test, [table[v] for v in test], there) for test in tests]
    assert [one.outcome for one in results] == [one.outcome for one in whole[: len(results)]]
    assert len(results) == len(whole) or results[-1].outcome == "failed"
    if {one.outcome for one in whole} == {"passed"}:
        assert strays(results, there.mask) == strays(whole, there.mask)
