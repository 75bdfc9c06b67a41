"""A partition: each verdict and each label counts once, in whatever order they come, also after a restart."""

import json
import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from agents.checker_agent import outcome_message
from agents.monitor.labels import LabelMetrics, LabelPartition
from agents.monitor.settings import LabelSettings
from schemas import Calibration, Label, ReviewRequest, TrueRateAlert, Verdict, to_json
from streams.metrics import StreamMetrics
from streams.settings import TopicSettings
from tests.support.trust_verdicts import verdict

TOPICS = TopicSettings()
BEGUN = datetime(2026, 3, 2, tzinfo=UTC)


class Topic:
    """The messages of one partition of the topics that the agent reads."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.ends = {TOPICS.outcomes: 0, TOPICS.labels: 0}

    def verdict(self, each: Verdict) -> None:
        self._put(TOPICS.outcomes, outcome_message(each, TOPICS).value or b"")

    def label(self, value: Label | bytes, *, after: timedelta = timedelta()) -> None:
        self._put(TOPICS.labels, value if isinstance(value, bytes) else to_json(value), after)

    def _put(self, topic: str, value: bytes, after: timedelta = timedelta()) -> None:
        stamp = int((BEGUN + after).timestamp() * 1000)
        self.records.append(SimpleNamespace(topic=topic, offset=self.ends[topic], value=value, timestamp=stamp))
        self.ends[topic] += 1


class Running:
    """A partition with its stored state, and what it has published."""

    def __init__(self, per_hour: float = 100) -> None:
        self.settings = LabelSettings(per_hour=per_hour)
        self.stored: dict[bytes, bytes] = {}
        self.requests: list[bytes] = []
        self.calibrations: dict[bytes, Calibration] = {}
        self.begin({TOPICS.outcomes: 0, TOPICS.labels: 0})

    def begin(self, ends: dict[str, int], behind: dict[str, int] | None = None) -> None:
        """Take over, as after a kill."""
        self.registry = CollectorRegistry()
        metrics = LabelMetrics(StreamMetrics(self.registry, max_subjects=10))
        self.partition = LabelPartition(self.settings, TOPICS, metrics, 0, most=10, clock=BEGUN.timestamp)
        for request in self.requests:
            self.partition.ask_again(request)
        self.partition.restore(self.stored, ends)
        for topic in ends:
            self.partition.next[topic] = (behind or {}).get(topic, 0)

    def flush(self) -> None:
        self.requests += [each.value or b"" for each in self.partition.outbox() if each.topic == TOPICS.review_requests]
        for message in self.partition.changes(TOPICS.label_state):
            key, value = message.key or b"", message.value or b""
            if message.topic == TOPICS.calibration:
                self.calibrations[key] = Calibration.model_validate_json(value)
            else:
                self.stored[key] = value

    @property
    def asked(self) -> list[ReviewRequest]:
        return list({each.id: each for each in map(ReviewRequest.model_validate_json, self.requests)}.values())

    @property
    def series(self) -> dict[str, Any]:
        (value,) = map(json.loads, self.stored.values())
        return dict(value["series"])

    def labels(self, result: str) -> float:
        return self.registry.get_sample_value("assay_labels_total", {"result": result}) or 0.0


def verdicts(count: int, *, seed: int = 1, first: int = 0) -> Iterator[Verdict]:
    rng = random.Random(seed)
    for number in range(first, first + count):
        yield verdict(number, rng.random() < 0.85, checked_at=BEGUN + timedelta(seconds=number))


def label(verdict_id: str, said: str = "good", *, by: str = "ada", at: float = 0.0, **more: Any) -> Label:
    when = BEGUN + timedelta(seconds=at)
    given = {"source": "shop", "model": "m", "annotator": by, "label": said, "labelled_at": when} | more
    return Label.model_validate({"verdict_id": verdict_id} | given)


def fed(running: Running, records: Iterable[Any], *, flush_every: int = 0) -> Running:
    for number, record in enumerate(records, 1):
        running.partition.count(record)
        if flush_every and number % flush_every == 0:
            running.flush()
    running.flush()
    return running


@pytest.fixture
def asked() -> tuple[Topic, Running]:
    """Forty verdicts, all of which people are asked about."""
    topic = Topic()
    for each in verdicts(40):
        topic.verdict(each)
    running = fed(Running(), topic.records)
    topic.records.clear()
    assert len({each.verdict_id for each in running.asked}) == 40
    return topic, running


def test_a_request_names_the_verdict_and_the_probability_that_it_was_drawn_with(asked):
    _, running = asked
    first = running.asked[0]
    (sent,) = verdicts(1)
    same = {"record_id", "outcome", "score", "origin", "config_digest"}
    assert (first.verdict_id, first.model_dump(include=same)) == (sent.id, sent.model_dump(include=same))
    assert first.inclusion_probability == 1.0
    seconds = [each for each in running.asked if each.reason == "second_opinion"]
    assert 0 < len(seconds) < 15


def test_labels_in_any_order_doubled_and_of_verdicts_that_nobody_asked_about_are_counted(asked):
    topic, running = asked
    ids = [each.id for each in verdicts(40)]
    said = [label(id_, "good" if number % 4 else "bad") for number, id_ in enumerate(ids)]
    for each in random.Random(2).sample([*said, *said[:10]], 50):
        topic.label(each)
    topic.label(label("ver-nobody"))
    topic.label(b"{")
    topic.label(label(ids[0], kind="reaction"))
    topic.label(label(ids[0], by="ben", rubric_version="2"))
    topic.label(label(ids[0], by="ben"), after=timedelta(days=15))
    fed(running, topic.records)
    results = ("counted", "repeat", "unknown", "unreadable", "not_expert", "other_rubric", "late")
    assert [running.labels(result) for result in results] == [40, 10, 1, 1, 1, 1, 1]
    assert sum(each["labels"] for each in running.series["strata"].values()) == 40
    (told,) = running.calibrations.values()
    assert (told.labels, told.verdicts) == (40, 40)
    assert told.rate is not None
    assert told.rate.low < 0.75 < told.rate.high
    assert [each.answered for each in told.strata] == [1.0, 1.0]


def test_the_later_label_of_a_person_counts_whenever_it_comes_and_people_are_averaged(asked):
    topic, running = asked
    (id_,) = [each.id for each in verdicts(1)]
    topic.label(label(id_, "bad", at=20))
    topic.label(label(id_, "good", at=10))
    topic.label(label(id_, "good", at=30))
    topic.label(label(id_, "bad", by="ben", at=5))
    fed(running, topic.records)
    assert [running.labels(each) for each in ("counted", "replaced", "older")] == [2, 1, 1]
    (accepted,) = [each for each in running.series["strata"].values() if each["labels"]]
    assert (accepted["labels"], accepted["good"]) == (1, 0.5)
    assert (running.series["pairs"], running.series["pairs_agreed"]) == (1, 0)


def test_what_is_taken_back_counts_for_nothing_in_whatever_order_it_comes(asked):
    topic, running = asked
    ids = [each.id for each in verdicts(40)]
    stay = [label(id_, "good" if number % 3 else "bad", at=1) for number, id_ in enumerate(ids[4:])]
    gone = [label(id_, said, by=by, at=at, withdrawn=back) for id_, said, by, at, back in (
        (ids[0], "good", "ada", 1, False), (ids[0], "good", "ada", 2, True),
        (ids[1], "bad", "ada", 1, True),
        (ids[2], "good", "ada", 1, False), (ids[2], "good", "ada", 1, True),
        # Only one of two, and one that comes again.
        (ids[4], "bad", "ben", 1, False), (ids[4], "bad", "ben", 2, True),
        (ids[3], "bad", "ada", 1, False), (ids[3], "bad", "ada", 2, True), (ids[3], "unsure", "ada", 3, False),
    )]  # fmt: skip
    said = [*stay, *gone]
    for each in random.Random(4).sample([*said, *gone], len(said) + len(gone)):
        topic.label(each)
    fed(running, topic.records)
    told, plain, others = running.series, Running(), Topic()
    for each in verdicts(40):
        others.verdict(each)
    for each in [*stay, label(ids[3], "unsure", at=3)]:
        others.label(each)
    fed(plain, others.records)
    for stratum, sums in plain.series["strata"].items():
        assert told["strata"][stratum] == pytest.approx(sums)
    assert {name: told[name] for name in ("agreed", "pairs")} == {"agreed": plain.series["agreed"], "pairs": 0}
    assert set(told["disagreements"]) == set(plain.series["disagreements"])


def test_a_verdict_is_bet_on_once_whatever_is_taken_back_and_said_again():
    topic, running = Topic(), Running()
    (sent,) = verdicts(1)
    topic.verdict(sent)
    fed(running, topic.records)
    (entry,) = running.partition.entries.values()
    entry.series.alarm.below = 0.9
    for at, back in ((1, False), (2, True), (3, False), (4, True)):
        topic.label(label(sent.id, "bad", at=at, withdrawn=back))
    fed(running, topic.records[1:])
    assert running.series["alarm"]["rate"]["rounds"] == 1
    assert running.series["strata"]["accept.high"]["labels"] == 0
    # Also after a restart, which reads the labels again.
    running.begin(topic.ends, topic.ends)
    for record in topic.records:
        running.partition.count(record)
    topic.label(label(sent.id, "bad", at=5))
    fed(running, topic.records[-1:])
    assert running.series["alarm"]["rate"]["rounds"] == 1
    assert running.series["strata"]["accept.high"]["labels"] == 1


def test_what_is_killed_at_any_moment_counts_and_asks_as_if_it_had_not_been():
    rng = random.Random(5)
    topic = Topic()
    for each in verdicts(1500):
        topic.verdict(each)
        if rng.random() < 0.1:
            topic.verdict(each)
        if rng.random() < 0.3:
            by, said = rng.choice(("ada", "ben")), rng.choice(("good", "good", "bad", "unsure"))
            about = f"r{rng.randrange(0, int(each.record_id[1:]) + 1)}"
            id_ = verdict(int(about[1:]), True).id
            topic.label(label(id_, said, by=by, at=rng.random() * 100, withdrawn=rng.random() < 0.2))
    whole = fed(Running(), topic.records, flush_every=100)
    killed = Running()
    committed = {TOPICS.outcomes: 0, TOPICS.labels: 0}
    for number, record in enumerate(topic.records, 1):
        killed.partition.count(record)
        if number % 100 == 0:
            killed.flush()
            # Some are killed between writing and committing.
            if rng.random() < 0.7:
                committed = dict(killed.partition.next)
        if rng.random() < 0.01:
            if rng.random() < 0.3:
                # Killed between publishing requests and writing the state.
                outbox = killed.partition.outbox()
                killed.requests += [each.value or b"" for each in outbox if each.topic == TOPICS.review_requests]
            killed.begin(topic.ends, committed)
            for before in topic.records[:number]:
                killed.partition.count(before)
    killed.flush()
    assert killed.series == whole.series
    assert sum(each["verdicts"] for each in whole.series["strata"].values()) == 1500
    assert {each.id for each in killed.asked} == {each.id for each in whole.asked}
    drawn = {each.id: each.inclusion_probability for each in whole.asked}
    assert {each.id: each.inclusion_probability for each in killed.asked} == drawn
    assert sum(each["labels"] for each in whole.series["strata"].values()) > 50


def test_a_fall_that_the_judge_does_not_see_is_told_with_the_verdicts_that_people_disagree_with():
    topic, running, rng = Topic(), Running(3600), random.Random(1)
    for number, each in enumerate(verdicts(1200)):
        topic.verdict(each)
        bad = 0.4 if number > 600 else 0.05
        topic.label(label(each.id, "bad" if each.outcome == "reject" or rng.random() < bad else "good"))
    fed(running, topic.records[:1])
    (entry,) = running.partition.entries.values()
    entry.series.alarm.below, entry.series.alarm.judge_below = 0.8, 0.8
    for each in topic.records[1:]:
        running.partition.count(each)
    (alert,) = running.partition.raised
    assert isinstance(alert, TrueRateAlert)
    assert [each.topic for each in running.partition.outbox()].count(TOPICS.alerts) == 1
    assert (alert.cause, len(alert.disagreements)) == ("judge_blind", 20)
    assert "does not see what people see" in alert.summary
    running.flush()
    assert running.series["alarm"]["fallen"]


def test_complaints_are_labelled_and_never_move_the_rate():
    topic = Topic()
    sent = list(verdicts(3000))
    for each in sent:
        topic.verdict(each)
    running = fed(Running(), topic.records, flush_every=500)
    is_good = {each.id: random.Random(each.id).random() < 0.9 for each in sent}
    drawn = {each.verdict_id: each for each in running.asked}
    complaints = [each.id for each in sent if not is_good[each.id] and each.id not in drawn]
    assert len(complaints) > 100
    for id_ in drawn:
        topic.label(label(id_, "good" if is_good[id_] else "bad"))
    without = fed(running, topic.records[3000:]).series
    template = next(iter(drawn.values()))
    for id_ in complaints:
        asked = {"id": f"req-{id_}", "verdict_id": id_, "reason": "complaint", "inclusion_probability": None}
        running.requests.append(to_json(template.model_copy(update=asked | {"terms": None})))
        topic.label(label(id_, "bad"))
    running.begin(topic.ends, {TOPICS.outcomes: 3000, TOPICS.labels: len(drawn)})
    fed(running, topic.records[3000 + len(drawn) :])
    assert running.labels("unknown") == len(complaints)
    assert running.series == without


def test_versions_are_published_though_nobody_is_asked():
    running, topic = Running(0), Topic()
    for number, each in enumerate(verdicts(200)):
        topic.verdict(each.model_copy(update={"metadata": {"release": f"4.{1 + number // 100}"}}))
    fed(running, topic.records)
    (calibration,) = running.calibrations.values()
    assert [each.version for each in calibration.versions] == [{"metadata.release": "4.1"}, {"metadata.release": "4.2"}]
    assert calibration.versions[1].change is not None
    assert (running.asked, calibration.labels) == ([], 0)
