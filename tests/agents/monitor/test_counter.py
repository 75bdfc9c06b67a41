"""The counter of one partition, by the trust monitor's: what is stored of its series, and what is forgotten."""

from dataclasses import dataclass
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from agents.monitor.metrics import TrustMetrics
from agents.monitor.outcomes import outcome_message
from agents.monitor.settings import TrustSettings
from agents.monitor.trust import TrustPartition
from schemas import Alert, Origin, Verdict
from streams.metrics import StreamMetrics
from streams.settings import TopicSettings
from tests.support.trust_verdicts import FIXED, stream, verdict

TOPICS = TopicSettings()
DAY = 86_400.0
ENDS = {TOPICS.outcomes: 10_000}


@dataclass
class Record:
    offset: int
    value: bytes | None
    topic: str = TOPICS.outcomes
    partition: int = 0


class Shared:
    """A state, its clock and what it counts."""

    def __init__(self, most: int = 10, remember: int = 1000, **trust: Any) -> None:
        self.registry = CollectorRegistry()
        self.now = 1000 * DAY
        self.metrics = TrustMetrics(StreamMetrics(self.registry, max_subjects=10))
        self.settings = TrustSettings.model_validate(FIXED | trust)
        limits = {"most": most, "remember": remember, "clock": lambda: self.now}
        self.partition = TrustPartition(0, self.settings, TOPICS, self.metrics, **limits)
        self.partition.next[TOPICS.outcomes] = 0
        self.offset = 0

    def count(self, *verdicts: Verdict) -> None:
        for each in verdicts:
            position = Origin(topic="rejected", partition=0, offset=self.offset)
            self.partition.count(Record(self.offset, outcome_message(each, TOPICS, position).value))
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

    @given(st.none() | st.binary(max_size=200) | st.text(max_size=50).map(str.encode))
    @example(b"{}")
    def test_anything_else_than_an_outcome_is_passed_over_and_counted(self, value: bytes | None):
        shared = Shared()
        assert shared.partition.count(Record(0, value)) is None
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
