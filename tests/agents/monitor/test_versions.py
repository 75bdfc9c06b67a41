"""Versions: the latest is compared with the one before at every look, on traffic that is alike."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from agents.monitor.label_series import LabelSeries, calibration_of, version_id
from agents.monitor.labels import LabelKey
from agents.monitor.metrics import TrustMetrics
from agents.monitor.outcomes import SeriesKey, SeriesOutcome
from agents.monitor.settings import TrustSettings
from agents.monitor.trust import TrustEntry, TrustPartition
from agents.monitor.trust_series import Plan, TrustSeries
from agents.monitor.versions import change, merged_rate, unlike
from schemas import Alert, SeriesAnew, VersionRates
from streams.metrics import StreamMetrics
from streams.settings import TopicSettings
from tests.support.trust_verdicts import outcome_of, verdict
from tests.support.versions import version_rate

KEY = SeriesKey("shop", "m", "fair")
NOW = datetime(2026, 11, 28, tzinfo=UTC)
# A configured rate that no version is below: its drops are not what is tested here.
SETTINGS = TrustSettings.model_validate({"baselines": [{"rate": 0.3}]})


def begun() -> TrustSeries:
    return TrustSeries(Plan.of(SETTINGS, KEY))


def outcome(number: int, accepted: bool, release: str | None, **more: Any) -> SeriesOutcome:
    metadata = {} if release is None else {"release": release}
    given = {"judge": "j", "checked_at": NOW, "metadata": metadata, "kind": "generation"}
    return outcome_of(verdict(number, accepted, **given | more))


def fed(series: TrustSeries, outcomes: Iterable[SeriesOutcome]) -> list[Alert | SeriesAnew]:
    return [raised for each in outcomes if (raised := series.update(each, NOW)) is not None]


def mixed(count: int, rates: dict[str, float], *, seed: int = 1, **more: Any) -> list[SeriesOutcome]:
    """Verdicts on releases by chance, the first on the first one, each with its success rate."""
    rng, names = random.Random(seed), list(rates)
    drawn = [names[0], *(rng.choice(names) for _ in range(count - 1))]
    return [outcome(number, rng.random() < rates[name], name, **more) for number, name in enumerate(drawn)]


class TestAlerts:
    def test_a_worse_version_is_told_of_with_both_versions_and_what_was_rejected(self):
        series = begun()
        _, worse = fed(series, mixed(1500, {"4.1": 0.9, "4.2": 0.75}))
        assert isinstance(worse, Alert)
        assert (worse.kind, worse.baseline_from, worse.error_bound) == ("version_worse", "version", 0.01)
        assert worse.observed_low < worse.observed < worse.observed_high < worse.baseline
        assert worse.difference is not None
        assert worse.difference.low < worse.observed - worse.baseline < worse.difference.high < 0
        assert [(each.name, each.before, each.after) for each in worse.changed] == [("metadata.release", "4.1", "4.2")]
        assert len(worse.rejected) == 10
        assert "metadata.release from 4.1 to 4.2" in worse.summary
        assert series.version_worse

    def test_a_rollback_ends_it_and_it_is_told_again_if_the_version_comes_back(self):
        series = begun()
        fed(series, mixed(1500, {"4.1": 0.9, "4.2": 0.7}))
        (over,) = fed(series, mixed(200, {"4.1": 0.9}))
        assert isinstance(over, Alert)
        assert over.kind == "version_recovery"
        assert not series.version_worse
        assert [each.kind for each in fed(series, mixed(100, {"4.2": 0.7}))] == ["version_worse"]

    def test_the_gaps_of_a_small_canary_are_no_rollback(self):
        series = begun()
        fed(series, mixed(2000, {"4.1": 0.9}))
        rare = (one for canary in mixed(60, {"4.2": 0.5}) for one in (canary, *mixed(99, {"4.1": 0.9})))
        assert [each.kind for each in fed(series, rare)] == ["series_anew", "version_worse"]

    def test_a_newer_version_ends_it_and_is_compared_with_it(self):
        series = begun()
        fed(series, mixed(1500, {"4.1": 0.9, "4.2": 0.7}))
        anew, *_ = fed(series, mixed(1, {"4.3": 0.5}))
        assert isinstance(anew, SeriesAnew)
        assert not series.version_worse
        (worse,) = fed(series, mixed(1500, {"4.2": 0.7, "4.3": 0.45}))
        assert isinstance(worse, Alert)
        assert [(each.before, each.after) for each in worse.changed] == [("4.2", "4.3")]

    def test_one_that_recovers_under_its_name_ends_it(self):
        series = begun()
        fed(series, mixed(700, {"4.1": 0.9, "4.2": 0.6}))
        assert series.version_worse
        told = fed(series, mixed(6000, {"4.1": 0.9, "4.2": 0.95}, seed=2))
        assert [each.kind for each in told] == ["version_recovery"]

    @pytest.mark.parametrize("rates", [{"4.1": 0.9, "4.2": 0.9}, {"4.1": 0.8, "4.2": 0.9}], ids=["as good", "better"])
    def test_a_version_that_is_no_worse_is_not_told_of(self, rates: dict[str, float]):
        for seed in range(10):
            assert [each.kind for each in fed(begun(), mixed(800, rates, seed=seed))] == ["series_anew"]

    def test_a_small_canary_is_found_and_another_judge_is_no_version(self):
        found = begun()
        fed(found, mixed(2000, {"4.1": 0.9}))
        canary = mixed(200, {"4.2": 0.6})
        told = fed(found, [each for one in canary for each in (*mixed(9, {"4.1": 0.9}), one)])
        assert [each.kind for each in told][:2] == ["series_anew", "version_worse"]
        other = begun()
        fed(other, mixed(800, {"4.1": 0.9}))
        assert [each.kind for each in fed(other, mixed(300, {"4.2": 0.6}, judge="k"))] == ["series_anew"]

    def test_without_metadata_there_is_no_version(self):
        series = begun()
        assert fed(series, [outcome(n, n % 2 == 0, None) for n in range(200)]) == []
        assert series.versions.rates(KEY, 1.0, NOW) is None

    @settings(max_examples=10)
    @given(st.integers(0, 900), st.integers(0, 1000))
    def test_it_goes_on_from_its_state(self, cut: int, seed: int):
        outcomes = mixed(900, {"4.1": 0.9, "4.2": 0.65}, seed=seed)
        whole, first = begun(), begun()
        told = fed(whole, outcomes)
        parted = fed(first, outcomes[:cut])
        parted += fed(_taken_up(first), outcomes[cut:])
        assert parted == told

    def test_memory_is_bounded(self):
        series = begun()
        fed(series, (outcome(n, True, str(n), tenant=f"t{n}", kind=f"k{n}") for n in range(200)))
        fed(series, (outcome(n, True, "last", tenant=f"t{n}", kind=f"k{n}") for n in range(200)))
        rates = series.versions.rates(KEY, 1.0, NOW)
        assert rates is not None
        assert len(rates.versions) == 5
        assert all(len(values) <= 17 for each in rates.versions for values in each.traffic.values())
        assert len(TrustEntry(key=KEY, series=series).model_dump_json()) < 40_000


class TestTraffic:
    @pytest.mark.parametrize("part", ["kind", "tenant"])
    def test_where_it_differs_that_is_said_and_nobody_is_alarmed(self, part: str):
        series = begun()
        fed(series, mixed(400, {"4.1": 0.9}, **{part: "one"}))
        told = fed(series, mixed(400, {"4.2": 0.6}, **{part: "another"}))
        assert [each.kind for each in told] == ["series_anew"]
        rates = series.versions.rates(KEY, 1.0, NOW)
        assert rates is not None
        assert rates.versions[1].unlike == (part,)
        assert rates.versions[1].change is not None

    def test_what_is_alike_is_called_unlike_in_one_of_a_hundred_cases_at_most_however_often_one_looks(self):
        rng, told = random.Random(5), 0
        for _ in range(200):
            counts = [[0, 0, 0], [0, 0, 0]]
            for number in range(1000):
                counts[rng.random() < 0.4][rng.choices((0, 1, 2), (5, 3, 2))[0]] += 1
                if number > 60 and number % 20 == 0 and unlike(*map(_mix, counts)):
                    told += 1
                    break
        assert told <= 2

    def test_differences_too_small_to_matter_are_none(self):
        assert unlike(_mix([52_000, 48_000]), _mix([50_000, 50_000])) == ()
        assert unlike(_mix([60_000, 40_000]), _mix([50_000, 50_000])) == ("kind",)


class TestDifferences:
    def test_it_is_given_from_thirty_verdicts_of_each_on(self):
        assert change(version_rate("1", 29, 20), version_rate("2", 90, 60)) is None
        assert change(version_rate("1", 30, 20), version_rate("2", 30, 20)) is not None

    @given(st.integers(30, 5000), st.integers(30, 5000), st.floats(0, 1), st.floats(0, 1))
    def test_it_holds_the_estimate_and_turns_round_with_the_versions(self, n: int, m: int, p: float, q: float):
        first, second = version_rate("1", n, round(n * p)), version_rate("2", m, round(m * q))
        found, turned = change(first, second), change(second, first)
        assert found is not None
        assert turned is not None
        assert -1 <= found.low <= found.estimate <= found.high <= 1
        assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high))

    def test_several_series_are_one_by_their_verdicts(self):
        parts = [version_rate("1", 300, 240), version_rate("1", 100, 90)]
        found, whole = merged_rate(parts, {"metadata.release": "1"}), version_rate("1", 400, 330)
        assert (found.verdicts, found.traffic) == (400, whole.traffic)
        assert found.rate == pytest.approx(whole.rate)
        assert found.variance == pytest.approx(whole.variance, rel=0.1)


def test_what_is_published_is_stored_and_the_next_owner_goes_on_with_it():
    partition = _partition()
    for number, each in enumerate(mixed(300, {"4.1": 0.9, "4.2": 0.8})):
        partition.count(_Record(number, each.model_dump_json().encode()))
    published, stored = _flushed(partition)
    assert {each.version["metadata.release"] for each in published.versions} == {"4.1", "4.2"}
    assert sum(each.verdicts for each in published.versions) == 300
    assert published.versions[1].change is not None
    following = _partition()
    following.restore(stored, {TopicSettings().outcomes: 300})
    following.count(_Record(300, outcome(300, True, "4.1").model_dump_json().encode()))
    assert sum(each.verdicts for each in _flushed(following)[0].versions) == 301


def test_labels_correct_the_difference():
    """The judge accepts less of the later version, and people find both as good."""
    rng, series = random.Random(3), LabelSeries()
    for number in range(3000):
        release = {"metadata.release": str(1 + number % 2)}
        accepted, good = rng.random() < (0.9 if number % 2 == 0 else 0.75), rng.random() < 0.85
        at = (NOW + timedelta(seconds=number)).timestamp()
        draw = series.count(f"v{number}", accepted=accepted, at=at, budget=2000, version=release)
        if draw is not None:
            series.label(f"v{number}", draw._replace(version=version_id(release)), None, float(good))
    found = calibration_of(LabelKey("shop", "m", "fair", "d", "1"), series, NOW).versions
    assert [each.version["metadata.release"] for each in found] == ["1", "2"]
    assert all(each.labels >= 30 and abs(each.rate - 0.85) < 0.06 for each in found)
    assert found[1].change is not None
    assert found[1].change.low < 0 < found[1].change.high
    # What was said is taken back without a trace.
    again = LabelSeries.model_validate_json(series.model_dump_json())
    drawn = again.count("last", accepted=True, at=NOW.timestamp(), budget=1e9, version={"metadata.release": "2"})
    assert drawn is not None
    drawn = drawn._replace(version=version_id({"metadata.release": "2"}))
    before = again.versions[drawn.version].strata["accept"].model_copy()
    again.label("last", drawn, None, 0.0)
    again.label("last", drawn, 0.0, None)
    assert again.versions[drawn.version].strata["accept"].good == pytest.approx(before.good)
    assert again.versions[drawn.version].strata["accept"].labels == before.labels


class _Record:
    def __init__(self, offset: int, value: bytes) -> None:
        self.topic, self.partition, self.offset, self.value = TopicSettings().outcomes, 0, offset, value


def _partition() -> TrustPartition:
    metrics = TrustMetrics(StreamMetrics(CollectorRegistry(), max_subjects=10))
    partition = TrustPartition(0, SETTINGS, TopicSettings(), metrics, most=10, remember=1000)
    partition.next[TopicSettings().outcomes] = 0
    return partition


def _flushed(partition: TrustPartition) -> tuple[VersionRates, dict[bytes, bytes]]:
    """What is published of the versions, and the state that is stored."""
    topics, messages = TopicSettings(), partition.changes(TopicSettings().trust_state)
    (found,) = (each for each in messages if each.topic == topics.versions)
    stored = {each.key or b"": each.value or b"" for each in messages if each.topic == topics.trust_state}
    return VersionRates.model_validate_json(found.value or b""), stored


def _taken_up(series: TrustSeries) -> TrustSeries:
    partition = _partition()
    partition.restore({b"key": TrustEntry(key=KEY, series=series).model_dump_json().encode()}, {})
    return partition.entries[KEY].series


def _mix(counts: list[int]) -> Any:
    return version_rate("1", max(1, sum(counts)), 0, kind={str(n): count for n, count in enumerate(counts)})
