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


@pytest.mark.parametrize(("rule", "most"), [("lenient", 15), ("strict", 90)])
def test_an_extraction_without_noise_costs_one_answer_a_sentence_or_a_bare_majority(rule, most):
    mask = (1 << 20) - 1
    tests = draw_tests(20, 5, Random(7))
    table = {v: [~v & mask] * 11 for test in tests for v in test.vectors}
    results, taken = asked(tests, table, rule, mask)
    assert finding_of(results, mask) == "ideal"
    assert sum(taken.values()) == most
