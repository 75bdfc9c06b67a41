"""The baseline: fair odds for what is learned, the week's own way, and what verdicts that fail together count for."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.monitor.baseline import Baseline, Floats
from agents.monitor.drop_test import DropTest
from benchmarks.trust.methods import Verdicts, Watchers, check_agreement

BOUND = 0.05
STREAMS = 200
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)

histories = st.lists(st.booleans(), max_size=80)


class TestLearning:
    @settings(max_examples=30)
    @given(histories, st.sampled_from([0.01, 0.2]), st.sampled_from([1.0, 0.4]))
    def test_no_growth_is_to_be_expected_of_the_evidence(
        self, verdicts: list[bool], error_bound: float, share: float
    ) -> None:
        """A test martingale under the mixture, a supermartingale where verdicts count for a share."""

        def fed(more: list[bool]) -> DropTest:
            baseline = Baseline(None, at_least=10)
            test = DropTest(smallest_drop=0.05, error_bound=error_bound)
            for accepted in [*verdicts, *more]:
                rate = baseline.rate()
                if rate is not None:
                    test.update(accepted, rate, share=share)
                baseline.learn(accepted)
            return test

        before = fed([]).evidence
        accept = (1 + sum(verdicts)) / (2 + len(verdicts))
        after = accept * fed([True]).evidence + (1 - accept) * fed([False]).evidence
        assert after <= before * (1 + 1e-9)

    def test_a_slow_decline_is_found(self) -> None:
        """One point in 5,000 verdicts, in half a year: the mean follows it, and stays behind."""
        watchers, source = Watchers(1, 0.01), np.random.default_rng(8)
        for n in range(100_000):
            if watchers.step(source.random(1) < 0.95 - n / 500_000, n // 20)[0]:
                break
        else:
            pytest.fail("no alarm")
        assert n > 10_000

    def test_false_alarms_are_rarer_than_promised(self) -> None:
        first, later = false_alarms(lambda _: [0.5, 0.9, 0.98], 300)
        assert (first + later).max() <= BOUND

    @pytest.mark.parametrize(("drops", "after"), [([0.1, 0.2], 1000), ([0.05], 10_000)])
    def test_drops_are_found_within_twice_the_verdicts_of_a_configured_baseline(
        self, drops: list[float], after: int
    ) -> None:
        (configured, none), (learned, few) = (delays(rate, drops, after) for rate in (0.9, None))
        assert (learned <= 2 * configured).all()
        assert max(none) <= 1
        assert max(few) <= 15


class TestWeeks:
    def test_what_goes_by_the_clock_is_no_drop_from_the_second_week_on(self) -> None:
        def rates(hour: int) -> list[float]:
            """By the week, and by the day."""
            return [0.95 if hour // 24 % 7 < 5 else 0.88, 0.95 if 8 <= hour % 24 < 20 else 0.85]

        _, later = false_alarms(rates, 4 * 168)
        assert later.max() <= BOUND

    def test_the_profile_follows_the_week_and_a_given_rate_is_lowered_alone(self) -> None:
        learned, given = Baseline(None), Baseline(0.9)
        source = random.Random(1)
        for number in range(4 * 168 * 40):
            moment = MONDAY + timedelta(minutes=1.5 * number)
            accepted = source.random() < (0.95 if moment.weekday() < 5 else 0.8)
            for each in (learned, given):
                each.at(moment)
                each.learn(accepted)
        rates = []
        for day in range(7):
            for each in (learned, given):
                each.at(MONDAY + timedelta(days=28 + day, hours=12))
            rates.append((learned.rate(), given.rate()))
        assert [first for first, _ in rates] == pytest.approx([0.95] * 5 + [0.8] * 2, abs=0.03)
        assert [second for _, second in rates] == pytest.approx([0.9] * 5 + [0.79] * 2, abs=0.03)
        assert max(second for _, second in rates if second) <= 0.9


class TestDependence:
    def test_independent_verdicts_count_in_full_and_those_that_fail_together_for_less(self) -> None:
        dispersions = []
        for length in (1, 20):
            baseline, source, fails = Baseline(None), random.Random(2), False
            for number in range(168 * 100):
                if number % length == 0:
                    fails = source.random() < 0.1
                baseline.at(MONDAY + timedelta(seconds=36 * number))
                baseline.learn(not fails)
            dispersions.append(baseline.dispersion)
        assert dispersions[0] < 1.5
        assert dispersions[1] > 10


def test_what_is_simulated_side_by_side_is_the_program() -> None:
    check_agreement(streams=2, an_hour=10)


def false_alarms(rates: Callable[[int], list[float]], hours: int) -> tuple[Floats, Floats]:
    """The share of streams with one in the first week, and later, by the rates of an hour; at ten verdicts an hour."""
    source, groups = np.random.default_rng(1), len(rates(0))
    watchers = Watchers(groups * STREAMS, BOUND)
    alarmed: Verdicts = np.zeros((2, groups * STREAMS), dtype=bool)
    for n in range(10 * hours):
        accepted = source.random(groups * STREAMS) < np.repeat(rates(n // 10), STREAMS)
        alarmed[n >= 1680] |= watchers.step(accepted, n // 10)
    first, later = alarmed.reshape(2, groups, STREAMS).mean(axis=2)
    return first, later


def delays(given: float | None, drops: list[float], after: int) -> tuple[Floats, list[int]]:
    """By drop: the mean in verdicts, at ten an hour, and how many of 150 are not found within 4,000."""
    source, streams = np.random.default_rng(2), 150 * len(drops)
    watchers = Watchers(streams, 0.01, given)
    for n in range(after):
        watchers.step(source.random(streams) < 0.9, n // 10)
    found = np.zeros(streams)
    for n in range(1, 4000):
        dropped = source.random(streams) < 0.9 - np.repeat(drops, 150)
        found[watchers.step(dropped, (after + n) // 10) & (found == 0)] = n
        if found.all():
            break
    each = found.reshape(len(drops), 150)
    return np.array([group[group > 0].mean() for group in each]), [int((group == 0).sum()) for group in each]
