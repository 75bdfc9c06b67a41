"""The corrected rate: right whatever is drawn more often, wide where little is known."""

import random

import pytest

from agents.monitor.true_rate import Rate, Sums, agreement, corrected_rate, missing


def strata(*, seed: int = 1, verdicts: int = 20_000, rate: float = 0.9, answered: float = 1.0) -> dict[str, Sums]:
    """Of an ordinary judge, more labels of its rejects than of its accepts."""
    rng = random.Random(seed)
    found = {"accept": Sums(), "reject": Sums()}
    probabilities = {"accept": 0.02, "reject": 0.05}
    for _ in range(verdicts):
        good = rng.random() < rate
        name = "accept" if rng.random() < (0.92 if good else 0.3) else "reject"
        found[name].verdicts += 1
        if rng.random() < probabilities[name]:
            found[name].asked += 1
            if rng.random() < answered:
                found[name].add(float(good), probabilities[name])
    return found


def half_width(rate: Rate | None) -> float:
    assert rate is not None
    return (rate.high - rate.low) / 2


def test_uneven_draws_do_not_shift_the_rate():
    found = [strata(seed=seed) for seed in range(40)]
    estimates = [corrected_rate(each.values()).estimate for each in found]  # type: ignore[union-attr]
    assert sum(estimates) / 40 == pytest.approx(0.9, abs=0.005)
    raw = [sum(s.good * p for s, p in zip(each.values(), (0.02, 0.05), strict=True)) for each in found]
    labels = [sum(s.labels for s in each.values()) for each in found]
    assert sum(raw) / sum(labels) < 0.86


def test_a_judge_that_knows_more_than_chance_narrows_the_interval():
    rate = corrected_rate(strata().values())
    assert rate is not None
    assert rate.low < 0.9 < rate.high
    assert half_width(rate) < rate.alone


def test_nothing_is_shown_below_thirty_labels_or_five_in_a_stratum():
    accept, reject = Sums(verdicts=100), Sums(verdicts=100)
    for _ in range(25):
        accept.add(1.0, 0.5)
    for number in range(5):
        assert corrected_rate([accept, reject]) is None
        reject.add(float(number % 2), 0.5)
    assert corrected_rate([accept, reject]) is not None
    assert corrected_rate([accept, Sums(verdicts=3)]) is None


def test_labels_of_every_verdict_leave_hardly_anything_open():
    accept, reject = Sums(verdicts=900), Sums(verdicts=100)
    for number in range(900):
        accept.add(float(number % 10 > 0), 1.0)
    for number in range(100):
        reject.add(float(number % 2), 1.0)
    rate = corrected_rate([accept, reject])
    assert rate is not None
    assert rate.estimate == pytest.approx((810 + 50) / 1000)
    assert rate.alone < 0.01


def test_requests_without_an_answer_widen_the_interval_and_do_not_shift_it():
    whole, half = corrected_rate(strata().values()), [strata(seed=seed, answered=0.5) for seed in range(20)]
    rates = [corrected_rate(each.values()) for each in half]
    assert whole is not None
    assert sum(rate.estimate for rate in rates) / 20 == pytest.approx(0.9, abs=0.01)  # type: ignore[union-attr]
    assert sum(map(half_width, rates)) / 20 > 1.1 * half_width(whole)
    unknown = missing(half[0].values(), 0.9)
    assert unknown.low < 0.55
    assert unknown.high > 0.92


def test_agreement_is_that_of_the_traffic_not_of_what_was_drawn():
    found = strata(verdicts=200_000)
    told = agreement(found["accept"], found["reject"], "a seed")
    assert told is not None
    # Of the traffic: .92 and .70 by construction; chance is .79, agreement .898.
    assert told.sensitivity.estimate == pytest.approx(0.92, abs=0.01)
    assert told.specificity.estimate == pytest.approx(0.70, abs=0.03)
    assert told.kappa.low < 0.52 < told.kappa.high
    assert told == agreement(found["accept"], found["reject"], "a seed")
    assert agreement(found["accept"], Sums(verdicts=3), "a seed") is None
