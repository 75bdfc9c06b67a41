"""Aggregators: from bits to a bit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.aggregators import Aggregator, AllHold, AnyHolds, Majority, Weighted

BITS = st.lists(st.integers(0, 1), min_size=1, max_size=30)


@given(BITS)
def test_majority_is_the_more_frequent_bit(bits: list[int]) -> None:
    ones, zeros = bits.count(1), bits.count(0)
    for ties in (0, 1):
        assert Majority(ties=ties)(bits) == (ties if ones == zeros else int(ones > zeros))


def test_a_tie_gives_one_unless_told_otherwise() -> None:
    assert Majority()([0, 1, 1, 0]) == 1
    assert Majority(ties=0)([0, 1, 1, 0]) == 0


@given(BITS)
def test_any_and_all_are_dual(bits: list[int]) -> None:
    assert AnyHolds()(bits) == max(bits)
    assert AllHold()(bits) == min(bits)
    assert AnyHolds()(bits) == 1 - AllHold()([1 - bit for bit in bits])


@given(BITS)
def test_equal_weights_are_a_vote(bits: list[int]) -> None:
    count = len(bits)
    assert Weighted((1,) * count, count / 2)(bits) == Majority()(bits)
    assert Weighted((1,) * count, count)(bits) == AllHold()(bits)
    assert Weighted((1,) * count, 1)(bits) == AnyHolds()(bits)


def test_weights_count_for_what_holds_only() -> None:
    sigma = Weighted((3, 1, -2), 2)
    assert [sigma(bits) for bits in ([1, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0])] == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("sigma", [Majority(), AnyHolds(), AllHold(), Weighted((1, 2), 1)])
def test_what_are_no_bits_is_refused(sigma: Aggregator) -> None:
    with pytest.raises(ValueError, match="no bits"):
        sigma([])
    with pytest.raises(ValueError, match="bit 1 is 2; allowed are 0 and 1"):
        sigma([1, 2])


def test_as_many_bits_as_weights() -> None:
    with pytest.raises(ValueError, match="3 bits for 2 weights"):
        Weighted((1, 2), 1)([1, 0, 1])


def test_ties_are_a_bit() -> None:
    with pytest.raises(ValueError, match="ties is 2; allowed are 0 and 1"):
        Majority(ties=2)


def test_descriptions_tell_aggregators_apart() -> None:
    every = [Majority(), Majority(ties=0), AnyHolds(), AllHold(), Weighted((1, 2), 2), Weighted((2, 1), 2)]
    assert len({sigma.description for sigma in every}) == len(every)
