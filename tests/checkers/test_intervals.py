"""Wilson's interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.intervals import wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_it_agrees_with_published_values(successes: int, n: int, low: float, high: float):
    """Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3."""
    assert wilson(successes, n) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_holds_the_rate_mirrors_and_solves_its_equation(counts: tuple[int, int]):
    """Its ends are where the rate is z standard errors away, the standard error taken there."""
    successes, n = counts
    rate = successes / n
    low, high = wilson(successes, n)
    assert 0 <= low <= rate <= high <= 1
    assert wilson(n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    for end in (low, high):
        assert abs(rate - end) == pytest.approx(1.96 * math.sqrt(end * (1 - end) / n), rel=1e-4, abs=1e-9)


def test_nothing_is_known_without_verdicts():
    assert wilson(0, 0) == (0.0, 1.0)
