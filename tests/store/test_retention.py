"""What is too old goes, what is too much goes, and counts stay."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas import Verdict, read_record
from schemas.evidence import PluginEvidence
from store.retention import prune
from store.settings import StoreSettings
from store.tables import ALERTS, EVIDENCE, IMPROVEMENTS, RECORDS, VERDICTS
from tests.support.rejections import alert, improvement
from tests.support.stored import Stored
from tests.support.traffic import record
from tests.support.trust_verdicts import verdict


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
