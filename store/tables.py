"""The tables, alike on SQLite and PostgreSQL. Times are milliseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import sqlalchemy as sa

# Makes its functions known to `sa.func`.
import sqlalchemy.dialects.postgresql

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def moment(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND


METADATA = sa.MetaData()

# SQLite counts up nothing but an INTEGER.
_Sequence = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _texts(*names: str, primary_key: bool = False) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String, nullable=False, primary_key=primary_key) for name in names]


def _times(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in names]


_body: Final = partial(sa.Column, "body", sa.LargeBinary, nullable=False)  # a message as JSON, compressed by zlib
_id: Final = partial(sa.Column, "id", sa.String, primary_key=True)


VERDICTS = sa.Table(
    "verdict",
    METADATA,
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String, nullable=False, unique=True),
    *_texts("record_id", "source", "model", "checker", "outcome", "judge"),
    sa.Column("score", sa.Float),
    sa.Column("reason", sa.String, nullable=False),  # its first 1,000 characters
    sa.Column("fault", sa.String),  # what `store.failures.fault_of` says
    *_times("checked_at"),
    sqlite_autoincrement=True,
)
"""Columns that lists and filters read: none of them touches evidence."""

EVIDENCE = sa.Table(
    "evidence",
    METADATA,
    sa.Column("seq", _Sequence, sa.ForeignKey("verdict.seq", ondelete="CASCADE"), primary_key=True),
    _body(),
)
"""The whole verdicts."""

RECORDS = sa.Table("record", METADATA, *_texts("source", "id", primary_key=True), *_times("kept_at"), _body())
"""Empty unless records are asked for."""

ALERTS = sa.Table(
    "alert",
    METADATA,
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String, nullable=False, unique=True),
    *_texts("kind", "source", "model", "checker"),
    *_times("raised_at"),
    _body(),
    sqlite_autoincrement=True,
)
"""Messages of the topic of alerts."""

IMPROVEMENTS = sa.Table("improvement", METADATA, _id(), *_texts("verdict_id"), *_times("kept_at"), _body())

DEAD_LETTERS = sa.Table("dead_letter", METADATA, _id(), *_times("failed_at"))
"""Which dead letters are counted: one may come again. They themselves stay on their topic."""

REVIEW_REQUESTS = sa.Table(
    "review_request",
    METADATA,
    _id(),
    *_texts("verdict_id", "rubric_version", "reason"),
    *_times("asked_at", "expires_at"),
    _body(),
)
"""Requests to people."""

LABELS = sa.Table(
    "label",
    METADATA,
    _id(),  # of what it says: producers may give ids twice
    *_texts("verdict_id", "rubric_version", "annotator", "kind"),
    *_times("labelled_at", "kept_at"),
    sa.Column("withdrawn", sa.Boolean, nullable=False),
    _body(),
)
"""People's labels; also those that another one has replaced."""

CALIBRATIONS = sa.Table(
    "calibration",
    METADATA,
    *_texts("source", "model", "checker", "config_digest", "rubric_version", primary_key=True),
    *_times("updated_at"),
    _body(),
)
"""The last calibration of each series."""


def _counts(name: str) -> sa.Table:
    return sa.Table(
        name,
        METADATA,
        sa.Column("begins", sa.BigInteger, primary_key=True),
        *_texts("source", "model", "checker", "outcome", primary_key=True),
        sa.Column("verdicts", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )


MINUTE_COUNTS = _counts("count_minute")  # the counts of `COUNTS` by the minute, of the last two days

COUNTS = _counts("count_hour")
"""Verdicts by the hour in which they were given, and dead letters, whose outcome is `dead_letter` and whose source and
model are empty. They outlast the verdicts themselves."""

DAY_COUNTS = _counts("count_day")  # the same by the first hour of their day, in UTC, for looking back over weeks

PROGRESS = sa.Table(
    "progress",
    METADATA,
    *_texts("cluster", "topic", primary_key=True),
    sa.Column("partition", sa.Integer, primary_key=True),
    sa.Column("next_offset", sa.BigInteger, nullable=False),
)
"""The offset after the last message that is in the other tables: written in one transaction with them. By Kafka's
cluster, as topics of the same name on another one have other messages."""

SCHEMA = sa.Table("schema_version", METADATA, sa.Column("version", sa.SmallInteger, primary_key=True))

WORDS = sa.func.to_tsvector(
    # No parameter: only the same expression finds the index.
    sa.literal_column("'simple'"),
    VERDICTS.c.reason + sa.literal_column("' ' || verdict.record_id || ' ' || verdict.source || ' ' || verdict.model"),
)
"""The text that is searched for words on PostgreSQL."""

WORDS_ON_SQLITE = (
    """CREATE VIRTUAL TABLE verdict_words
        USING fts5(reason, record_id, source, model, content='verdict', content_rowid='seq')""",
    """CREATE TRIGGER verdict_inserted AFTER INSERT ON verdict BEGIN
        INSERT INTO verdict_words (rowid, reason, record_id, source, model)
        VALUES (new.seq, new.reason, new.record_id, new.source, new.model); END""",
    """CREATE TRIGGER verdict_deleted AFTER DELETE ON verdict BEGIN
        INSERT INTO verdict_words (verdict_words, rowid, reason, record_id, source, model)
        VALUES ('delete', old.seq, old.reason, old.record_id, old.source, old.model); END""",
)
"""An index of words next to the rows. Triggers keep it in the same transaction, anyone who writes or deletes."""

sa.Index("verdict_words", WORDS, postgresql_using="gin").ddl_if(dialect="postgresql")
# Lists come from the latest on and stop when they are full. Each index has all that filters read, so that no row is
# read in vain: of one filter, of the three that make a series, and of verdicts with a fault.
_KEY = (VERDICTS.c.checked_at, VERDICTS.c.seq)
_FILTERED = [VERDICTS.c[name] for name in ("outcome", "source", "model", "checker")]
sa.Index("verdict_checked_at", *_KEY, VERDICTS.c.outcome)
for _column in _FILTERED:
    sa.Index(f"verdict_{_column.name}", _column, *_KEY, *(other for other in _FILTERED if other is not _column))
sa.Index("verdict_series", *_FILTERED[1:], *_KEY, VERDICTS.c.outcome)
_FAULTY = VERDICTS.c.fault.is_not(None)
for _name, _columns in (
    ("verdict_fault", (VERDICTS.c.fault, *_KEY, *_FILTERED)),
    ("verdict_faulty", (*_KEY, *_FILTERED, VERDICTS.c.fault)),
):
    sa.Index(_name, *_columns, sqlite_where=_FAULTY, postgresql_where=_FAULTY)
sa.Index("verdict_record", VERDICTS.c.record_id, VERDICTS.c.source, VERDICTS.c.checked_at)
sa.Index("label_verdict", LABELS.c.verdict_id, LABELS.c.annotator, LABELS.c.labelled_at)
sa.Index("label_annotator", LABELS.c.annotator, LABELS.c.labelled_at)
for _table, *_names in (
    (ALERTS, "raised_at"),
    (IMPROVEMENTS, "verdict_id", "kept_at"),
    (DEAD_LETTERS, "failed_at"),
    (RECORDS, "kept_at"),
    (REVIEW_REQUESTS, "asked_at", "verdict_id"),
    (LABELS, "kept_at"),
):
    for _name in _names:
        sa.Index(f"{_table.name}_{_name}", _table.c[_name])
