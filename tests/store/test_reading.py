"""Lists that go on behind a key, and what is found in a store."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.reading import StoreUnreadable, Wanted
from tests.support.page import PageStore, numbered, sample

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    store = PageStore(tmp_path / "verdicts.db")
    yield store
    store.reader.close()


def _verdict(number, minutes, source, outcome):
    score = {"accept": 0.9, "reject": 0.1, "abstain": None}[outcome]
    at = (NOW + timedelta(minutes=minutes)).isoformat()
    return sample("sup-02", id=f"v{number}", source=source, outcome=outcome, score=score, checked_at=at)


_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from(["accept", "reject", "abstain"])), max_size=12
)


@given(rows=_ROWS, limit=st.integers(1, 5), source=st.sampled_from(["", "a"]), outcome=st.sampled_from(["", "reject"]))
def test_pages_hold_each_verdict_once_latest_first(rows, limit, source, outcome):
    with tempfile.TemporaryDirectory() as folder:
        store = PageStore(Path(folder) / "verdicts.db")
        store.keep(_verdict(number, *row) for number, row in enumerate(rows))
        wanted = Wanted(sources=[source] if source else (), outcomes=[outcome] if outcome else ())
        seen, before = [], None
        while page := store.reader.verdicts(wanted, before=before, limit=limit):
            seen += page
            before = page[-1].key
        store.reader.close()
    matching = [
        (minutes, number)
        for number, (minutes, of, became) in enumerate(rows)
        if source in {"", of} and outcome in {"", became}
    ]
    assert [one.id for one in seen] == [f"v{number}" for _, number in sorted(matching, reverse=True)]


@given(count=st.integers(0, 8), limit=st.integers(1, 3))
def test_pages_of_words_hold_each_hit_once(count, limit):
    with tempfile.TemporaryDirectory() as folder:
        store = PageStore(Path(folder) / "verdicts.db")
        store.keep(
            sample("sup-02", id=f"v{number}", reason="a wrong harbour" if number % 2 else "a wrong date")
            for number in range(count)
        )
        seen, before = [], None
        while page := store.reader.verdicts(Wanted(words="harbour wrong"), before=before, limit=limit):
            seen += [one.id for one in page]
            before = page[-1].key
        store.reader.close()
    assert seen == [f"v{number}" for number in reversed(range(count)) if number % 2]


@pytest.mark.parametrize("words", ['"', "AND", "harbour*", "NEAR(", "reason:x", "' OR 1=1 --", "-"])
def test_words_are_no_query_language(store, words):
    store.keep([sample("sup-02", reason="a harbour")])
    assert store.reader.verdicts(Wanted(words=f"nowhere {words}")) == []


def test_times_bound_a_list_and_the_end_is_exclusive(store):
    store.keep(_verdict(number, number, "a", "reject") for number in range(5))
    wanted = Wanted(since=NOW + timedelta(minutes=1), until=NOW + timedelta(minutes=3))
    assert [one.id for one in store.reader.verdicts(wanted)] == ["v2", "v1"]


def test_what_came_after_is_told_in_its_order(store):
    store.keep(numbered(5))
    assert [one.id for one in store.reader.after(2, Wanted())] == ["ver-2", "ver-3", "ver-4"]
    assert store.reader.newest() == 5


def test_a_verdict_has_its_whole_evidence(store):
    store.keep([sample("sup-02")])
    verdict = store.reader.verdict(sample("sup-02")["id"])
    assert verdict is not None
    assert verdict.model_dump(mode="json")["evidence"] == sample("sup-02")["evidence"]
    assert store.reader.verdict("ver-unknown") is None


def test_evidence_of_a_later_version_is_told_as_findings(store):
    store.keep([sample("sup-02", id="later", evidence={"type": "tone", "rude": ["x"]})])
    verdict = store.reader.verdict("later")
    assert verdict is not None
    assert verdict.evidence.model_dump()["findings"] == {"type": "tone", "rude": ["x"]}


def test_counts_are_added_up_in_stretches(store):
    begin = NOW.replace(hour=0)
    store.keep(_verdict(number, 40 * number, "a", "accept") for number in range(9))
    store.keep(_verdict(9 + number, 0, "b", "reject") for number in range(2))
    series = store.reader.series(begin)
    assert [one.source for one in series] == ["a", "b"]
    counts = store.reader.counts(series[:1], begin, hours=4)
    assert [(one.begins.hour, one.outcome, one.verdicts) for one in counts] == [(12, "accept", 6), (16, "accept", 3)]


def test_the_account_of_a_checker_has_dead_letters_and_its_last_verdict(store):
    verdicts = numbered(3)
    store.keep([*verdicts, sample("par-01", checked_at=NOW.replace(year=2020).isoformat())])
    store.count_dead_letter("consistency")
    store.count_dead_letter("unchecked")
    accounts = {one.checker: one for one in store.reader.accounts(datetime.now(UTC) - timedelta(days=1))}
    assert accounts["consistency"].verdicts == {"reject": 3, "dead_letter": 1}
    assert accounts["consistency"].last == datetime.fromisoformat(verdicts[-1]["checked_at"])
    assert accounts["equivalence"].verdicts == {}
    assert accounts["equivalence"].last == NOW.replace(year=2020)
    assert accounts["unchecked"].last is None


def test_a_store_that_cannot_be_read_says_so(tmp_path):
    store = PageStore(tmp_path / "verdicts.db")
    store.reader.close()
    (tmp_path / "verdicts.db").write_bytes(b"no database, " * 1000)
    with pytest.raises(StoreUnreadable, match="not a database"):
        store.reader.newest()
