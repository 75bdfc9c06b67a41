"""The learned baseline: it holds at all times, only ever rises, and lets no slow decline by."""

import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
import ville
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.trust.baseline import LearnedBaseline, lower_bound, next_look
from agents.trust.drop_test import DropTest

Rate = Callable[[int, float], float]


def day_and_night(n: int, _: float) -> float:
    return 0.9 if n // 100 % 2 else 0.5


def rising(n: int, _: float) -> float:
    return min(0.95, 0.6 + n / 2000)


def falling(n: int, _: float) -> float:
    return max(0.1, 0.95 - n / 2000)


def steady(_: int, __: float) -> float:
    return 0.9


def spiteful(_: int, share: float) -> float:
    """It answers to what came before: down while the luck is good."""
    return 0.5 if share > 0.7 else 0.9


@pytest.mark.parametrize("rate", [steady, day_and_night, rising, falling, spiteful])
def test_the_bound_holds_at_all_times_together(rate: Rate) -> None:
    """Against the highest mean so far, in all but the promised share of 200 streams; no assumption about the rate."""
    broken = 0
    for seed in range(200):
        source = random.Random(seed)
        baseline = LearnedBaseline(0.2)
        total, highest, accepted = 0.0, 0.0, 0
        for n in range(1, 1001):
            probability = rate(n, accepted / n)
            verdict = source.random() < probability
            baseline.update(verdict)
            accepted += verdict
            total += probability
            highest = max(highest, total / n)
            if (baseline.rate or 0.0) > highest:
                broken += 1
                break
    assert broken <= 40


@given(st.lists(st.booleans(), max_size=400))
@settings(max_examples=50)
def test_it_only_ever_rises_and_stays_below_the_best_seen(verdicts: list[bool]) -> None:
    baseline = LearnedBaseline(0.05, at_least=1)
    before, best = 0.0, 0.0
    for n, accepted in enumerate(verdicts, start=1):
        baseline.update(accepted)
        best = max(best, sum(verdicts[:n]) / n)
        assert baseline.rate is not None
        assert before <= baseline.rate <= best
        before = baseline.rate


def test_it_waits_for_enough_verdicts() -> None:
    baseline = LearnedBaseline(0.01)
    for _ in range(49):
        baseline.update(True)
        assert baseline.rate is None
    baseline.update(True)
    assert baseline.rate == lower_bound(50, 50, 0.01)


@pytest.mark.parametrize(("verdicts", "within"), [(100, 0.16), (1000, 0.045), (10_000, 0.015), (1_000_000, 0.0015)])
def test_it_comes_close(verdicts: int, within: float) -> None:
    assert 0.9 - within < lower_bound(verdicts * 9 // 10, verdicts, 0.005) < 0.9


def test_it_stays_close_beyond_what_its_tilts_are_meant_for() -> None:
    assert 0.9 - 0.0003 < lower_bound(9 * 10**11, 10**12, 0.005) < 0.9


def test_the_bound_is_where_the_mixture_reaches_the_level() -> None:
    accepted, verdicts, error_bound = 45, 50, 0.01
    tilts = [0.002 * 1.5**k for k in range(22)]

    def evidence(mean: float) -> float:
        return sum(math.exp(c * accepted) / (1 + mean * (math.exp(c) - 1)) ** verdicts for c in tilts) / 22

    bound = lower_bound(accepted, verdicts, error_bound)
    assert evidence(bound) == pytest.approx(1 / error_bound, rel=1e-5)
    assert evidence(bound) >= 1 / error_bound


@pytest.mark.parametrize("verdicts", [100, 2000, 50_000])
def test_another_programs_bound_for_a_steady_rate_is_close(verdicts: int) -> None:
    """ville's beta-binomial sequence is two-sided, hence twice the error bound; they differ by a tenth or so."""
    source = random.Random(3)
    seen = [source.random() < 0.9 for _ in range(verdicts)]
    theirs = ville.BernoulliCS(alpha=0.02, intersect=False).fit([float(accepted) for accepted in seen]).interval()[0]
    ours = lower_bound(sum(seen), verdicts, 0.01)
    share = sum(seen) / verdicts
    assert share - ours == pytest.approx(share - theirs, rel=0.15)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(1e-6, 0.5))
def test_it_is_below_the_share_seen_and_never_below_its_floor(counts: tuple[int, int], error_bound: float) -> None:
    accepted, verdicts = counts
    bound = lower_bound(accepted, verdicts, error_bound)
    assert 0 <= bound <= accepted / verdicts
    assert lower_bound(accepted, verdicts, error_bound, 0.6) == pytest.approx(max(0.6, bound), abs=1e-8)


def test_looks_grow_rarer() -> None:
    looks, verdicts = 0, 1
    while verdicts < 10**6:
        following = next_look(verdicts)
        assert verdicts < following <= verdicts * 1.05 + 1
        looks, verdicts = looks + 1, following
    assert looks < 260


def test_a_slow_decline_is_found() -> None:
    """One point in 5,000 verdicts: the mean follows it down, the baseline does not."""
    source = random.Random(8)
    baseline, test = LearnedBaseline(0.005), DropTest(smallest_drop=0.05, error_bound=0.005)
    for n in range(100_000):
        known = baseline.rate
        accepted = source.random() < 0.95 - n / 500_000
        if known is not None and test.update(accepted, known):
            break
        baseline.update(accepted)
    else:
        pytest.fail("no alarm")
    assert n > 10_000
    assert baseline.rate is not None
    assert baseline.rate > 0.92


@settings(max_examples=50)
@given(st.lists(st.booleans(), max_size=150), st.lists(st.booleans(), max_size=150))
def test_its_state_brings_it_back_to_the_last_bit(verdicts: list[bool], rest: list[bool]) -> None:
    baseline = LearnedBaseline(0.005, at_least=20)
    for accepted in verdicts:
        baseline.update(accepted)
    again = LearnedBaseline.from_state(json.loads(json.dumps(baseline.state())), error_bound=0.005, at_least=20)
    assert again.rate == baseline.rate
    for accepted in rest:
        baseline.update(accepted)
        again.update(accepted)
        assert again.rate == baseline.rate
    assert again.state() == baseline.state()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"error_bound": 0.01}, "error_bound 0.01, not 0.005"),
        ({"accepted": 61}, "61 accepted of 60 verdicts"),
        ({"bound": 1.5}, "less than or equal to 1"),
        ({"bound": math.nan}, "bound"),
        ({"due": 0}, "greater than or equal to 1"),
        ({"verdicts": -1}, "greater than or equal to 0"),
        ({"verdicts": "60"}, "valid integer"),
        ({"more": 1}, "Extra inputs"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    baseline = LearnedBaseline(0.005)
    for _ in range(60):
        baseline.update(True)
    with pytest.raises(ValueError, match=message):
        LearnedBaseline.from_state({**baseline.state(), **change}, error_bound=0.005)


@pytest.mark.parametrize("error_bound", [0.0, 1.0, -1.0, math.nan])
def test_an_impossible_error_bound_is_refused(error_bound: float) -> None:
    with pytest.raises(ValueError, match="error_bound is"):
        LearnedBaseline(error_bound)


def test_a_rate_from_no_verdicts_is_refused() -> None:
    with pytest.raises(ValueError, match="at_least is 0"):
        LearnedBaseline(0.01, at_least=0)
