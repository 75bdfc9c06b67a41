"""The baseline: fair odds for what is learned, slots by the clock, and what the verdict before says."""

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.trust.baseline import FEWEST, SLOTS, Baseline, BaselineState, Cycle, slot_of
from agents.trust.drop_test import DropTest
from benchmarks.trust.methods import Verdicts, Watchers, check_agreement
from benchmarks.trust.simulation import repeating

BOUND = 0.05
STREAMS = 400

histories = st.lists(st.booleans(), max_size=80)


def taught(verdicts: list[bool], baseline: Baseline | None = None) -> Baseline:
    baseline = baseline or Baseline(None, at_least=10)
    for accepted in verdicts:
        baseline.learn(accepted, 0)
    return baseline


class TestLearning:
    @given(histories)
    def test_a_bet_is_fair_to_one_who_knows_the_verdicts_so_far(self, verdicts: list[bool]) -> None:
        """All rates are equally likely: the odds are the posterior mean, by integrals instead of by its formula."""
        rate = taught(verdicts).rate(0)
        if len(verdicts) < FEWEST:
            assert rate is None
            return
        grid = (np.arange(20_000) + 0.5) / 20_000
        likelihood = grid ** sum(verdicts) * (1 - grid) ** (len(verdicts) - sum(verdicts))
        assert rate == pytest.approx(float((likelihood * grid).sum() / likelihood.sum()), abs=1e-6)

    @settings(max_examples=30)
    @given(histories, st.sampled_from([0.01, 0.2]))
    def test_no_growth_is_to_be_expected_of_the_evidence(self, verdicts: list[bool], error_bound: float) -> None:
        """A test martingale under the mixture, a supermartingale where runs count for less."""

        def fed(more: list[bool]) -> DropTest:
            baseline = Baseline(None, at_least=10)
            test = DropTest(smallest_drop=0.05, error_bound=error_bound)
            for accepted in [*verdicts, *more]:
                rate = baseline.rate(0)
                if rate is not None:
                    test.update(accepted, baseline.conditional(rate))
                baseline.learn(accepted, 0)
            return test

        before = fed([]).evidence
        accept = (1 + sum(verdicts)) / (2 + len(verdicts))
        after = accept * fed([True]).evidence + (1 - accept) * fed([False]).evidence
        assert after <= before * (1 + 1e-9)

    def test_it_waits_for_enough_verdicts(self) -> None:
        baseline = Baseline(None)
        taught([True] * 49, baseline)
        assert baseline.rate(0) is None
        assert taught([True], baseline).rate(0) == 51 / 52

    def test_a_slow_decline_is_found(self) -> None:
        """One point in 5,000 verdicts: the mean follows it, and stays behind."""
        source = random.Random(8)
        baseline, test = Baseline(None), DropTest(smallest_drop=0.05, error_bound=0.01)
        for n in range(100_000):
            rate = baseline.rate(0)
            accepted = source.random() < 0.95 - n / 500_000
            if rate is not None and test.update(accepted, baseline.conditional(rate)):
                break
            baseline.learn(accepted, 0)
        else:
            pytest.fail("no alarm")
        assert n > 10_000

    @pytest.mark.parametrize("rate", [0.5, 0.9, 0.98])
    def test_false_alarms_are_rarer_than_promised(self, rate: float) -> None:
        assert false_alarms(Watchers(STREAMS, BOUND), lambda _: rate, 3000) <= BOUND

    @pytest.mark.parametrize(("drop", "after"), [(0.1, 1000), (0.2, 1000), (0.05, 10_000)])
    def test_drops_are_found_within_twice_the_verdicts_of_a_configured_baseline(self, drop: float, after: int) -> None:
        (configured, none), (learned, few) = (
            delays(Watchers(150, 0.01, rates), drop, after) for rates in ([0.9], None)
        )
        assert learned <= 2 * configured
        assert none == 0
        assert few <= 3


