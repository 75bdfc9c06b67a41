"""Writing to the store: rows, counts and the topics' progress in one transaction."""

import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, Engine, Table, and_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from schemas import (
    Alert,
    Calibration,
    DeadLetter,
    Envelope,
    Improvement,
    Label,
    ReviewRequest,
    SeriesAnew,
    TrueRateAlert,
    Verdict,
    content_id,
    to_json,
)
from store.failures import fault_of
from store.opening import StoreAway, faults, writing
from store.reading import AlertMessage
from store.redaction import Redaction
from store.tables import (
    ALERTS,
    CALIBRATIONS,
    COUNTS,
    DAY,
    DAY_COUNTS,
    DEAD_LETTERS,
    EVIDENCE,
    HOUR,
    IMPROVEMENTS,
    LABELS,
    MINUTE,
    MINUTE_COUNTS,
    PROGRESS,
    RECORDS,
    REVIEW_REQUESTS,
    VERDICTS,
    milliseconds,
)

_CHARACTERS: Final = 1000
"""Length of a reason in lists, and in the index of words, which takes no megabyte. The whole stands in the evidence."""

Message: TypeAlias = Verdict | AlertMessage | Improvement | ReviewRequest | Label | Calibration | DeadLetter | Envelope

Place: TypeAlias = tuple[str, int]
"""A topic and the number of a partition."""

_TABLES: Final[Mapping[type[object], Table]] = {
    Verdict: VERDICTS,
    **dict.fromkeys((Alert, SeriesAnew, TrueRateAlert), ALERTS),
    Improvement: IMPROVEMENTS,
    ReviewRequest: REVIEW_REQUESTS,
    Label: LABELS,
    Calibration: CALIBRATIONS,
}
"""By type of message; records are in `RECORDS`."""


class TableEntry(NamedTuple):
    """A message on its way into the store."""

    place: Place
    offset: int
    data: bytes
    """As it is on its topic."""
    message: Message | None
    """None: nothing of it is kept, and the partition's progress skips it."""


class Fenced(Exception):
    """Another archivist has written since the progress was read."""


