"""Thresholds with a promise, and the intervals that figures come with."""

import math
import random
from collections.abc import Callable

import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.calibration import MIN_LABELS, Labelled, Threshold, calibrate, fewest_labels, most_wrong, shortfall
from checkers.intervals import wilson

LABELLED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=300)


def _drawn(count: int, right: Callable[[float], float], seed: int) -> list[Labelled]:
    """Scores drawn evenly; `right` is the probability that people accept a record of a score."""
    draw = random.Random(seed)
    scores = [draw.random() for _ in range(count)]
    return [(score, draw.random() < right(score)) for score in scores]


@given(st.integers(1, 2000), st.floats(0.005, 0.5), st.floats(0.001, 0.3))
@settings(deadline=None)
def test_most_wrong_is_the_exact_binomial_bound(decided: int, error: float, level: float):
    wrong = most_wrong(decided, error, level)
    assert wrong < 0 or scipy.stats.binom.cdf(wrong, decided, error) <= level * (1 + 1e-9)
    assert scipy.stats.binom.cdf(wrong + 1, decided, error) > level * (1 - 1e-9)


@given(LABELLED, st.floats(0.02, 0.45), st.floats(0.5, 0.99))
@settings(deadline=None)
def test_what_is_told_is_what_the_thresholds_do_and_each_has_enough_labels(
    labelled: list[Labelled], error: float, confidence: float
):
    accept, reject = calibrate(labelled, error=error, confidence=confidence)
    if accept.value is not None:
        behind = [accepted for score, accepted in labelled if score >= accept.value]
        assert (accept.decided, accept.wrong) == (len(behind), behind.count(False))
    if reject.value is not None:
        behind = [accepted for score, accepted in labelled if score < reject.value]
        assert (reject.decided, reject.wrong) == (len(behind), sum(behind))
    for threshold in (accept, reject):
        assert (threshold.value is None) == (threshold.decided == 0)
        if threshold.value is not None:
            assert threshold.decided >= MIN_LABELS
            # The confidence is split over the two.
            assert threshold.wrong <= most_wrong(threshold.decided, error, (1 - confidence) / 2)
    if accept.value is not None and reject.value is not None:
        assert reject.value <= accept.value


def test_a_judge_that_is_always_right_gets_one_value_for_both_and_decides_everything():
    labelled = [(0.8, True)] * 60 + [(0.2, False)] * 60
    assert calibrate(labelled, error=0.1, confidence=0.95) == (Threshold(0.5, 60, 0), Threshold(0.5, 60, 0))


def test_what_could_be_promised_can_be_and_the_labels_needed_are_enough_for_the_same_share_of_errors():
    labelled = [(0.9, number % 20 != 0) for number in range(100)]
    assert calibrate(labelled, error=0.1, confidence=0.95)[0].value is None
    possible, needed = shortfall(labelled, "accept", error=0.1, confidence=0.95)
    assert possible is not None
    assert needed is not None
    assert calibrate(labelled, error=possible, confidence=0.95)[0].value is not None
    assert calibrate(labelled, error=possible - 0.01, confidence=0.95)[0].value is None
    # Five in a hundred are wrong: so many hundreds of them.
    enough = labelled * (needed // 100)
    assert calibrate(enough, error=0.1, confidence=0.95)[0].value is not None


def test_the_level_of_a_threshold_is_split_over_the_two_places_to_begin():
    # Half of a half of 0.05.
    assert fewest_labels(0.1, 0.0125) == math.ceil(math.log(0.0125) / math.log(0.9)) == 42
    labelled = [(0.9, True)] * 42
    assert calibrate(labelled, error=0.1, confidence=0.95)[0].value is not None
    assert calibrate(labelled[1:], error=0.1, confidence=0.95)[0].value is None


@pytest.mark.parametrize(("error", "confidence"), [(0, 0.9), (0.5, 0.9), (0.1, 0), (0.1, 1)])
def test_a_promise_that_is_none_is_refused(error: float, confidence: float):
    with pytest.raises(ValueError, match="allowed are"):
        calibrate([], error=error, confidence=confidence)


def test_the_promise_is_broken_no_more_often_than_the_confidence_allows():
    # Scores are drawn evenly, and each is the probability that people accept the record.
    runs, confidence = 400, 0.8
    found = [
        calibrate(_drawn(250, lambda score: score, seed), error=0.2, confidence=confidence) for seed in range(runs)
    ]
    # Of what is accepted from t on, (1 - t) / 2 is wrong; of what is rejected below t, half of t.
    broken = sum(
        (accept.value is not None and (1 - accept.value) / 2 > 0.2) or (reject.value or 0) / 2 > 0.2
        for accept, reject in found
    )
    assert broken <= scipy.stats.binom.ppf(0.999, runs, 1 - confidence)
    # A test that never passes anything keeps all promises.
    assert sum(one.decided for pair in found for one in pair) > 50 * runs


def test_thresholds_that_just_break_the_promise_pass_no_more_often_than_their_level():
    # Whatever is accepted is wrong a little more often than promised: every threshold that passes is a mistake.
    runs, confidence = 600, 0.8
    found = (calibrate(_drawn(300, lambda _: 0.799, seed), error=0.2, confidence=confidence)[0] for seed in range(runs))
    accepted = sum(one.value is not None for one in found)
    assert 0 < accepted <= scipy.stats.binom.ppf(0.999, runs, (1 - confidence) / 2)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_it_agrees_with_published_values(successes: int, n: int, low: float, high: float):
    """Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3."""
    assert wilson(successes, n) == pytest.approx((low, high), abs=6e-5)
    assert wilson(0, 0) == (0.0, 1.0)