class TestCycles:
    @pytest.mark.parametrize(
        ("cycle", "slots"),
        [(None, [0, 0]), ("hour_of_day", [23, 0]), ("day_of_week", [6, 0]), ("hour_of_week", [167, 0])],
    )
    def test_weeks_begin_on_monday_at_midnight(self, cycle: Cycle | None, slots: list[int]) -> None:
        monday = datetime(2026, 11, 23, tzinfo=UTC)
        assert [slot_of(moment, cycle) for moment in (monday - timedelta(seconds=1), monday)] == slots

    @given(st.datetimes(timezones=st.just(UTC)), st.sampled_from(list(SLOTS)))
    def test_every_moment_has_a_slot(self, moment: datetime, cycle: Cycle | None) -> None:
        assert slot_of(moment, cycle) in range(SLOTS[cycle])

    def test_each_slot_learns_from_its_own_verdicts_and_without_enough_says_nothing(self) -> None:
        baseline = Baseline(None, slots=2, at_least=20)
        for number in range(40):
            baseline.learn(accepted=True, slot=0)
            if number >= 40 - FEWEST + 1:
                baseline.learn(accepted=False, slot=1)
        assert baseline.rate(0) == 41 / 42
        assert baseline.rate(1) is None
        baseline.learn(accepted=False, slot=1)
        assert baseline.rate(1) == 1 / 12

    def test_given_rates_are_by_slot_less_the_tolerance(self) -> None:
        baseline = Baseline([0.95, 0.88, 0.01], slots=3, tolerance=0.05)
        assert [baseline.rate(slot) for slot in range(3)] == pytest.approx([0.9, 0.83, 0])

    @pytest.mark.parametrize(
        ("cycle", "minutes", "rate"),
        [
            ("hour_of_week", 15, lambda moment: 0.95 if moment.weekday() < 5 else 0.88),
            ("day_of_week", 15, lambda moment: 0.95 if moment.weekday() < 5 else 0.88),
            ("hour_of_day", 2, lambda moment: 0.95 if 8 <= moment.hour < 20 else 0.85),
        ],
    )
    def test_what_goes_by_the_clock_is_no_drop(
        self, cycle: Cycle, minutes: int, rate: Callable[[datetime], float]
    ) -> None:
        moments = [datetime(2026, 1, 5, tzinfo=UTC) + timedelta(minutes=minutes * n) for n in range(5000)]
        slots = [slot_of(moment, cycle) for moment in moments]
        known = Watchers(STREAMS, BOUND, slots=SLOTS[cycle])
        assert false_alarms(known, lambda n: rate(moments[n]), 5000, slots.__getitem__) <= BOUND
        assert false_alarms(Watchers(STREAMS, BOUND), lambda n: rate(moments[n]), 5000) > 2 * BOUND

    def test_what_goes_up_and_down_otherwise_is_tolerated(self) -> None:
        for tolerance, fits in ((0.1, True), (0.0, False)):
            watchers = Watchers(STREAMS, BOUND, tolerance=tolerance)
            share = false_alarms(watchers, lambda n: 0.95 if n // 500 % 2 == 0 else 0.85, 6000)
            assert (share <= BOUND) == fits


class TestRuns:
    @pytest.mark.parametrize("share", [0.1, 0.3])
    @pytest.mark.parametrize("rates", [[0.9], None], ids=["configured", "learned"])
    def test_verdicts_that_repeat_the_one_before_are_no_drop(self, share: float, rates: list[float] | None) -> None:
        watchers = Watchers(STREAMS, BOUND, rates)
        alarmed = np.zeros(STREAMS, dtype=bool)
        traffic = repeating(0.9, share)(np.random.default_rng(1), STREAMS)
        for _ in range(4000):
            alarmed |= watchers.step(next(traffic))
        assert alarmed.mean() <= BOUND
        assert watchers.autocorrelation.mean() == pytest.approx(share, abs=0.03)

    @settings(max_examples=20)
    @given(st.integers(0, 10**6), st.sampled_from([0.5, 0.9, 0.99]))
    def test_independent_verdicts_are_held_against_no_more_than_the_rate(self, seed: int, rate: float) -> None:
        """So what is promised of them stays exact; an estimate three standard errors from 0 is a rare bad luck."""
        source = random.Random(seed)
        baseline = taught([source.random() < rate for _ in range(1000)], Baseline([rate]))
        exceeded = baseline.conditional(rate) - rate
        assert exceeded <= 0.02
        assert baseline.autocorrelation == pytest.approx(0, abs=0.3)

    def test_after_a_reject_less_is_expected_and_after_an_accept_no_less(self) -> None:
        source = random.Random(2)
        verdicts = [True]
        for _ in range(5000):
            verdicts.append(verdicts[-1] if source.random() < 0.4 else source.random() < 0.8)
        baseline = taught(verdicts, Baseline([0.8]))
        assert baseline.autocorrelation == pytest.approx(0.4, abs=0.1)
        baseline.follow(accepted=True)
        assert 0.8 < baseline.conditional(0.8) < 0.8 + 0.4 * 0.2 + 0.02
        baseline.follow(accepted=False)
        assert baseline.conditional(0.8) == pytest.approx(0.8 - 0.4 * 0.8, abs=0.1)
        # Of rejects it is the other way round.
        assert baseline.conditional(0.3, flipped=True) > 0.3

    @pytest.mark.parametrize("before", [[True] * 300, [True, True, True, False] * 80])
    def test_a_failure_of_everything_is_no_correlation(self, before: list[bool]) -> None:
        baseline, test = taught(before), DropTest(smallest_drop=0.05, error_bound=0.01)
        for _ in range(25):
            rate = baseline.rate(0)
            assert rate is not None
            if test.update(False, baseline.conditional(rate)):
                return
            baseline.learn(accepted=False, slot=0)
        pytest.fail("no alarm")


class TestState:
    @settings(max_examples=50)
    @given(st.lists(st.tuples(st.booleans(), st.integers(0, 1)), max_size=300), st.lists(st.booleans(), max_size=100))
    def test_it_brings_it_back_to_the_last_bit(self, verdicts: list[tuple[bool, int]], rest: list[bool]) -> None:
        one = Baseline(None, slots=2, at_least=20)
        for accepted, slot in verdicts:
            one.learn(accepted, slot)
        other = Baseline(None, slots=2, at_least=20)
        other.restore(BaselineState.model_validate_json(one.state().model_dump_json()))
        for accepted in rest:
            for each in (one, other):
                each.learn(accepted, 1)
            assert other.rate(1) == one.rate(1)
            assert other.conditional(0.9) == one.conditional(0.9)
        assert other.state() == one.state()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"verdicts": [60, 1]}, "has 2 slots, not 1"),
            ({"accepted": [61]}, "more accepts than verdicts"),
            ({"accepted": [-1]}, "greater than or equal to 0"),
            ({"deviation": math.nan}, "finite"),
            ({"more": 1}, "Extra inputs"),
        ],
    )
    def test_one_that_does_not_fit_is_refused(self, change: dict[str, Any], message: str) -> None:
        state = taught([True] * 60).state().model_dump()
        with pytest.raises(ValueError, match=message):
            Baseline(None).restore(BaselineState.model_validate({**state, **change}))

    def test_rates_for_other_slots_are_refused(self) -> None:
        with pytest.raises(ValueError, match="2 rates are given for 24 slots"):
            Baseline([0.9, 0.8], slots=24)


