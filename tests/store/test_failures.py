"""What rejects have in common, in a store of any size: nothing where nothing is different."""

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import scipy
from hypothesis import given
from hypothesis import strategies as st

from schemas import Attribute
from store import failures
from store.commonalities import ERROR, commonalities, significant
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


def test_sentences_with_the_same_fault_are_one_group_in_any_language():
    texts = [one.format(word, word) for one in FAULTS for word in ("7", "21", "Ghent", "Brno", "Graz", "300")]
    rejects = [rejection(place, "t", reason=text) for place, text in enumerate(texts)]
    groups = [tuple(one.id for one in rejects[at : at + 6]) for at in range(0, 24, 6)]
    assert [group.ids for group in fault_groups(rejects)] == groups


SIMULATED = 300
RELEASE = Attribute("metadata.release", "4.2")


def _traffic(
    rng: random.Random, number: int, rejected: Callable[[frozenset[Attribute]], float]
) -> tuple[list[frozenset[Attribute]], list[frozenset[Attribute]]]:
    """Rejects and accepts of a bot: a release in the last third, its hours, tenants of all sizes, many documents."""
    rejects, accepts = list[frozenset[Attribute]](), list[frozenset[Attribute]]()
    documents = rng.choice([3, 30, 300])
    for place in range(number):
        having = {
            Attribute("metadata.release", "4.1" if place < number * 2 / 3 else "4.2"),
            Attribute("hour", f"2026-11-27T{6 + 9 * place // number:02}"),
            Attribute("tenant", f"tenant-{int(rng.expovariate(0.3))}"),
            Attribute("judge", "judge-large"),
            *(Attribute("document", f"{int(rng.expovariate(1 / documents))}.pdf") for _ in range(3)),
        }
        seen = frozenset(having)
        (rejects if rng.random() < rejected(seen) else accepts).append(seen)
    return rejects, accepts


def test_where_nothing_is_different_nothing_is_named():
    rng = random.Random(20)
    named = 0
    for _ in range(SIMULATED):
        rate = rng.choice([0.02, 0.1, 0.3, 0.7])
        named += bool(commonalities(*_traffic(rng, rng.choice([60, 200, 500]), lambda _, rate=rate: rate)))
    # Four standard errors above what is promised, and far below one in twenty.
    assert named / SIMULATED <= ERROR + 4 * math.sqrt(ERROR / SIMULATED) < 0.05


def test_of_what_is_always_together_that_is_named_which_says_most():
    both = frozenset({RELEASE, Attribute("hour", "2026-11-27T09"), Attribute("config_digest", "b")})
    before = frozenset({Attribute("metadata.release", "4.1"), Attribute("config_digest", "a")})
    (found,) = commonalities([both] * 20 + [before] * 3, [before] * 80 + [both] * 2)
    assert (found.name, found.value) == RELEASE
    assert (found.rejects_with, found.rejects, found.accepts_with, found.accepts) == (20, 23, 2, 82)


_COUNTS = st.integers(0, 60)


@given(_COUNTS, _COUNTS, _COUNTS, _COUNTS)
def test_a_single_attribute_is_named_where_fishers_exact_test_is_significant(with_it, without, accepts_with, accepts):
    one = frozenset({RELEASE})
    found = significant([one] * with_it + [frozenset()] * without, [one] * accepts_with + [frozenset()] * accepts)
    p = scipy.stats.fisher_exact([[with_it, accepts_with], [without, accepts]], alternative="greater")[1]
    if not math.isclose(p, ERROR, rel_tol=1e-6):
        assert (RELEASE in found) == (p <= ERROR and with_it >= 5)
        assert all(math.isclose(each, math.log(p), abs_tol=1e-6) for each in found.values())
