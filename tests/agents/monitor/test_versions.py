"""Versions: the latest is compared with the one before at every look, on traffic that is alike."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest

from agents.monitor.outcomes import SeriesOutcome
from agents.monitor.settings import TrustSettings
from agents.monitor.trust import TrustEntry
from agents.monitor.trust_series import TrustSeries
from agents.monitor.versions import rates
from schemas import Alert, SeriesAnew
from tests.agents.monitor.test_trust_series import KEY
from tests.agents.monitor.test_trust_series import begun as begun_with
from tests.support.trust_verdicts import outcome_of, verdict

NOW = datetime(2026, 11, 28, tzinfo=UTC)
# A configured rate that no version is below: its drops are not what is tested here.
SETTINGS = TrustSettings.model_validate({"baselines": [{"rate": 0.3}]})
SECONDS = count()


begun = partial(begun_with, SETTINGS)


def outcome(number: int, accepted: bool, release: str | None, **more: Any) -> SeriesOutcome:
    at = NOW + timedelta(seconds=next(SECONDS))
    metadata = {} if release is None else {"release": release}
    given = {"judge": "j", "checked_at": at, "metadata": metadata, "kind": "generation"}
    return outcome_of(verdict(number, accepted, **given | more))


def fed(series: TrustSeries, outcomes: Iterable[SeriesOutcome]) -> list[Alert | SeriesAnew]:
    return [raised for each in outcomes if (raised := series.update(each, NOW)) is not None]


def mixed(count: int, rates: dict[str, float], *, seed: int = 1, **more: Any) -> list[SeriesOutcome]:
    """Verdicts on releases by chance, the first on the first one, each with its success rate."""
    rng, names = random.Random(seed), list(rates)
    drawn = [names[0], *(rng.choice(names) for _ in range(count - 1))]
    return [outcome(number, rng.random() < rates[name], name, **more) for number, name in enumerate(drawn)]


class TestAlerts:
    def test_a_worse_version_is_told_of_once_with_both_versions_and_what_was_rejected(self):
        series = begun()
        _, worse = fed(series, mixed(1500, {"4.1": 0.9, "4.2": 0.75}))
        assert isinstance(worse, Alert)
        assert (worse.kind, worse.baseline_from, worse.error_bound) == ("version_worse", "version", 0.01)
        assert worse.observed_low < worse.observed < worse.observed_high < worse.baseline
        assert worse.difference is not None
        assert worse.difference.low < worse.observed - worse.baseline < worse.difference.high < 0
        assert [(each.name, each.before, each.after) for each in worse.changed] == [("metadata.release", "4.1", "4.2")]
        assert worse.rejected
        assert "metadata.release from 4.1 to 4.2" in worse.summary

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

    def test_the_five_versions_with_the_latest_verdicts_are_kept(self):
        series = begun()
        fed(series, (outcome(n, True, "4.1" if n % 2 else str(n)) for n in range(200)))
        kept = [each.version["metadata.release"] for each in rates(series.versions)]
        assert kept == ["4.1", "192", "194", "196", "198"]
        assert len(TrustEntry(key=KEY, series=series).model_dump_json()) < 40_000


class TestTraffic:
    def test_where_kinds_differ_that_is_said_and_nobody_is_alarmed(self):
        series = begun()
        fed(series, mixed(400, {"4.1": 0.9}))
        told = fed(series, mixed(400, {"4.2": 0.6}, kind="probe"))
        assert [each.kind for each in told] == ["series_anew"]
        _, after = rates(series.versions)
        assert (after.unlike, after.change is None) == (("kind",), False)
