"""Who may open and write a store, each verdict once; what is too old goes, and counts stay."""

import random
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from schemas import DeadLetter, Origin, Verdict, read_record, to_json
from schemas.evidence import PluginEvidence
from store.opening import StoreAway, StoreError, open_for_reading, open_store, sole_archivist
from store.redaction import Redaction
from store.retention import prune
from store.settings import StoreSettings
from store.tables import ALERTS, DAY_COUNTS, EVIDENCE, IMPROVEMENTS, RECORDS, SCHEMA, VERDICTS
from store.writing import Fenced, Place, StoreWriter, TableEntry
from tests.support.ports import free_port
from tests.support.rejections import alert, improvement
from tests.support.stored import Stored
from tests.support.traffic import record
from tests.support.trust_verdicts import verdict

HERE = ("verdicts", 0)


def test_a_repeated_verdict_is_kept_and_counted_once(stored: Stored):
    writer, read = _writer(stored)
    verdicts = [verdict(number, number % 2 == 0) for number in range(6)]
    kept = writer.write(_entries([*verdicts, verdicts[0]]), read)
    assert kept["verdict"] == 6
    kept = writer.write(_entries([verdicts[1], verdict(6, True)], first=7), {HERE: 7})
    assert kept["verdict"] == 1
    assert stored.number(VERDICTS) == stored.number(EVIDENCE) == 7
    assert (
        stored.counts()
        == stored.recounted()
        == Counter({("shop", "m", "fair", "accept"): 4, ("shop", "m", "fair", "reject"): 3})
    )
    assert stored.counts(DAY_COUNTS) == stored.counts()
    assert writer.progress([HERE]) == {HERE: 9}
    # Topics of another cluster are read from their beginning.
    assert StoreWriter(stored.engine, Redaction(()), cluster="other").progress([HERE]) == {HERE: 0}


def test_a_repeated_dead_letter_is_counted_once(stored: Stored):
    writer, _ = _writer(stored)
    places = (Origin(topic="t", partition=0, offset=number) for number in (0, 1, 0))
    given: dict[str, Any] = {"reason": "not_json", "detail": "", "checker": "c", "keep_bytes": 9}
    letters = [DeadLetter.of(b"{", origin=origin, **given) for origin in places]
    entries = [TableEntry(HERE, number, to_json(each), each) for number, each in enumerate(letters * 2)]
    batches = [entries[:1], entries[1:2], entries[2:3], entries[3:]]
    kept = [writer.write(some, {HERE: some[0].offset})["dead_letter"] for some in batches]
    assert kept == [1, 1, 0, 0]
    assert stored.counts() == stored.counts(DAY_COUNTS) == Counter({("", "", "c", "dead_letter"): 2})


def test_who_does_not_know_the_progress_writes_nothing(stored: Stored):
    late, read = _writer(stored)
    other, _ = _writer(stored)
    other.write(_entries([verdict(0, True)]), read)
    with pytest.raises(Fenced):
        late.write(_entries([verdict(0, True), verdict(1, True)]), read)
    assert stored.number(VERDICTS) == 1
    assert stored.counts().total() == 1
    late.write(_entries([verdict(1, True)], first=1), late.progress([HERE]))
    assert stored.number(VERDICTS) == 2


def test_a_reason_may_be_long_and_hold_anything(stored: Stored):
    writer, read = _writer(stored)
    odd = verdict(0, False, reason="\0" + "so long " * 200_000)
    assert writer.write(_entries([odd, verdict(1, True)]), read)["verdict"] == 2
    (row, _) = sorted(stored.rows(VERDICTS), key=lambda each: each["record_id"])
    assert row["reason"].startswith("so long")
    assert len(row["reason"]) < 1000
    assert odd in [Verdict.model_validate(body) for body in stored.bodies(EVIDENCE)]


def test_what_the_database_refuses_is_passed_over_alone(postgresql_store: Stored):
    # An entry of an index is limited to 2,704 bytes.
    writer, read = _writer(postgresql_store)
    names = {
        name: "".join(map(chr, range(0x20000 + start, 0x20100 + start)))
        for start, name in ((0, "source"), (256, "model"), (512, "checker"))
    }
    unfit = verdict(3, True, **names)
    kept = writer.write(_entries([verdict(0, True), verdict(1, True), unfit, verdict(2, True)]), read)
    assert (kept["verdict"], kept["unfit"]) == (3, 1)
    assert {row["record_id"] for row in postgresql_store.rows(VERDICTS)} == {"r0", "r1", "r2"}
    assert postgresql_store.counts().total() == 3
    assert writer.progress([HERE]) == {HERE: 4}


