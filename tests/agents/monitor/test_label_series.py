"""A series of labels: draws within the budget, the corrected rate, and alarms that tell which of three it is."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from agents.monitor.label_series import LabelSeries
from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.rate_alarm import Bet
from agents.monitor.true_rate import Sums, agreement, corrected_rate, missing
from schemas import RejectedRecord

HOUR = 3600.0
BEGUN = datetime(2026, 3, 2, tzinfo=UTC)


def outcome(id_: str, accepted: bool, at: float, *, share: float = 1.0, score: float = 1.0) -> SeriesOutcome:
    rejected = None if accepted else RejectedRecord(verdict_id=id_, record_id="r", reason="-", checked_at=BEGUN)
    given = {"verdict_id": id_, "rejected": rejected, "checked_at": BEGUN + timedelta(seconds=at), "kind": None}
    return SeriesOutcome.model_construct(**given, version={}, share=share, score=score, attributes=())


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
    series.alarm.below = below
    for number in range(verdicts):
        good, accepted = judge(rng, number)
        draw = series.count(outcome(f"v{number}", accepted, number * HOUR / an_hour), 200)
        if draw is not None and (cause := series.label(f"v{number}", draw, None, float(good))) is not None:
            told.append((number, cause))
        if number % 50 == 0:
            series.settle()
    return series, told


def judged(rng: random.Random, rate: float, accepts: float = 0.95, rejects: float = 0.8) -> tuple[bool, bool]:
    good = rng.random() < rate
    return good, rng.random() < (accepts if good else 1 - rejects)


def test_the_budget_is_kept_once_the_pace_is_known():
    rng, series = random.Random(1), LabelSeries()
    drawn = [
        series.count(outcome(f"v{number}", rng.random() < 0.9, number * HOUR / 5000), 40) is not None
        for number in range(30_000)
    ]
    first, later = sum(drawn[:5000]), sum(drawn[10_000:]) / 4
    assert 40 <= first < 400
    assert 25 < later < 50


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
    _, told = played(lambda rng, n: judged(rng, 0.95, accepts=0.95 if n < 10_000 else 0.75), verdicts=25_000, seed=0)
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
    covered = 0
    for seed in range(5):
        series, hit = LabelSeries(), True
        # The true rate is .775.
        series.alarm.below = 0.75
        for number, (good, accepted, share, truth) in enumerate(sampled(random.Random(seed), 6000)):
            id_ = f"{seed}-{number}"
            draw = series.count(outcome(id_, accepted, number * HOUR / 2000, share=share), 200)
            if draw is not None:
                series.label(id_, draw, None, float(good))
            if number % 25 == 0:
                series.settle()
            if number % 50 == 0 and (rate := series.rate()) is not None:
                hit &= rate.low <= truth <= rate.high
        assert rate is not None
        assert not series.alarm.fallen
        covered += hit
    assert covered >= 4


def test_scores_that_say_less_are_drawn_more_often_and_shift_nothing():
    """Low scores are more often wrong."""
    rng, series, chances = random.Random(0), LabelSeries(), dict[str, float]()
    for number in range(8000):
        good, accepted = judged(rng, 0.9)
        score = round((rng.random() + (rng.random() > (0.45 if good else 0.98))) / 2, 3)
        draw = series.count(outcome(f"v0-{number}", accepted, number * HOUR / 1000, score=score), 50)
        if draw is not None:
            chances[draw.stratum] = draw.probability
            series.label(f"v{number}", draw, None, float(good))
        if number % 50 == 0:
            series.settle()
    assert chances["accept.low"] > 1.2 * chances["accept.high"]
    rate = series.rate()
    assert rate is not None
    assert rate.low < 0.9 < rate.high


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


def strata(*, seed: int = 1, verdicts: int = 20_000, answered: float = 1.0) -> dict[str, Sums]:
    """Of an ordinary judge, more labels of its rejects than of its accepts."""
    rng = random.Random(seed)
    found = {"accept": Sums(), "reject": Sums()}
    probabilities = {"accept": 0.02, "reject": 0.05}
    for _ in range(verdicts):
        good = rng.random() < 0.9
        name = "accept" if rng.random() < (0.92 if good else 0.3) else "reject"
        found[name].verdicts += 1
        if rng.random() < probabilities[name]:
            found[name].asked += 1
            if rng.random() < answered:
                found[name].add(float(good), probabilities[name])
    return found


def test_nothing_is_shown_below_thirty_labels_or_five_in_a_stratum():
    accept, reject = Sums(verdicts=100), Sums(verdicts=100)
    for _ in range(25):
        accept.add(1.0, 0.5)
    for number in range(5):
        assert corrected_rate([accept, reject]) is None
        reject.add(float(number % 2), 0.5)
    assert corrected_rate([accept, reject]) is not None
    assert corrected_rate([accept, Sums(verdicts=3)]) is None


def test_requests_without_an_answer_widen_the_interval_and_do_not_shift_it():
    half = [strata(seed=seed, answered=0.5) for seed in range(20)]
    whole, *rates = filter(None, (corrected_rate(each.values()) for each in (strata(), *half)))
    assert sum(rate.estimate for rate in rates) / 20 == pytest.approx(0.9, abs=0.01)
    assert sum(rate.high - rate.low for rate in rates) / 20 > 1.1 * (whole.high - whole.low)
    unknown = missing(half[0].values(), 0.9)
    assert unknown.low < 0.55
    assert unknown.high > 0.92


def test_agreement_is_that_of_the_traffic_not_of_what_was_drawn():
    found = strata(verdicts=200_000)
    told = agreement(found["accept"], found["reject"], "a seed")
    assert told is not None
    # Of the traffic: .92 and .70 by construction; chance is .79, agreement .898.
    kappa, sensitivity, specificity = told
    assert sensitivity.estimate == pytest.approx(0.92, abs=0.01)
    assert specificity.estimate == pytest.approx(0.70, abs=0.03)
    assert kappa.low < 0.52 < kappa.high
    assert told == agreement(found["accept"], found["reject"], "a seed")
    assert agreement(found["accept"], Sums(verdicts=3), "a seed") is None
