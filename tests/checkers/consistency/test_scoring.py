"""Equation 3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.consistency.evidence import consistent_share, graded_score

MARKS = st.lists(st.sampled_from([1, -1]), min_size=1, max_size=40)


@given(MARKS)
def test_score_is_the_share_of_positive_marks(marks: list[int]) -> None:
    assert consistent_share(marks) == pytest.approx(marks.count(1) / len(marks))


def test_nothing_to_divide_by_has_no_score() -> None:
    assert consistent_share([]) is None


SUPPORTS = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(SUPPORTS)
def test_a_graded_score_lies_between_the_worst_sentence_and_the_mean(supports: list[float]) -> None:
    score = graded_score(supports)
    assert min(supports) - 1e-6 <= score <= sum(supports) / len(supports) + 1e-6