def _writer(stored: Stored) -> tuple[StoreWriter, dict[Place, int]]:
    writer = StoreWriter(stored.engine, Redaction(()), cluster="here")
    return writer, writer.progress([HERE])


def _entries(verdicts: list[Verdict], *, first: int = 0) -> list[TableEntry]:
    return [TableEntry(HERE, offset, to_json(each), each) for offset, each in enumerate(verdicts, first)]


HOLD = """
import sys
from store.opening import sole_archivist
with sole_archivist(sys.argv[1]):
    print(flush=True)
    sys.stdin.read()
"""


def test_a_store_of_another_version_is_refused(stored: Stored):
    with stored.engine.begin() as connection:
        connection.execute(update(SCHEMA).values(version=9))
    for opened in (open_store, open_for_reading):
        with pytest.raises(StoreError, match="has tables of version 9, and this assay has those of version 3"):
            opened(stored.url)


def test_a_second_archivist_on_a_file_is_refused_until_the_first_is_killed(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/v.db"
    command = [sys.executable, "-c", HOLD, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout
        first.stdout.readline()
        with pytest.raises(StoreError, match=f"another archivist writes to {tmp_path}/v.db"), sole_archivist(url):
            pass
        first.kill()
    with sole_archivist(url):
        pass


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////nowhere/v.db", "/nowhere/v.db: unable to open database file"),
        ("sqlite:///{}/v.db", r"v\.db: .*not a database"),
        ("postgresql://u:s3cret@host:port/d", "is no address"),
    ],
)
def test_what_cannot_be_opened_is_named(tmp_path: Path, url: str, said: str):
    (tmp_path / "v.db").write_bytes(b"no database " * 1000)
    with pytest.raises(StoreError, match=said):
        open_store(url.format(tmp_path))


def test_a_database_that_does_not_answer_is_away_and_no_password_is_told():
    with pytest.raises(StoreAway, match="connection") as raised:
        open_store(f"postgresql://user:s3cret@127.0.0.1:{free_port()}/d")
    assert "s3cret" not in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'assay\[postgresql\]'"):
        open_store("postgresql://u@127.0.0.1/d")


def test_rejections_and_what_follows_from_them_stay_six_times_as_long(stored: Stored):
    days = (0, 2, 7, 13)
    verdicts = [
        verdict(day * 2 + accepted, accepted, checked_at=_ago(day)) for day in days for accepted in (False, True)
    ]
    alerts = [alert(day, raised_at=_ago(day)) for day in days]
    improvements = [improvement(day, "o", improved_at=_ago(day)) for day in days]
    stored.keep([*verdicts, *alerts, *improvements, read_record(record(1), max_bytes=9999)])
    before = stored.counts()
    _prune(stored, StoreSettings(days=1))
    assert {row["record_id"] for row in stored.rows(VERDICTS)} == {"r0", "r1", "r4"}
    assert stored.number(EVIDENCE) == 3
    assert {row["id"] for row in stored.rows(ALERTS)} == {"alert-0", "alert-2"}
    assert {row["id"] for row in stored.rows(IMPROVEMENTS)} == {"imp-0", "imp-2"}
    assert stored.number(RECORDS) == 1
    assert stored.counts() == before
    _prune(stored, StoreSettings(days=1e-9))
    assert stored.number(VERDICTS) == stored.number(RECORDS) == 0


def test_where_there_is_too_much_the_oldest_goes(stored: Stored):
    stored.keep([_large(number, checked_at=_ago(10 - number / 1000)) for number in range(3000)])
    limit = StoreSettings(gigabytes=0.003)
    _prune(stored, limit)
    left = sorted(int(row["record_id"][1:]) for row in stored.rows(VERDICTS))
    assert 100 < len(left) < 2000
    assert left[-1] == 2999
    # A rejection counts as a sixth of its age.
    assert sum(number % 2 for number in left) > len(left) / 2
    assert stored.counts().total() == 3000
    assert not prune(stored.engine, limit)


def _large(number: int, **more: Any) -> Verdict:
    """A verdict that takes some 3 kB."""
    findings = {"noise": random.Random(number).randbytes(1500).hex()}
    return verdict(number, number % 2 == 0, evidence=PluginEvidence(checker="fair", findings=findings), **more)


def _ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def _prune(stored: Stored, settings: StoreSettings) -> None:
    while prune(stored.engine, settings):
        pass
