"""Equation 3."""

from hypothesis import given
from hypothesis import strategies as st

from checkers.consistency.evidence import graded_score

SUPPORTS = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(SUPPORTS)
def test_a_graded_score_lies_between_the_worst_sentence_and_the_mean(supports: list[float]):
    score = graded_score(supports)
    assert min(supports) - 1e-6 <= score <= sum(supports) / len(supports) + 1e-6
