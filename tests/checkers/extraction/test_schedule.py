"""The fast schedule: the decision of the full one on the same answers, with fewer of them."""

from collections import defaultdict
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.extraction.linearity import (
    LinearityTest,
    Reading,
    Rule,
    TestResult,
    Vector,
    draw_tests,
    majority,
    needed,
    result_of,
    strays,
)

Table = dict[Vector, list[Reading]]
"""All answers about each sentence."""

RULES = st.sampled_from(["lenient", "strict"])


def finding_of(results: list[TestResult], mask: Vector) -> str:
    """The outcome of all tests."""
    outcomes = {one.outcome for one in results}
    if outcomes == {"passed"}:
        return "not_ideal" if strays(results, mask) else "ideal"
    return "failed" if "failed" in outcomes else "unusable"


def full(tests: list[LinearityTest], table: Table, rule: Rule, mask: Vector) -> list[TestResult]:
    return [result_of(test, [table[v] for v in test.vectors], rule, mask) for test in tests]


def asked(tests: list[LinearityTest], table: Table, rule: Rule, mask: Vector) -> tuple[list[TestResult], dict]:
    """The results of the fast schedule, and how many answers it took about each sentence."""
    repeats = len(next(iter(table.values())))
    known: dict[Vector, list[Reading]] = defaultdict(list)
    results: list[TestResult] = []
    for test in tests:
        while wanted := needed(test, known, rule=rule, repeats=repeats, mask=mask):
            for v, count in wanted.items():
                assert len(known[v]) < count <= repeats
                known[v] = table[v][:count]
        results.append(result_of(test, [known[v] for v in test.vectors], rule, mask))
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
    for v in sorted({v for test in tests for v in test.vectors}):
        one = st.sampled_from([usual(v), usual(v), usual(v), usual(v) ^ 1, mask, None])
        table[v] = [draw(one)] * repeats if steady else draw(st.lists(one, min_size=repeats, max_size=repeats))
    return tests, table, mask


@given(cases(), RULES)
def test_the_decision_is_that_of_the_full_schedule_on_the_same_answers(case, rule):
    tests, table, mask = case
    results, _ = asked(tests, table, rule, mask)
    whole = full(tests, table, rule, mask)
    assert finding_of(results, mask) == finding_of(whole, mask)
    assert [one.outcome for one in results] == [one.outcome for one in whole[: len(results)]]
    if finding_of(results, mask) in {"ideal", "not_ideal"}:
        assert [one.values for one in results] == [one.values for one in whole]


@given(st.integers(1, 3), st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=11, max_size=11))
def test_strict_asks_a_bare_majority_and_the_others_only_if_they_could_change_it(x, noisy):
    table: Table = {v: [~v & 3] * 11 for v in range(4)} | {x: noisy}
    _, taken = asked([LinearityTest(1, 2)], table, "strict", 3)
    assert all(count == 6 for v, count in taken.items() if v != x)
    might = {majority([*noisy[:6], *[u] * 5]) for u in (0, 1, 2, 3, None)}
    assert taken.get(x, 6) in ({6} if len(might) == 1 else {6, 11} if None in might else {11})


def test_it_ends_at_the_first_test_that_fails():
    tests = [LinearityTest(0, 0), LinearityTest(1, 0), LinearityTest(1, 1)]
    table: Table = {0: [0] * 3, 1: [1] * 3}
    results, taken = asked(tests, table, "strict", 1)
    assert [one.outcome for one in results] == ["failed"]
    assert taken == {0: 2}


@pytest.mark.parametrize(("rule", "most"), [("lenient", 15), ("strict", 90)])
def test_an_extraction_without_noise_costs_one_answer_a_sentence_or_a_bare_majority(rule, most):
    mask = (1 << 20) - 1
    tests = draw_tests(20, 5, Random(7))
    table = {v: [~v & mask] * 11 for test in tests for v in test.vectors}
    results, taken = asked(tests, table, rule, mask)
    assert finding_of(results, mask) == "ideal"
    assert sum(taken.values()) == most


def test_a_test_that_cannot_be_decided_asks_no_further():
    table: Table = {1: [None] * 11, 2: [1, 0] * 6, 3: [0, 1] * 6}
    results, taken = asked([LinearityTest(1, 2)], table, "strict", 3)
    assert ([one.outcome for one in results], taken) == (["unusable"], {1: 6, 2: 6, 3: 6})


def test_what_is_known_of_a_text_from_another_test_makes_no_difference_to_a_lenient_one():
    """The first test needs three answers about R(0); the second passes with the first of them, and not by the third."""
    tests = [LinearityTest(0, 0), LinearityTest(1, 0)]
    table: Table = {0: [0, 0, 1, 0], 1: [1, 0, 1, 1]}
    results, taken = asked(tests, table, "lenient", 1)
    assert [one.values for one in results] == [one.values for one in full(tests, table, "lenient", 1)]
    assert results[1].values == (1, 0, 0)
    assert taken == {0: 4, 1: 2}


def test_lenient_asks_for_twice_as_many_answers_each_time():
    """A test that fails takes five rounds of questions, not eleven."""
    known: dict[Vector, list[Reading]] = defaultdict(list)
    sizes = []
    while wanted := needed(LinearityTest(1, 1), known, rule="lenient", repeats=11, mask=1):
        sizes.append(wanted[1])
        known |= {v: [0] * count for v, count in wanted.items()}
    assert sizes == [1, 2, 4, 8, 11]
