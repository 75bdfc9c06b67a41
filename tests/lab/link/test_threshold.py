"""The critic's threshold walks as appendix B has it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.link.search import TYPE_FLOOR, DynamicThreshold

FACT_FLOOR = 0.5
PROBABILITIES = st.floats(0, 1)
CALLS = st.lists(st.lists(PROBABILITIES, max_size=6), max_size=4)


def walk(calls: list[list[Any]], floor: float) -> tuple[list[float], list[float]]:
    """The threshold after each call, and all values that are accepted in the end."""
    threshold = DynamicThreshold(floor)
    values = []
    for call in calls:
        threshold.see(call)
        values.append(threshold.value)
    return values, [one for call in calls for one in call if threshold.accepts(one)]


@pytest.mark.parametrize(
    ("calls", "floor", "thresholds", "accepted"),
    [
        pytest.param([[0.72, 0.71, 0.6]], FACT_FLOOR, [0.7], [0.72, 0.71], id="it falls within a call"),
        pytest.param([[0.62], [0.51]], FACT_FLOOR, [0.6, 0.6], [0.62], id="it does not fall again for others"),
        pytest.param([[0.72, 0.7], [0.81]], FACT_FLOOR, [0.7, 0.8], [0.81], id="it rises, and rejects the earlier"),
        pytest.param([[1.0, 0.95], [0.999]], FACT_FLOOR, [0.95, 0.95], [1.0, 0.95, 0.999], id="never to certainty"),
        pytest.param([[0.64, 0.6]], TYPE_FLOOR, [0.65], [], id="data types have a floor"),
        pytest.param([[None], [0.9]], FACT_FLOOR, [0.85, 0.9], [0.9], id="no answer is no low probability"),
    ],
)
def test_worked_sequences(calls: list[Any], floor: float, thresholds: list[float], accepted: list[float]):
    assert walk(calls, floor) == (thresholds, accepted)


@given(calls=CALLS, data=st.data())
def test_neither_the_order_of_values_nor_their_division_into_calls_matters(
    calls: list[list[float]], data: st.DataObject
):
    values = [one for call in calls for one in call]
    once = sorted(walk([values], FACT_FLOOR)[1])
    assert once == sorted(walk(calls, FACT_FLOOR)[1])
    assert once == sorted(walk([data.draw(st.permutations(values))], FACT_FLOOR)[1])


@given(calls=CALLS)
def test_it_is_the_highest_step_that_some_value_reaches_and_never_below_the_floor(calls: list[list[float]]):
    thresholds, accepted = walk(calls, TYPE_FLOOR)
    best = max((one for call in calls for one in call), default=0.0)
    for threshold in thresholds:
        assert TYPE_FLOOR <= threshold < 1
    if best >= TYPE_FLOOR:
        assert best in accepted
        assert best < thresholds[-1] + 0.05 + 1e-9 or thresholds[-1] == 0.95
    else:
        assert accepted == []
