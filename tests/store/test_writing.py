"""Writing promises: all or nothing, each verdict once, and only by who knows how far the store is."""

from collections import Counter

import pytest

from schemas import DeadLetter, Origin, Verdict, to_json
from store.redaction import Redaction
from store.tables import DAY_COUNTS, EVIDENCE, VERDICTS
from store.writing import Entry, Fenced, Place, StoreWriter
from tests.support.stored import Stored
from tests.support.trust_verdicts import verdict

HERE = Place("verdicts", 0)


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


def test_a_repeated_dead_letter_is_counted_once(stored: Stored):
    writer, _ = _writer(stored)
    letters = [
        DeadLetter.of(
            b"{",
            reason="not_json",
            detail="",
            origin=Origin(topic="t", partition=0, offset=number),
            checker="c",
            keep_bytes=9,
        )
        for number in (0, 1, 0)
    ]
    kept = [
        writer.write([Entry(HERE, number, to_json(each), each)], {HERE: number})["dead_letter"]
        for number, each in enumerate(letters)
    ]
    together = [Entry(HERE, 3 + number, to_json(each), each) for number, each in enumerate(letters)]
    kept.append(writer.write(together, {HERE: 3})["dead_letter"])
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


def test_topics_of_another_cluster_are_read_from_their_beginning(stored: Stored):
    writer, read = _writer(stored)
    writer.write(_entries([verdict(0, True)]), read)
    assert StoreWriter(stored.engine, Redaction(()), cluster="other").progress([HERE]) == {HERE: 0}


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


def _writer(stored: Stored, *patterns: str) -> tuple[StoreWriter, dict[Place, int]]:
    writer = StoreWriter(stored.engine, Redaction(patterns), cluster="here")
    return writer, writer.progress([HERE])


def _entries(verdicts: list[Verdict], *, first: int = 0) -> list[Entry]:
    return [Entry(HERE, offset, to_json(each), each) for offset, each in enumerate(verdicts, first)]