def test_what_is_simulated_side_by_side_is_the_program() -> None:
    check_agreement(0.9, 0.01)


def test_a_moment_elsewhere_is_read_in_utc() -> None:
    from tests.support.trust_verdicts import verdict

    tokyo = datetime(2026, 11, 23, 8, tzinfo=timezone(timedelta(hours=9)))
    assert slot_of(verdict(1, True, occurred_at=tokyo).occurred_at or tokyo, "hour_of_day") == 23


def false_alarms(
    watchers: Watchers, rate: Callable[[int], float], verdicts: int, slot: Callable[[int], int] = lambda _: 0
) -> float:
    """The share of streams with one."""
    source = np.random.default_rng(1)
    alarmed: Verdicts = np.zeros(STREAMS, dtype=bool)
    for n in range(verdicts):
        alarmed |= watchers.step(source.random(STREAMS) < rate(n), slot(n))
    return float(alarmed.mean())


def delays(watchers: Watchers, drop: float, after: int) -> tuple[float, int]:
    """The mean in verdicts, and how many are not found within 4,000."""
    source = np.random.default_rng(2)
    for _ in range(after):
        watchers.step(source.random(150) < 0.9)
    found = np.zeros(150)
    for n in range(1, 4000):
        found[watchers.step(source.random(150) < 0.9 - drop) & (found == 0)] = n
        if found.all():
            break
    return float(found[found > 0].mean()), int((found == 0).sum())
