"""A series: draws within the budget that a replay repeats, and alarms that tell which of three it is."""

import random
from collections.abc import Callable, Iterator

import pytest

from agents.monitor.label_series import Draw, LabelSeries
from agents.monitor.rate_alarm import Bet

HOUR = 3600.0


def played(
    judge: Callable[[random.Random, int], tuple[bool, bool]],
    *,
    verdicts: int,
    below: float | None = 0.85,
    an_hour: float = 2000,
    seed: int = 1,
) -> tuple[LabelSeries, list[tuple[int, str]]]:
    """A series whose every draw is answered at once; what it told, by the number of the verdict.

    `judge` gives for the number of a verdict whether the output is good, and whether it is accepted.
    """
    rng, series, told = random.Random(seed), LabelSeries(), []
    for number in range(verdicts):
        good, accepted = judge(rng, number)
        draw = series.count(f"v{number}", accepted=accepted, at=number * HOUR / an_hour, budget=200)
        if draw is not None and (cause := series.label(f"v{number}", draw, None, float(good))) is not None:
            told.append((number, cause))
        if number % 50 == 0:
            series.settle(below)
    return series, told


def judged(rng: random.Random, rate: float, accepts: float = 0.95, rejects: float = 0.8) -> tuple[bool, bool]:
    good = rng.random() < rate
    return good, rng.random() < (accepts if good else 1 - rejects)


def test_the_budget_is_kept_once_the_pace_is_known():
    rng, series = random.Random(1), LabelSeries()
    drawn = [
        series.count(f"v{number}", accepted=rng.random() < 0.9, at=number * HOUR / 5000, budget=40) is not None
        for number in range(30_000)
    ]
    first, later = sum(drawn[:5000]), sum(drawn[10_000:]) / 4
    assert 40 <= first < 400
    assert 25 < later < 50


def test_a_replay_from_what_was_stored_draws_the_same_with_the_same_probability():
    rng, series = random.Random(3), LabelSeries()
    sent = [(f"v{number}", rng.random() < 0.8, number * 2.0, rng.random() < 0.9) for number in range(4000)]

    def draws(series: LabelSeries, part: list[tuple[str, bool, float, bool]], *, labelled: bool) -> list[Draw | None]:
        found = []
        for id_, accepted, at, good in part:
            found.append(draw := series.count(id_, accepted=accepted, at=at, budget=60))
            if draw is not None and labelled:
                series.label(id_, draw, None, float(good))
        return found

    draws(series, sent[:2000], labelled=True)
    series.settle(None)
    stored = series.model_dump_json()
    first = draws(series, sent[2000:], labelled=False)
    # Also where labels come in between.
    again = draws(LabelSeries.model_validate_json(stored), sent[2000:], labelled=True)
    assert any(first)
    assert [each and each.probability for each in first] == [each and each.probability for each in again]


def test_a_model_that_fell_is_blamed():
    series, told = played(lambda rng, n: judged(rng, 0.95 if n < 10_000 else 0.6), verdicts=20_000)
    assert [cause for _, cause in told] == ["model"]
    assert told[0][0] >= 10_000
    assert series.alarm.fallen


def test_a_judge_that_does_not_see_a_new_fault_is_blamed():
    def blind(rng: random.Random, number: int) -> tuple[bool, bool]:
        good, accepted = judged(rng, 0.95)
        return good and not (number >= 10_000 and rng.random() < 0.35), accepted

    _, told = played(blind, verdicts=20_000)
    assert [cause for _, cause in told] == ["judge_blind"]


def test_another_judge_or_other_traffic_raises_no_alarm_that_blames_the_model():
    for seed in range(2):
        _, told = played(
            lambda rng, n: judged(rng, 0.95, accepts=0.95 if n < 10_000 else 0.75), verdicts=25_000, seed=seed
        )
        assert {cause for _, cause in told} == {"judge_or_traffic"}


def test_a_rate_that_stays_is_not_told_of_and_its_bound_is_learned():
    for seed in range(2):
        series, told = played(lambda rng, n: judged(rng, 0.9), verdicts=10_000, below=None, seed=seed)
        assert told == []
        assert series.alarm.below is not None
        assert 0.7 < series.alarm.below < 0.9


def test_a_recovery_is_told():
    rates = [(10_000, 0.95), (16_000, 0.6), (40_000, 0.95)]
    _, told = played(lambda rng, n: judged(rng, next(rate for end, rate in rates if n < end)), verdicts=40_000)
    assert [cause for _, cause in told[:2]] == ["model", "recovery"]


def sampled(rng: random.Random, verdicts: int) -> Iterator[tuple[bool, bool, float, float]]:
    """What routing takes of two tenants' records: all of one's, and a tenth of the other's.

    Whether the output is good, whether it is accepted, the share of its rule, and the rate of all records so far.
    """
    good_ones = 0
    for number in range(1, verdicts + 1):
        share = rng.choice((1.0, 0.1))
        good, accepted = judged(rng, 0.95 if share == 1.0 else 0.6)
        good_ones += good
        if rng.random() < share:
            yield good, accepted, share, good_ones / number


def test_the_rate_is_that_of_all_traffic_where_rules_take_unlike_shares_of_it():
    covered = shifted = false = 0
    for seed in range(5):
        weighed, blind, hit = LabelSeries(), LabelSeries(), True
        # The true rate is .775.
        weighed.alarm.below = 0.75
        for number, (good, accepted, share, truth) in enumerate(sampled(random.Random(seed), 6000)):
            id_, at = f"{seed}-{number}", number * HOUR / 2000
            for series, told in ((weighed, share), (blind, 1.0)):
                draw = series.count(id_, accepted=accepted, at=at, budget=200, share=told)
                if draw is not None:
                    series.label(id_, draw, None, float(good))
                if number % 25 == 0:
                    series.settle(0.75)
            if number % 50 == 0 and (rate := weighed.rate()) is not None:
                hit &= rate.low <= truth <= rate.high
        found = weighed.rate(), blind.rate()
        assert found[0] is not None
        assert found[1] is not None
        covered += hit
        shifted += not found[1].low <= truth <= found[1].high
        false += weighed.alarm.fallen
    assert covered >= 4
    assert shifted == 5
    assert false == 0


def scored(*, seed: int) -> tuple[LabelSeries, list[tuple[bool, Draw | None]]]:
    """A series whose low scores are more often wrong, every draw answered; outcome and draw of each verdict."""
    rng, series, found = random.Random(seed), LabelSeries(), []
    for number in range(8000):
        good, accepted = judged(rng, 0.9)
        score = round((rng.random() + (rng.random() > (0.45 if good else 0.98))) / 2, 3)
        at = number * HOUR / 1000
        draw = series.count(f"v{seed}-{number}", accepted=accepted, at=at, budget=50, score=score)
        found.append((accepted, draw))
        if draw is not None:
            series.label(f"v{number}", draw, None, float(good))
        if number % 50 == 0:
            series.settle(None)
    return series, found


def test_scores_that_say_less_are_drawn_more_often_and_shift_nothing():
    rates = []
    for seed in range(6):
        series, found = scored(seed=seed)
        chances = {each.stratum: each.probability for _, each in found[4000:] if each is not None}
        assert chances["accept.low"] > 1.2 * chances["accept.high"]
        rate = series.rate()
        assert rate is not None
        assert rate.low < 0.9 < rate.high
        rates.append(rate.estimate)
    assert abs(sum(rates) / len(rates) - 0.9) < 0.015


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
