"""Deleting what is too old, and the oldest where there is too much; the hours' counts stay."""

import time
from typing import Final, NamedTuple

from sqlalchemy import Column, ColumnElement, Engine, delete, exists, func, select, text, true

from store.opening import faults, writing
from store.settings import StoreSettings
from store.tables import (
    ALERTS,
    DAY,
    DEAD_LETTERS,
    IMPROVEMENTS,
    LABELS,
    MINUTE_COUNTS,
    RECORDS,
    REVIEW_REQUESTS,
    VERDICTS,
)

_SLICE: Final = 5000  # Rows deleted in one transaction: a fraction of a second, after which others write again.
_LONGER: Final = 6  # Rejections and what follows, and what people are asked about, stay so many times as long.
_MINUTES_KEPT: Final = 2 * DAY
_SHARE: Final = 0.98  # Where there is too much, all goes that is nearly as old as the oldest.


class _Kind(NamedTuple):
    """Rows that age alike: they count as `longer` times younger."""

    at: Column[int]
    longer: int
    which: ColumnElement[bool] = true()


_DRAWN: Final = exists().where(REVIEW_REQUESTS.c.verdict_id == VERDICTS.c.id)

_KINDS: Final = (
    _Kind(VERDICTS.c.checked_at, 1, (VERDICTS.c.outcome == "accept") & ~_DRAWN),
    _Kind(VERDICTS.c.checked_at, 1, VERDICTS.c.outcome == "abstain"),
    _Kind(VERDICTS.c.checked_at, _LONGER, (VERDICTS.c.outcome == "accept") & _DRAWN),
    _Kind(VERDICTS.c.checked_at, _LONGER, VERDICTS.c.outcome == "reject"),
    _Kind(REVIEW_REQUESTS.c.asked_at, _LONGER),
    _Kind(LABELS.c.kept_at, _LONGER),
    _Kind(ALERTS.c.raised_at, _LONGER),
    _Kind(IMPROVEMENTS.c.kept_at, _LONGER),
    _Kind(DEAD_LETTERS.c.failed_at, 1),
    _Kind(RECORDS.c.kept_at, 1),
)

OLDEST_BRIEF: Final = select(VERDICTS.c.checked_at).where(_KINDS[0].which).order_by(VERDICTS.c.checked_at).limit(1)
"""The time from which on no accept was deleted."""

_BYTES: Final = {
    # What is free in a file is written over by what comes.
    "sqlite": text(
        "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, "
        "pragma_page_size"
    ),
    # Tables of PostgreSQL do not shrink, and what is free in them is not told: rows, times what the newest take, with
    # 900 and 200 bytes for their headers and entries in indexes.
    "postgresql": text("""
        SELECT coalesce(sum(n_live_tup * CASE relname WHEN 'verdict' THEN verdicts.bytes ELSE records.bytes END), 0)
        FROM pg_stat_user_tables,
            (SELECT avg(pg_column_size(v) + pg_column_size(e)) + 900 AS bytes
                FROM (SELECT * FROM verdict ORDER BY seq DESC LIMIT 1000) v JOIN evidence e USING (seq)) verdicts,
            (SELECT avg(pg_column_size(r)) + 200 AS bytes
                FROM (SELECT * FROM record ORDER BY kept_at DESC LIMIT 1000) r) records
        WHERE relid IN ('verdict'::regclass, 'record'::regclass)"""),
}


def prune(engine: Engine, settings: StoreSettings) -> bool:
    """Delete a slice of the oldest, if that is too old or there is too much; true if so. Raises StoreAway."""
    with faults():
        now = int(time.time() * 1000)
        with writing(engine) as connection:
            connection.execute(delete(MINUTE_COUNTS).where(MINUTE_COUNTS.c.begins < now - _MINUTES_KEPT))
        age, kind = max(((_age(engine, kind, now), kind) for kind in _KINDS), key=lambda pair: pair[0])
        most = settings.days * DAY
        if age <= most:
            if age <= 0 or _bytes(engine) <= settings.gigabytes * 1e9:
                return False
            most = age * _SHARE
        before = now - int(most * kind.longer)
        slice_end = select(kind.at).where(kind.which).order_by(kind.at).limit(1).offset(_SLICE)
        with writing(engine) as connection:
            before = min(before, connection.execute(slice_end).scalar() or before)
            connection.execute(delete(kind.at.table).where(kind.which, kind.at <= before))
        return True


def _age(engine: Engine, kind: _Kind, now: int) -> float:
    """The age of the oldest, as others age."""
    with engine.connect() as connection:
        oldest = connection.execute(select(func.min(kind.at)).where(kind.which)).scalar()
    return -1 if oldest is None else (now - oldest) / kind.longer


def _bytes(engine: Engine) -> float:
    """Taken by what is kept."""
    if engine.dialect.name == "postgresql":
        # It tells the number of rows seconds after a transaction otherwise.
        with engine.begin() as connection:
            connection.execute(select(func.pg_stat_force_next_flush()))
    with engine.connect() as connection:
        return float(connection.execute(_BYTES[engine.dialect.name]).scalar_one())
