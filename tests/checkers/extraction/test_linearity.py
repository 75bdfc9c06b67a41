"""The linearity test: the paper's worked case, its bound, both readings, and the fast schedule."""

import itertools
from collections import defaultdict
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
    needed,
    rejection_probability,
    strays,
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


@given(st.integers(1, 6), st.data())
def test_functions_that_pass_for_every_x_and_y_are_the_linear_ones(m, data):
    """No linear f(v) = not g(v), with g linear over xor, fails; any other function fails somewhere."""
    mask = (1 << m) - 1
    f = data.draw(st.lists(st.integers(0, mask), min_size=1 << m, max_size=1 << m))
    if data.draw(st.booleans()):
        columns = [data.draw(st.integers(0, mask)) for _ in range(m)]
        f = []
        for v in range(1 << m):
            g = 0
            for j in range(m):
                g ^= columns[j] if v >> j & 1 else 0
            f.append(~g & mask)
    passes = all(
        result_of(vectors_of(x, y), [[f[x]], [f[y]], [f[x ^ y]]], mask).outcome == "passed"
        for x, y in itertools.product(range(1 << m), repeat=2)
    )
    g = [~u & mask for u in f]
    linear = all(g[x ^ y] == g[x] ^ g[y] for x, y in itertools.product(range(1 << m), repeat=2))
    assert passes == linear


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


Table = dict[Vector, list[Reading]]
"""All answers about each sentence."""


def finding_of(results: list[Result], mask: Vector) -> str:
    """The outcome of all tests."""
    outcomes = {one.outcome for one in results}
    if outcomes == {"passed"}:
        return "not_ideal" if strays(results, mask) else "ideal"
    return "failed" if "failed" in outcomes else "unusable"


def full(tests: list[LinearityTest], table: Table, mask: Vector) -> list[Result]:
    return [result_of(test, [table[v] for v in test], mask) for test in tests]


def asked(tests: list[LinearityTest], table: Table, mask: Vector) -> tuple[list[Result], dict]:
    """The results of the fast schedule, and how many answers it took about each sentence."""
    repeats = len(next(iter(table.values())))
    known: dict[Vector, list[Reading]] = defaultdict(list)
    results: list[Result] = []
    for test in tests:
        while wanted := needed(test, known, repeats):
            for v, count in wanted.items():
                assert len(known[v]) < count <= repeats
                known[v] = table[v][:count]
        results.append(result_of(test, [known[v] for v in test], mask))
        if results[-1].outcome == "failed":
            break
    return results, {v: len(answers) for v, answers in known.items() if answers}


@st.composite
def cases(draw):
    """Tests, and answers that are the ideal ones, others near them, and such as cannot be read."""
    m = draw(st.integers(1, 4))
    mask = (1 << m) - 1
    repeats = draw(st.integers(1, 11))
    tests = draw_tests(m, draw(st.integers(1, 5)), Random(draw(st.integers(0, 2**32))))
    usual = draw(st.sampled_from([lambda v: ~v & mask, lambda v: mask]))
    steady = draw(st.booleans())
    table: Table = {}
    for v in sorted({v for test in tests for v in test}):
        one = st.sampled_from([usual(v), usual(v), usual(v), usual(v) ^ 1, mask, None])
        table[v] = [draw(one)] * repeats if steady else draw(st.lists(one, min_size=repeats, max_size=repeats))
    return tests, table, mask


@given(cases())
def test_the_decision_is_that_of_the_full_schedule_on_the_same_answers(case):
    tests, table, mask = case
    results, _ = asked(tests, table, mask)
    whole = full(tests, table, mask)
    assert finding_of(results, mask) == finding_of(whole, mask)
    assert [one.outcome for one in results] == [one.outcome for one in whole[: len(results)]]
    if finding_of(results, mask) in {"ideal", "not_ideal"}:
        assert [one.values for one in results] == [one.values for one in whole]
