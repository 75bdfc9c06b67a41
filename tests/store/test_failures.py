"""What the rejects of a series have in common, read from a store of any size, and the others by similar faults."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from schemas import Attribute
from store import failures
from store.failures import explained_by, fault_groups, read_failures
from store.reading import Series
from tests.support.page import sample
from tests.support.rejections import rejection

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SERIES = Series("support-bot", "acme-chat-4", "consistency")


def _verdict(number, rejected, *, ago, release="4.1", **more):
    outcome = {"outcome": "reject", "score": 0.1} if rejected else {"outcome": "accept", "score": 0.9}
    at = {"checked_at": (NOW - ago).isoformat(), "occurred_at": None}
    having = {"attributes": {"metadata.release": [release]}}
    return sample("sup-02", id=f"v{number}", record_id=f"r{number}", **outcome, **at, **having, **more)


def _put_release(store, before=200, after=60):
    """A release after `before` verdicts, one a minute, from which every other one is rejected; one in 20 before it."""
    made = [
        _verdict(n, n % 20 == 19 if n < before else n % 2 == 0, ago=timedelta(minutes=before + after - n),
                 release="4.1" if n < before else "4.2")
        for n in range(before + after)
    ]  # fmt: skip
    store.keep(made)


def test_a_release_is_named_and_the_other_rejects_are_grouped(store):
    _put_release(store)
    report = read_failures(store.reader, SERIES, NOW - DAY, NOW, compared=300)
    (one,) = report.common
    assert one.line == "30 of 40 rejects have metadata.release 4.2; 30 of 220 accepts do"
    assert (report.rejects, report.accepts, report.compared) == (40, 220, (40, 220))
    assert {id_ for group in report.unexplained for id_ in group.ids} == {f"v{n}" for n in range(19, 200, 20)}
    # They say the same.
    assert len(report.unexplained) == 1
    assert explained_by(frozenset({Attribute("metadata.release", "4.2")}), report.common) == one
    assert explained_by(frozenset({Attribute("metadata.release", "4.1")}), report.common) is None


def test_only_that_series_and_that_time_count_and_no_recheck(store):
    _put_release(store)
    begin = NOW - timedelta(minutes=60)
    store.keep(_verdict(f"r{n}", True, ago=timedelta(minutes=5), release="5.0", rechecked=True) for n in range(40))
    store.keep(_verdict(f"o{n}", True, ago=timedelta(minutes=5), release="5.0", model="other") for n in range(40))
    report = read_failures(store.reader, SERIES, begin, NOW)
    assert report.common == ()
    assert report.compared == (30, 30)
    nothing = read_failures(store.reader, Series("none", "none", "none"), begin, NOW)
    assert (nothing.rejects, nothing.accepts, nothing.common, nothing.unexplained) == (0, 0, (), ())


def test_large_series_are_read_in_part_and_evenly(store, monkeypatch):
    monkeypatch.setattr(failures, "SCANNED", 2000)
    store.keep(_verdict(n, n % 3 == 0, ago=timedelta(seconds=3000 - n), release=str(n // 1500)) for n in range(3000))
    report = read_failures(store.reader, SERIES, NOW - DAY, NOW, compared=100)
    assert report.rejects + report.accepts == 2000
    assert report.begin == NOW - timedelta(seconds=2000)
    assert all(85 <= number <= 115 for number in report.compared)
    assert report.common == ()
    assert report == read_failures(store.reader, SERIES, NOW - DAY, NOW, compared=100)


def test_rejects_that_outlasted_their_accepts_are_not_compared(store):
    # Accepts older than a month were deleted.
    store.keep(_verdict(f"old{n}", True, ago=40 * DAY - timedelta(minutes=n), release="3.0") for n in range(50))
    store.keep(_verdict(n, n % 10 == 0, ago=timedelta(hours=100 - n)) for n in range(100))
    report = read_failures(store.reader, SERIES, NOW - 90 * DAY, NOW)
    assert report.compared[0] <= 10
    assert report.common == ()


FAULTS = [
    "“Refunds are paid within {} days.” The source says that they take a month.",
    "“Delivery to {} costs 5 euros.” '5' is not in “Delivery to {} costs 6 euros.”",
    "“The basic plan for {} includes a phone line.” No passage says it.",
    "退款将在 {} 天内支付给客户，但来源说需要一个月的时间。",
]
FILLED = ["7", "21", "Ghent", "Brno", "Graz", "300"]


def _groups(texts):
    rejects = [rejection(place, "t", reason=text) for place, text in enumerate(texts)]
    places = {one.id: place for place, one in enumerate(rejects)}
    return [[places[id_] for id_ in group.ids] for group in fault_groups(rejects)]


def test_sentences_with_the_same_fault_are_one_group_in_any_language():
    texts = [fault.format(word, word) for fault in FAULTS for word in FILLED]
    assert _groups(texts) == [list(range(at, at + 6)) for at in range(0, 24, 6)]


@given(st.lists(st.text(max_size=80) | st.sampled_from(FAULTS), max_size=30))
def test_each_text_is_in_one_group_and_equal_ones_are_together(texts):
    groups = _groups(texts)
    assert sorted(place for group in groups for place in group) == list(range(len(texts)))
    assert [len(group) for group in groups] == sorted((len(group) for group in groups), reverse=True)
    of = {place: number for number, group in enumerate(groups) for place in group}
    assert all(of[a] == of[b] for a in range(len(texts)) for b in range(a) if texts[a] == texts[b])
