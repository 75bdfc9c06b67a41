"""The drop test: its law, its arithmetic, what it finds; and the baseline that it goes by."""

import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.monitor.baseline import Baseline, Floats
from agents.monitor.drop_test import BET_WEIGHTS, DropTest
from benchmarks.trust.methods import Verdicts, Watchers, check_agreement

rates = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 1e-9, 0.05, 0.5, 0.9, 0.999, 0.9999999, 1.0]))
histories = st.lists(st.tuples(st.booleans(), rates), max_size=60)


def fed(history: Iterable[tuple[bool, float]], *, error_bound: float = 0.01) -> DropTest:
    test = DropTest(error_bound)
    for accepted, baseline in history:
        test.update(accepted, baseline)
    return test


@given(history=histories, baseline=rates, above=st.floats(0, 1))
def test_the_evidence_is_a_supermartingale(history: list[tuple[bool, float]], baseline: float, above: float) -> None:
    """Whatever came before: while accepts are as likely as the baseline or likelier, no growth is to be expected."""
    rate = baseline + above * (1 - baseline)
    before = fed(history, error_bound=1e-9).evidence
    after = {accepted: fed([*history, (accepted, baseline)], error_bound=1e-9).evidence for accepted in (True, False)}
    assert rate * after[True] + (1 - rate) * after[False] <= before * (1 + 1e-12)


@given(verdicts=st.lists(st.tuples(st.booleans(), st.sampled_from([0.85, 0.9, 0.3])), min_size=1, max_size=40))
def test_the_evidence_is_the_sum_over_all_starts_and_bets(verdicts: list[tuple[bool, float]]) -> None:
    test = fed(verdicts, error_bound=1e-12)
    count = len(verdicts)
    terms = [math.log(100) / math.log(100 + count)]
    for start in range(1, count + 1):
        start_weight = math.log(100) * (1 / math.log(99 + start) - 1 / math.log(100 + start))
        for k, weight in enumerate(BET_WEIGHTS):
            product = 1.0
            for accepted, baseline in verdicts[start - 1 :]:
                ratio = (0.95 * baseline / 0.05) ** (1 / 5)
                drop = 0.05 * ratio**k
                product *= 1 + drop * (baseline - accepted) / (baseline * (1 - baseline))
            terms.append(weight * start_weight * product)
    if math.fsum(terms) < 1e11:
        assert test.evidence == pytest.approx(math.fsum(terms), rel=1e-9)


BOUND = 0.05
STREAMS = 200


class TestLearning:
    @settings(max_examples=30)
    @given(st.lists(st.booleans(), max_size=80), st.sampled_from([0.01, 0.2]), st.sampled_from([1.0, 0.4]))
    def test_no_growth_is_to_be_expected_of_the_evidence(
        self, verdicts: list[bool], error_bound: float, share: float
    ) -> None:
        """A test martingale under the mixture, a supermartingale where verdicts count for a share."""

        def fed(more: list[bool]) -> DropTest:
            baseline = Baseline(None, at_least=10)
            test = DropTest(error_bound)
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
