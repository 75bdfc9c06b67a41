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
        pytest.param([[0.86, 0.3]], FACT_FLOOR, [0.85], [0.86], id="some at the start: it stands"),
        pytest.param([[0.85]], FACT_FLOOR, [0.85], [0.85], id="the threshold itself is enough"),
        pytest.param([[0.72, 0.71, 0.6]], FACT_FLOOR, [0.7], [0.72, 0.71], id="it falls within a call"),
        pytest.param([[0.58], [0.57, 0.2]], FACT_FLOOR, [0.55, 0.55], [0.58, 0.57], id="once found it stands"),
        pytest.param([[0.62], [0.51]], FACT_FLOOR, [0.6, 0.6], [0.62], id="it does not fall again for others"),
        pytest.param([[0.72, 0.7], [0.81]], FACT_FLOOR, [0.7, 0.8], [0.81], id="it rises, and rejects the earlier"),
        pytest.param([[0.72], [0.74]], FACT_FLOOR, [0.7, 0.7], [0.72, 0.74], id="more probable, yet below a step"),
        pytest.param(
            [[0.66], [0.77, 0.68], [0.93]],
            FACT_FLOOR,
            [0.65, 0.75, 0.9],
            [0.93],
            id="it rises twice, and rejects twice",
        ),
        pytest.param([[0.86], [0.96, 0.91]], FACT_FLOOR, [0.85, 0.95], [0.96], id="above the start as well"),
        pytest.param([[0.86, 0.96]], FACT_FLOOR, [0.95], [0.96], id="it rises within a call"),
        pytest.param([[1.0, 0.95], [0.999]], FACT_FLOOR, [0.95, 0.95], [1.0, 0.95, 0.999], id="never to certainty"),
        pytest.param([[0.64, 0.6]], TYPE_FLOOR, [0.65], [], id="data types have a floor"),
        pytest.param([[0.64], [0.65]], TYPE_FLOOR, [0.65, 0.65], [0.65], id="found at the floor later"),
        pytest.param([[0.49], [0.7, 0.5]], FACT_FLOOR, [0.5, 0.7], [0.7], id="from the floor up again"),
        pytest.param([[0.86], [None, None]], FACT_FLOOR, [0.85, 0.85], [0.86], id="no answer is no low probability"),
        pytest.param([[None], [0.9]], FACT_FLOOR, [0.85, 0.9], [0.9], id="nor does the threshold fall for want of one"),
        pytest.param([[], [0.9]], FACT_FLOOR, [0.85, 0.9], [0.9], id="a call without values changes nothing"),
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
