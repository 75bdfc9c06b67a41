"""The bet: fair while the rate is at least the bound, wherever a fall begins."""

import random

import pytest

from agents.monitor.rate_alarm import Bet


def rounds_until_alarm(rates: list[float], bound: float, seed: int) -> int | None:
    rng, bet = random.Random(seed), Bet()
    for number, rate in enumerate(rates, 1):
        bet.place(float(rng.random() < rate), 1.0, bound)
        if bet.alarm:
            return number
    return None


@pytest.mark.parametrize("bound", [0.2, 0.9])
@pytest.mark.parametrize("before", [0, 1, 57])
def test_a_round_at_the_bound_wins_nothing_on_average_but_its_stake(bound: float, before: int):
    bet = Bet()
    for number in range(before):
        bet.place(float(number % 20 > 0), 1.0, bound)
    won, lost = bet.model_copy(), bet.model_copy()
    won.place(0.0, 1.0, bound)
    lost.place(1.0, 1.0, bound)
    after = (1 - bound) * sum(won.capital) + bound * sum(lost.capital)
    staked = after - sum(bet.capital)
    assert 0 < staked <= 1
    assert all(each >= 0 for each in lost.capital)


def test_a_false_alarm_is_rare_and_a_fall_is_found_also_late():
    assert sum(rounds_until_alarm([0.9] * 1000, 0.9, seed) is not None for seed in range(60)) <= 2
    early = [rounds_until_alarm([0.75] * 500, 0.9, seed) for seed in range(20)]
    late = [rounds_until_alarm([0.93] * 1000 + [0.75] * 500, 0.9, seed) for seed in range(20)]
    assert None not in early
    assert None not in late
    assert sorted(early)[10] < 80  # type: ignore[type-var]
    assert sorted(late)[10] < 1200  # type: ignore[type-var]
