"""Lists that go on behind a key, and what is found in a store."""

import itertools
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from store.opening import StoreAway, open_for_reading
from store.reading import Wanted
from store.tables import PROGRESS
from tests.support.page import dead_letter, numbered, sample

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def _verdict(number, minutes, source, outcome):
    score = {"accept": 0.9, "reject": 0.1, "abstain": None}[outcome]
    at = (NOW + timedelta(minutes=minutes)).isoformat()
    return sample("sup-02", id=f"v{number}", source=source, outcome=outcome, score=score, checked_at=at)


def _walked(store, wanted, limit):
    """All rows, page by page."""
    seen, before = [], None
    while page := store.reader.verdicts(wanted, before=before, limit=limit):
        assert len(page) <= limit
        seen += page
        before = page[-1].key
    return [one.id for one in seen]


_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from(["accept", "reject"])), min_size=1, max_size=12
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=_ROWS, limits=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_pages_hold_each_verdict_once_latest_first(store, rows, limits):
    run = uuid.uuid4().hex
    store.keep(
        _verdict(f"{run}{number}", minutes, f"{of}{run}", became) for number, (minutes, of, became) in enumerate(rows)
    )
    for limit, source, outcome in itertools.product(limits, "ab", ["", "reject"]):
        matching = [
            (minutes, number)
            for number, (minutes, of, became) in enumerate(rows)
            if of == source and outcome in {"", became}
        ]
        wanted = Wanted(sources=[f"{source}{run}"], outcomes=[outcome] if outcome else ())
        assert _walked(store, wanted, limit) == [f"v{run}{number}" for _, number in sorted(matching, reverse=True)]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_of_words_hold_each_hit_once(store, limit):
    reasons = ["a wrong harbour", "a wrong date"]
    store.keep(sample("sup-02", id=f"v{number}", reason=reasons[number % 2]) for number in range(9))
    hits = ["v8", "v6", "v4", "v2", "v0"]
    assert _walked(store, Wanted(words="harbour Wrong"), limit) == hits
    assert _walked(store, Wanted(words="harbour", outcomes=["reject"], since=NOW - timedelta(days=9999)), limit) == hits


def test_words_are_no_query_language(store):
    store.keep([sample("sup-02", reason="a harbour")])
    for words in ('"', "AND", "harbour*", "NEAR(", "reason:x", "' OR 1=1 --", "-"):
        assert store.reader.verdicts(Wanted(words=f"nowhere {words}")) == []


def test_evidence_of_a_later_version_is_told_as_findings(store):
    store.keep([sample("sup-02", id="later", evidence={"type": "tone", "rude": ["x"]})])
    verdict = store.reader.verdict("later")
    assert verdict is not None
    assert verdict.evidence.model_dump()["findings"] == {"type": "tone", "rude": ["x"]}


def test_counts_are_added_up_in_stretches(store):
    begin, end = NOW.replace(hour=0), NOW.replace(hour=0) + timedelta(days=1)
    store.keep(_verdict(number, 40 * number, "a", "accept") for number in range(9))
    store.keep(_verdict(9 + number, 0, "b", "reject") for number in range(2))
    totals = store.reader.totals(begin, until=end, minutes=60)
    assert {one.source: outcomes for one, outcomes in totals.items()} == {"a": {"accept": 9}, "b": {"reject": 2}}
    series = [one for one in totals if one.source == "a"]
    counts = store.reader.counts(series, begin, until=end, minutes=240)[series[0]]
    assert [(one.begins.hour, one.outcome, one.verdicts) for one in counts] == [(12, "accept", 6), (16, "accept", 3)]


@pytest.mark.parametrize("minutes", [60, 1440])
@pytest.mark.parametrize(
    "wanted", [Wanted(), Wanted(sources=["a"]), Wanted(outcomes=["reject"], checkers=["consistency"])]
)
def test_outcomes_of_rows_are_those_of_the_counts(store, minutes, wanted):
    begin = NOW.replace(hour=0) - timedelta(days=2)
    store.keep(_verdict(n, -30 * n, "ab"[n % 2], ("accept", "reject", "accept")[n % 3]) for n in range(60))
    until = begin + timedelta(days=3)
    counted = store.reader.all_outcomes(wanted, begin, until=until, minutes=minutes)
    assert sum(one.verdicts for one in counted) in {60, 30, 20}
    assert sorted(store.reader.outcomes(wanted, begin, minutes=minutes, most=1000)) == sorted(counted)
    assert sum(one.verdicts for one in store.reader.outcomes(wanted, begin, minutes=minutes, most=7)) == 7


def test_verdicts_with_one_fault_are_found_by_it(store):
    evidence = sample("sup-02")["evidence"]
    passages = ["30 days", "30 days", "19 euros"]
    for number, passage in enumerate(passages):
        finding = evidence["sentences"][0] | {"mark": -1, "support": 0.0, "passage": passage}
        store.keep([sample("sup-02", id=f"v{number}", evidence=evidence | {"sentences": [finding]})])
    store.keep([sample("sup-05", id="open"), sample("sup-01", id="good")])
    assert store.reader.faults(Wanted(), most=100) == [("consistency", "30 days", 2)]
    assert [one.id for one in store.reader.verdicts(Wanted(fault="30 days"))] == ["v1", "v0"]
    assert {one.id: one.fault for one in store.reader.verdicts(Wanted())}["good"] is None
    assert [one.id for one in store.reader.verdicts(Wanted(fault=sample("sup-05")["evidence"]["cause"]))] == ["open"]


def test_dead_letters_are_counted_and_a_checker_has_its_last_verdict(store):
    verdicts = numbered(3)
    store.keep([*verdicts, sample("par-01", checked_at=NOW.replace(year=2020).isoformat())])
    store.keep_message(dead_letter("consistency"), dead_letter("unchecked", 1))
    now = datetime.now(UTC)
    totals = store.reader.totals(now - timedelta(days=1), until=now + timedelta(hours=1), minutes=1)
    assert sorted((one.source, one.checker, outcomes) for one, outcomes in totals.items()) == [
        ("", "consistency", {"dead_letter": 1}),
        ("", "unchecked", {"dead_letter": 1}),
        ("support-bot", "consistency", {"reject": 3}),
    ]
    assert store.reader.last("consistency") == datetime.fromisoformat(verdicts[-1]["checked_at"])
    assert store.reader.last("equivalence") == NOW.replace(year=2020)
    assert store.reader.last("unchecked") is None


def test_a_reader_writes_nothing(store):
    with pytest.raises(StoreAway, match=r"(?i)read.?only"):
        store.reader.rows(insert(PROGRESS).values(cluster="", topic="", partition=0, next_offset=0))


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    file = tmp_path / "verdicts.db"
    with pytest.raises(StoreAway, match=r"there is no .*verdicts.db yet; the archivist of `assay worker` makes it"):
        open_for_reading(f"sqlite:///{file}")
    assert not file.exists()
    file.touch()
    with pytest.raises(StoreAway, match="has no tables yet"):
        open_for_reading(f"sqlite:///{file}")
    file.write_bytes(b"no database, " * 1000)
    with pytest.raises(StoreAway, match="DatabaseError"):
        open_for_reading(f"sqlite:///{file}")
