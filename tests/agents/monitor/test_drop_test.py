"""The drop test: its law, its arithmetic, what it finds; and the baseline that it goes by."""

import json
import math
import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agents.monitor.baseline import Baseline, Floats
from agents.monitor.drop_test import DropTest, bet_weights
from benchmarks.trust.methods import Verdicts, Watchers, check_agreement

rates = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 1e-9, 0.05, 0.5, 0.9, 0.999, 0.9999999, 1.0]))
histories = st.lists(st.tuples(st.booleans(), rates), max_size=60)
drops = st.sampled_from([0.001, 0.02, 0.05, 0.1, 0.3, 0.7])


def fed(history: Iterable[tuple[bool, float]], *, smallest_drop: float = 0.05, error_bound: float = 0.01) -> DropTest:
    test = DropTest(smallest_drop=smallest_drop, error_bound=error_bound)
    for accepted, baseline in history:
        test.update(accepted, baseline)
    return test


JSON = TypeAdapter(DropTest)


def restored(test: DropTest, **changed: Any) -> DropTest:
    """The test from its state, by way of JSON."""
    return JSON.validate_json(json.dumps(JSON.dump_python(test) | changed))


def coin(seed: int, rate: float, count: int) -> list[bool]:
    source = random.Random(seed)
    return [source.random() < rate for _ in range(count)]


def alarm_after(test: DropTest, verdicts: Iterable[bool], baseline: float) -> int | None:
    return next((n for n, accepted in enumerate(verdicts, start=1) if test.update(accepted, baseline)), None)


@given(history=histories, baseline=rates, above=st.floats(0, 1), smallest_drop=drops)
def test_the_evidence_is_a_supermartingale(
    history: list[tuple[bool, float]], baseline: float, above: float, smallest_drop: float
) -> None:
    """Whatever came before: while accepts are as likely as the baseline or likelier, no growth is to be expected."""
    rate = baseline + above * (1 - baseline)
    before = fed(history, smallest_drop=smallest_drop, error_bound=1e-9).evidence
    after = {
        accepted: fed([*history, (accepted, baseline)], smallest_drop=smallest_drop, error_bound=1e-9).evidence
        for accepted in (True, False)
    }
    assert rate * after[True] + (1 - rate) * after[False] <= before * (1 + 1e-12)


@given(verdicts=st.lists(st.tuples(st.booleans(), st.sampled_from([0.85, 0.9, 0.3])), min_size=1, max_size=40))
def test_the_evidence_is_the_sum_over_all_starts_and_bets(verdicts: list[tuple[bool, float]]) -> None:
    smallest_drop = 0.05
    test = fed(verdicts, smallest_drop=smallest_drop, error_bound=1e-12)
    count = len(verdicts)
    terms = [math.log(100) / math.log(100 + count)]
    for start in range(1, count + 1):
        start_weight = math.log(100) * (1 / math.log(99 + start) - 1 / math.log(100 + start))
        for k, weight in enumerate(bet_weights(smallest_drop)):
            product = 1.0
            for accepted, baseline in verdicts[start - 1 :]:
                ratio = (0.95 * baseline / smallest_drop) ** (1 / 5)
                drop = smallest_drop * ratio**k
                product *= 1 + drop * (baseline - accepted) / (baseline * (1 - baseline))
            terms.append(weight * start_weight * product)
    if math.fsum(terms) < 1e11:
        assert test.evidence == pytest.approx(math.fsum(terms), rel=1e-9)


@settings(max_examples=50)
@given(history=histories, rest=histories, smallest_drop=drops)
def test_its_state_brings_it_back_to_the_last_bit(
    history: list[tuple[bool, float]], rest: list[tuple[bool, float]], smallest_drop: float
) -> None:
    test = fed(history, smallest_drop=smallest_drop, error_bound=0.001)
    again = restored(test)
    assert (again.evidence, again.since) == (test.evidence, test.since)
    for accepted, baseline in rest:
        assert again.update(accepted, baseline) == test.update(accepted, baseline)
        assert (again.evidence, again.since) == (test.evidence, test.since)
    assert again == test


@pytest.mark.parametrize(("rate", "mean_at_most"), [(0.85, 1100), (0.8, 330), (0.7, 110)])
def test_drops_are_found_soon(rate: float, mean_at_most: int) -> None:
    """After 5,000 good verdicts, on the mean of 12 streams; which drop it is, the test is not told."""
    delays = []
    for seed in range(12):
        test = fed((accepted, 0.9) for accepted in coin(seed, 0.9, 5000))
        assert test.evidence < 100
        delay = alarm_after(test, coin(1000 + seed, rate, 20_000), 0.9)
        assert delay is not None
        delays.append(delay)
    assert sum(delays) / len(delays) < mean_at_most


@pytest.mark.parametrize("rate", [0.85, 0.6, 0.0])
def test_it_tells_since_when(rate: float) -> None:
    """The alarm's verdicts are those after the change, give or take a third, and their rate is about the new one."""
    shares, errors = [], []
    for seed in range(20):
        test = fed((accepted, 0.9) for accepted in coin(seed, 0.9, 3000))
        delay = alarm_after(test, coin(1000 + seed, rate, 20_000), 0.9)
        assert delay is not None
        assert 0 <= test.since.accepted <= test.since.verdicts <= 3000 + delay
        errors.append(abs(test.since.verdicts - delay) / (delay + 10))
        shares.append(test.since.accepted / test.since.verdicts)
    assert sorted(errors)[10] < 0.33
    assert sum(shares) / len(shares) == pytest.approx(rate, abs=0.1)


def test_after_the_alarm_it_stands() -> None:
    test = DropTest(smallest_drop=0.05, error_bound=0.01)
    assert alarm_after(test, [False] * 100, 0.9) is not None
    evidence, since, stood = test.evidence, test.since, restored(test)
    assert evidence >= 100
    assert all(test.update(accepted, 0.9) for accepted in [True] * 2000 + [False] * 2000)
    assert (test.evidence, test.since, test) == (evidence, since, stood)
    assert stood.update(True, 0.9)


BOUND = 0.05
STREAMS = 200
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)

learned_histories = st.lists(st.booleans(), max_size=80)


class TestLearning:
    @settings(max_examples=30)
    @given(learned_histories, st.sampled_from([0.01, 0.2]), st.sampled_from([1.0, 0.4]))
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

    def test_false_alarms_are_rarer_than_promised(self) -> None:
        first, later = false_alarms(lambda _: [0.5, 0.9, 0.98], 300)
        assert (first + later).max() <= BOUND


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
