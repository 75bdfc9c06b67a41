"""The counter of one partition: what is stored and forgotten, its metrics, and what an alert says of rejects."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from agents.checker_agent import outcome_message
from agents.monitor.label_series import LabelKey, LabelSeries, alert_of
from agents.monitor.outcomes import RecentVerdicts, SeriesOutcome
from agents.monitor.settings import TrustSettings
from agents.monitor.trust import TrustMetrics, TrustPartition
from agents.monitor.trust_series import Plan, TrustSeries
from schemas import Alert, Attribute, Origin, TrueRateAlert, Verdict
from streams.metrics import StreamMetrics
from streams.settings import TopicSettings
from tests.agents.monitor.test_trust_series import KEY, LEARNED
from tests.support.trust_verdicts import FIXED, outcome_of, stream, verdict

TOPICS = TopicSettings()
DAY = 86_400.0
ENDS = {TOPICS.outcomes: 10_000}


Record = partial(SimpleNamespace, topic=TOPICS.outcomes)


class Shared:
    """A state, its clock and what it counts."""

    def __init__(self, most: int = 10, **trust: Any) -> None:
        self.registry = CollectorRegistry()
        self.now = 1000 * DAY
        metrics = TrustMetrics(StreamMetrics(self.registry, max_subjects=10))
        settings = TrustSettings.model_validate(FIXED | trust)
        self.partition = TrustPartition(settings, TOPICS, metrics, 0, most=most, clock=lambda: self.now)
        self.partition.next[TOPICS.outcomes] = 0
        self.offset = 0

    def count(self, *verdicts: Verdict) -> None:
        for each in verdicts:
            position = Origin(topic="rejected", partition=0, offset=self.offset)
            self.partition.count(Record(offset=self.offset, value=outcome_message(each, TOPICS, position).value))
            self.offset += 1

    def written(self) -> dict[bytes | None, bytes | None]:
        messages = self.partition.changes("state")
        assert {message.partition for message in messages} <= {0}
        return {message.key: message.value for message in messages}

    def raised(self) -> list[Alert]:
        return [Alert.model_validate_json(message.value or b"") for message in self.partition.outbox()]

    def counted(self) -> dict[str, int]:
        return {key[1]: entry.series.counted for key, entry in self.partition.entries.items()}


class TestWriting:
    def test_what_was_not_stored_is_raised_again_under_the_same_id_and_what_was_stored_is_not(self):
        first, second, third = Shared(), Shared(), Shared()
        sent = stream([(300, 0.9), (200, 0.3)])
        first.count(*sent[:300])
        second.partition.restore(_kept(first), ENDS)
        for shared in (first, second):
            shared.offset = 300
            shared.count(*sent[300:])
        (alert,), (again,) = first.raised(), second.raised()
        assert alert.id == again.id
        # Another alert that is the first, as after other settings, has another id.
        other = Shared(error_bound=0.1)
        other.count(*sent)
        assert [each.id == alert.id for each in other.raised()] == [False]
        for each in alert.rejected:
            assert each.verdict_origin is not None
            assert sent[each.verdict_origin.offset].id == each.verdict_id
        assert second.raised() == []
        third.partition.restore(_kept(second), ENDS)
        third.count(*sent[300:])
        assert third.raised() == []
        assert third.counted() == {"m": 500}
        (entry,) = third.partition.entries.values()
        assert entry.series.dropped

    def test_a_verdict_that_comes_again_counts_once_whatever_it_says_then(self):
        shared = Shared()
        shared.count(verdict(1, True), verdict(2, False), verdict(1, False), verdict(2, True))
        assert shared.counted() == {"m": 2}
        assert shared.registry.get_sample_value("assay_trust_repeats_total", {"checker": "fair"}) == 2

    def test_a_state_that_cannot_be_read_makes_its_series_begin_anew_and_no_other(self):
        before, after = Shared(), Shared()
        before.count(verdict(1, True), verdict(1, True, model="other"))
        rubbish = {b"shop\x1fm\x1ffair": b'{"key": ["shop", "m", "fair"], "series": {"counted": 0}}'}
        after.partition.restore(_kept(before) | rubbish, ENDS)
        assert after.counted() == {"other": 1}

    @given(st.none() | st.binary(max_size=200) | st.text(max_size=50).map(str.encode))
    @example(b"{}")
    def test_anything_else_than_an_outcome_is_passed_over_and_counted(self, value: bytes | None):
        shared = Shared()
        shared.partition.count(Record(offset=0, value=value))
        assert shared.registry.get_sample_value("assay_trust_unreadable_total") == 1
        assert (shared.counted(), shared.partition.next) == ({}, {TOPICS.outcomes: 1})


class TestForgetting:
    def test_a_series_long_without_a_verdict_makes_room_and_is_deleted_where_it_was_kept(self):
        shared = Shared(most=1)
        shared.count(verdict(1, True, model="old"))
        shared.count(verdict(1, True, model="new"))
        assert shared.counted() == {"old": 1}
        assert shared.partition.forget_old() == []
        shared.now += 31 * DAY
        assert [key[1] for key in shared.partition.forget_old()] == ["old"]
        assert shared.written() == {b"shop\x1fold\x1ffair": None}
        shared.count(verdict(2, True, model="new"))
        assert shared.counted() == {"new": 1}


def _kept(shared: Shared) -> dict[bytes, bytes]:
    return {key: value for key, value in shared.written().items() if key is not None and value is not None}


def row(model: str, *, dropped: bool = False) -> tuple[tuple[str, ...], Any]:
    state = {"baseline": 0.9, "dropped": dropped, "evidence_ratio": 0.5, "dispersion": 2.0, "allowance": 0.01}
    return ("s", model, "c"), SimpleNamespace(**state)


def test_subjects_beyond_the_maximum_are_one_that_dropped_if_any_did():
    registry = CollectorRegistry()
    rows = [row(f"m{number}", dropped=number == 4) for number in range(6)]
    TrustMetrics(StreamMetrics(registry, max_subjects=2)).rows = lambda: rows

    def shown(source: str, model: str, name: str = "dropped") -> float | None:
        labels = {"checker": "c", "source": source, "model": model}
        return registry.get_sample_value(f"assay_trust_{name}", labels)

    assert (shown("s", "m1"), shown("s", "m2"), shown("other", "other")) == (0, None, 1)
    assert shown("other", "other", "baseline_ratio") is None
    rows[4] = row("m4")
    assert shown("other", "other") == 0


def test_checkers_names_beyond_a_hundred_are_one():
    metrics = TrustMetrics(StreamMetrics(CollectorRegistry(), max_subjects=2))
    assert [metrics.checker(f"c{number}") for number in (*range(101), 7)] == [
        *(f"c{n}" for n in range(100)),
        "other",
        "c7",
    ]


NOW = datetime(2026, 11, 27, 9, 50, tzinfo=UTC)


def test_memory_is_bounded_whatever_producers_choose():
    recent = RecentVerdicts()
    for number in range(3000):
        recent.add(number % 9 > 0, [Attribute("document", f"{number}-{each}" * 9) for each in range(16)])
        assert len(recent.verdicts) <= 200
        assert len(recent.attributes) <= 600


def _release(number: int, rate: Callable[[str], float], rng: random.Random, releases: str) -> SeriesOutcome:
    name = rng.choice(releases)
    having = {"metadata.release": (name,), "document": (f"{rng.randrange(40)}.pdf",)}
    more = {"metadata": {"release": name}, "kind": "generation", "checked_at": NOW + timedelta(seconds=number)}
    return outcome_of(verdict(number, rng.random() < rate(name), attributes=having, **more))


def _named(alert: Alert | TrueRateAlert) -> tuple[str, str]:
    (one,) = alert.common
    assert alert.model_validate_json(alert.model_dump_json()) == alert
    return one.name, one.value


def test_alerts_name_the_release_and_not_its_hour():
    rng, rate = random.Random(6), {"1": 0.93, "2": 0.3}.__getitem__
    dropping, beside = TrustSeries(Plan.of(LEARNED, KEY)), TrustSeries(Plan.of(LEARNED, KEY))
    labelled, raised = LabelSeries(), list[Alert]()
    outcomes = [_release(number, rate, rng, "1" if number < 600 else "2") for number in range(700)]
    for one in outcomes:
        raised += [each for each in [dropping.update(one, one.checked_at)] if isinstance(each, Alert)]
        labelled.count(one, 1)
    for number in range(300):
        one = _release(number, rate, rng, "1" if number < 20 else "12")
        raised += [each for each in [beside.update(one, one.checked_at)] if isinstance(each, Alert)]
    told = {each.kind: _named(each) for each in raised if each.kind in {"trust_drop", "version_worse"}}
    assert told == dict.fromkeys(("trust_drop", "version_worse"), ("metadata.release", "2"))
    key = LabelKey("shop", "m", "fair", "d", "1")
    assert _named(alert_of(key, labelled, "model", NOW)) == ("metadata.release", "2")
    assert alert_of(key, labelled, "recovery", NOW).common == ()