class StoreWriter:
    """Writes messages in batches. Synchronous, for one thread."""

    def __init__(self, engine: Engine, redaction: Redaction, *, cluster: str) -> None:
        """`cluster`: the id of the Kafka cluster that messages come from."""
        self.engine = engine
        self._redaction = redaction
        self._cluster = cluster
        self._insert = sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert

    def progress(self, places: Collection[Place]) -> dict[Place, int]:
        """The offset from which each partition is to be read, 0 of one that is new; raises `StoreAway`."""
        names = PROGRESS.columns.keys()
        new = [dict(zip(names, (self._cluster, *place, 0), strict=True)) for place in places]
        with faults(), writing(self.engine) as connection:
            connection.execute(self._insert(PROGRESS).on_conflict_do_nothing(), new)
            rows = connection.execute(select(PROGRESS).where(PROGRESS.c.cluster == self._cluster)).all()
        stored = {(row.topic, row.partition): row.next_offset for row in rows}
        return {place: stored[place] for place in places}

    def write(self, entries: Sequence[TableEntry], read: Mapping[Place, int]) -> Counter[str]:
        """Keep the entries, which follow one another in each partition; returns how many of each kind are kept.

        What is repeated is not counted. What the database refuses is passed over, and counted as `unfit`.
        `read`: the progress as it was read, to be read again where this raises: Fenced if another archivist has
        written since, StoreAway if the database does not answer or its disk is full.
        """
        try:
            with faults():
                return self._written(entries, read)
        except StoreAway as error:
            if not error.unfit:
                raise
            if len(entries) == 1:
                return self.write([entries[0]._replace(message=None)], read) + Counter(unfit=1)
        half = len(entries) // 2
        first = self.write(entries[:half], read)
        return first + self.write(entries[half:], {**read, **behind(entries[:half])})

    def _written(self, entries: Sequence[TableEntry], read: Mapping[Place, int]) -> Counter[str]:
        rows: defaultdict[Table, list[dict[str, Any]]] = defaultdict(list)
        for table, row in (self._row(each.message, each.data) for each in entries if each.message is not None):
            rows[table].append(row)
        verdicts = {row["id"]: row for row in rows.pop(VERDICTS, ())}
        bodies = {id_: row.pop("body") for id_, row in verdicts.items()}
        letters = {row["id"]: row for row in rows.pop(DEAD_LETTERS, ())}
        counted, kept = list[dict[str, Any]](), Counter[str]()
        with writing(self.engine) as connection:
            for place, offset in behind(entries).items():
                known = zip(PROGRESS.columns, (self._cluster, *place, read[place]), strict=True)
                mine = and_(*(column == value for column, value in known))
                if connection.execute(update(PROGRESS).where(mine).values(next_offset=offset)).rowcount != 1:
                    raise Fenced
            if verdicts:
                new = self._insert(VERDICTS).on_conflict_do_nothing().returning(VERDICTS.c.seq, VERDICTS.c.id)
                for seq, id_ in connection.execute(new, list(verdicts.values())):
                    rows[EVIDENCE].append({"seq": seq, "body": bodies[id_]})
                    counted.append(verdicts[id_])
            if letters:
                told = [{"id": id_, "failed_at": row["checked_at"]} for id_, row in letters.items()]
                fresh = self._insert(DEAD_LETTERS).on_conflict_do_nothing().returning(DEAD_LETTERS.c.id)
                new_ones = [letters[id_] for id_ in connection.scalars(fresh, told)]
                counted += new_ones
                kept["dead_letter"] = len(new_ones)
            for table, some in rows.items():
                connection.execute(self._adding(table), some)
                kept["verdict" if table is EVIDENCE else table.name] = len(some)
            # Of the past: they are kept, and count in no rate.
            messages = (entry.message for entry in entries)
            rechecked = {one.id for one in messages if isinstance(one, Verdict) and one.rechecked}
            if counted := [row for row in counted if row["id"] not in rechecked]:
                for table, span in ((MINUTE_COUNTS, MINUTE), (COUNTS, HOUR), (DAY_COUNTS, DAY)):
                    self._count(connection, table, span, counted)
        return kept

    def _adding(self, table: Table) -> Any:
        new = self._insert(table)
        if table is not CALIBRATIONS:
            return new.on_conflict_do_nothing()
        latest = new.excluded.updated_at >= table.c.updated_at
        what = {"updated_at": new.excluded.updated_at, "body": new.excluded.body}
        return new.on_conflict_do_update(index_elements=table.primary_key, set_=what, where=latest)

    def _count(self, connection: Connection, table: Table, span: int, verdicts: Sequence[dict[str, Any]]) -> None:
        counts = Counter(
            (row["checked_at"] // span * span, row["source"], row["model"], row["checker"], row["outcome"])
            for row in verdicts
        )
        new = self._insert(table)
        sums = {"verdicts": table.c.verdicts + new.excluded.verdicts}
        adding = new.on_conflict_do_update(index_elements=table.primary_key, set_=sums)
        names = table.columns.keys()
        connection.execute(adding, [dict(zip(names, (*key, more), strict=True)) for key, more in counts.items()])

    def _row(self, message: Message, data: bytes) -> tuple[Table, dict[str, Any]]:
        given: dict[str, Any]
        if isinstance(message, DeadLetter):
            given = {"source": "", "model": "", "checker": message.checker, "outcome": "dead_letter"}
            return DEAD_LETTERS, given | {"id": message.id, "checked_at": milliseconds(message.failed_at)}
        if self._redaction:
            message = self._redaction.of(message)
            data = to_json(message)
        table = _TABLES.get(type(message), RECORDS)
        given = {"body": zlib.compress(data), "kept_at": int(time.time() * 1000)}
        match message:
            case Verdict():
                given["fault"] = _value(fault_of(message))
            case Improvement():
                given["kept_at"] = milliseconds(message.improved_at)
            case Label():
                given["id"] = label_key(message)
        names = {*table.columns.keys(), "body"} - {"seq"}
        return table, {name: given[name] if name in given else _value(getattr(message, name)) for name in names}


def behind(entries: Sequence[TableEntry]) -> dict[Place, int]:
    """The offset behind the last entry of each partition."""
    return {entry.place: entry.offset + 1 for entry in entries}


def label_key(label: Label) -> str:
    """The id of its row: labels that say the same are one, whatever ids their producers gave them."""
    said = (label.verdict_id, label.rubric_version, label.annotator, label.kind, label.label, label.withdrawn)
    return content_id("lab", [*said, label.labelled_at.isoformat()])


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return milliseconds(value)
    # PostgreSQL takes no NUL.
    return value[:_CHARACTERS].replace("\0", "") if isinstance(value, str) else value
