"""Queries of page and command line: lists touch no evidence, and go on behind a key instead of a number of rows.

Lists are bounded, newest first. All of it is synchronous and only reads; who runs an event loop calls it in a thread.
"""

import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

import orjson
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import (
    ColumnElement,
    Engine,
    Integer,
    Select,
    Table,
    column,
    func,
    literal_column,
    select,
    table,
    text,
    tuple_,
)

from schemas import OUTCOMES, Alert, Improvement, SeriesAnew, TrueRateAlert, Verdict
from store.opening import faults
from store.tables import (
    ALERTS,
    COUNTS,
    DAY_COUNTS,
    EVIDENCE,
    IMPROVEMENTS,
    MINUTE_COUNTS,
    RECORDS,
    VERDICTS,
    WORDS,
)
from store.times import DAY, HOUR, MINUTE, milliseconds, moment

MOST = 500
"""Rows of a list at most."""


_WORDS = table("verdict_words", column("rowid", Integer))

_AlertMessage: TypeAlias = Alert | SeriesAnew | TrueRateAlert

_MESSAGE: TypeAdapter[_AlertMessage] = TypeAdapter(_AlertMessage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Verdicts to be listed. An empty field stands for all."""

    sources: Collection[str] = ()
    models: Collection[str] = ()
    checkers: Collection[str] = ()
    outcomes: Collection[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    """Exclusive."""
    ids: Collection[str] = ()
    """Ids of verdicts or of records."""
    words: str = ""
    """All of them must stand in the verdict."""


class Key(NamedTuple):
    """The place of a verdict in a list."""

    checked_at: int
    """Milliseconds since 1970."""
    seq: int


class Listed(NamedTuple):
    """A verdict in a list."""

    seq: int
    id: str
    record_id: str
    source: str
    model: str
    checker: str
    outcome: str
    judge: str
    score: float | None
    reason: str
    checked_at: datetime

    @property
    def key(self) -> Key:
        return Key(milliseconds(self.checked_at), self.seq)


class Series(NamedTuple):
    """The subject of one success rate."""

    source: str
    model: str
    checker: str


class Count(NamedTuple):
    """Verdicts of a series with one outcome, in the stretch of time that begins at `begins`."""

    series: Series
    begins: datetime
    outcome: str
    verdicts: int


class Account(NamedTuple):
    """A checker's counts."""

    checker: str
    verdicts: dict[str, int]
    """By outcome, in the time that was asked about; `dead_letter` is one, too."""
    last: datetime | None
    """Time of its last verdict that is kept."""


class Reader:
    """Reads a store. Whatever it is asked for, `StoreAway` says that the database does not answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def engine(self) -> Engine:
        """For those who read what is no verdict."""
        return self._engine

    def close(self) -> None:
        """End the connections."""
        self._engine.dispose()

    def verdicts(self, wanted: Wanted, *, before: Key | None = None, limit: int = MOST) -> list[Listed]:
        """Verdicts behind `before`, latest first; those with certain words by their arrival."""
        query, seq = self._listed(wanted)
        if wanted.words:
            # The index of words gives its hits in this order alone without finding all of them.
            query = query.order_by(seq.desc())
            behind = None if before is None else seq < before.seq
        else:
            query = query.order_by(VERDICTS.c.checked_at.desc(), seq.desc())
            behind = None if before is None else tuple_(VERDICTS.c.checked_at, seq) < before
        return self._list(query if behind is None else query.where(behind), limit)

    def total(self, wanted: Wanted, *, most: int) -> int:
        """How many verdicts there are, counted up to `most`."""
        query, _ = self._listed(wanted)
        return int(self._scalar(select(func.count()).select_from(query.limit(most).subquery())) or 0)

    def after(self, seq: int, wanted: Wanted, *, limit: int = MOST) -> list[Listed]:
        """Verdicts that came after the one numbered `seq`, in the order in which they came."""
        query, number = self._listed(wanted)
        return self._list(query.where(number > seq).order_by(number), limit)

    def newest(self) -> int:
        """The number of the verdict that came last; 0 if there is none."""
        return int(self._scalar(select(func.max(VERDICTS.c.seq))) or 0)

    def of_record(self, source: str, record_id: str) -> list[Listed]:
        """All verdicts on a record, latest first."""
        query = _columns().where(VERDICTS.c.source == source, VERDICTS.c.record_id == record_id)
        return self._list(query.order_by(VERDICTS.c.checked_at.desc(), VERDICTS.c.seq.desc()), MOST)

    def verdict(self, identifier: str) -> Verdict | None:
        """A verdict with all its evidence; None if it is not kept."""
        query = select(EVIDENCE.c.body).join(VERDICTS, VERDICTS.c.seq == EVIDENCE.c.seq)
        body = self._scalar(query.where(VERDICTS.c.id == identifier))
        return None if body is None else read_verdict(zlib.decompress(body))

    def record(self, source: str, identifier: str) -> bytes | None:
        """A record as JSON; None if it is not kept."""
        query = select(RECORDS.c.body).where(RECORDS.c.source == source, RECORDS.c.id == identifier)
        body = self._scalar(query)
        return None if body is None else zlib.decompress(body)

    def improvements(self, verdict_id: str) -> list[Improvement]:
        """The improvement of a rejected response, if there is one."""
        query = select(IMPROVEMENTS.c.body).where(IMPROVEMENTS.c.verdict_id == verdict_id).limit(MOST)
        return [Improvement.model_validate_json(zlib.decompress(body)) for (body,) in self._rows(query)]

    def alerts(
        self, *, since: datetime | None = None, before: int | None = None, limit: int = MOST
    ) -> list[tuple[int, _AlertMessage]]:
        """Messages of the topic of alerts with their numbers, latest first."""
        query = select(ALERTS.c.seq, ALERTS.c.body).order_by(ALERTS.c.seq.desc()).limit(min(limit, MOST))
        if since is not None:
            query = query.where(ALERTS.c.raised_at >= milliseconds(since))
        if before is not None:
            query = query.where(ALERTS.c.seq < before)
        return [(seq, _MESSAGE.validate_json(zlib.decompress(body))) for seq, body in self._rows(query)]

    def alert(self, identifier: str) -> _AlertMessage | None:
        """A message of the topic of alerts; None if it is not kept."""
        body = self._scalar(select(ALERTS.c.body).where(ALERTS.c.id == identifier))
        return None if body is None else _MESSAGE.validate_json(zlib.decompress(body))

    def series(
        self, since: datetime, *, until: datetime | None = None, minutes: int = 60, limit: int = MOST
    ) -> list[Series]:
        """The series with the most verdicts in that time, which `counts` tells in such stretches."""
        table = _counts(since, minutes)
        columns = (table.c.source, table.c.model, table.c.checker)
        given = (*_within(table, since, until), table.c.outcome.in_(OUTCOMES))
        query = select(*columns).where(*given).group_by(*columns)
        query = query.order_by(func.sum(table.c.verdicts).desc(), *columns).limit(min(limit, MOST))
        return [Series(*row) for row in self._rows(query)]

    def counts(
        self, series: Sequence[Series], since: datetime, *, until: datetime | None = None, minutes: int = 60
    ) -> list[Count]:
        """Verdicts of these series, in stretches of so many minutes; those of less than an hour for two days back."""
        table = _counts(since, minutes)
        begins = (table.c.begins - milliseconds(since)) // (minutes * MINUTE)
        columns = (table.c.source, table.c.model, table.c.checker)
        query = (
            select(*columns, begins, table.c.outcome, func.sum(table.c.verdicts))
            .where(*_within(table, since, until), tuple_(*columns).in_(series))
            .group_by(*columns, begins, table.c.outcome)
        )
        return [
            Count(Series(*row[:3]), since + timedelta(minutes=minutes * int(row[3])), row[4], int(row[5]))
            for row in self._rows(query)
        ]

    def accounts(self, since: datetime, *, until: datetime | None = None, minutes: int = 60) -> list[Account]:
        """Each checker's counts since then; also those of one that did nothing, if it ever did."""
        table = _counts(since, minutes)
        totals = select(table.c.checker, table.c.outcome, func.sum(table.c.verdicts))
        totals = totals.where(*_within(table, since, until)).group_by(table.c.checker, table.c.outcome)
        done: dict[str, dict[str, int]] = defaultdict(dict)
        for checker, outcome, verdicts in self._rows(totals):
            done[checker][outcome] = int(verdicts)
        names = sorted({*done, *self.names("checker")})
        return [Account(name, done.get(name, {}), self._last(name)) for name in names]

    def _last(self, checker: str) -> datetime | None:
        """Time of a checker's last verdict that is kept."""
        last = self._scalar(select(func.max(VERDICTS.c.checked_at)).where(VERDICTS.c.checker == checker))
        return None if last is None else moment(last)

    def names(self, column: str) -> list[str]:
        """All values of `source`, `model` or `checker` in the verdicts that are kept, as far as lists go."""
        named = VERDICTS.c[column]
        # From each to the next by the index: there are few, and a distinct selection reads all verdicts.
        found = select(func.min(named).label("name")).cte(recursive=True)
        following = select(func.min(named)).where(named > found.c.name).scalar_subquery()
        found = found.union_all(select(following).where(found.c.name.is_not(None)))
        return [name for (name,) in self._rows(select(found.c.name).where(found.c.name.is_not(None)).limit(MOST))]

    def _listed(self, wanted: Wanted) -> tuple[Select[Any], ColumnElement[int]]:
        """Verdicts to be ordered, and the column of their numbers that an index of words has, too."""
        query = _columns().where(*_conditions(wanted))
        if not wanted.words:
            return query, VERDICTS.c.seq
        if self._engine.dialect.name == "sqlite":
            query = query.join(_WORDS, _WORDS.c.rowid == VERDICTS.c.seq).where(text("verdict_words MATCH :words"))
            return query.params(words=_phrases(wanted.words)), _WORDS.c.rowid
        words = func.plainto_tsquery(literal_column("'simple'"), wanted.words)
        return query.where(WORDS.op("@@")(words)), VERDICTS.c.seq

    def _list(self, query: Select[Any], limit: int) -> list[Listed]:
        return [Listed._make((*row[:-1], moment(row[-1]))) for row in self._rows(query.limit(min(limit, MOST)))]

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        with faults(), self._engine.connect() as connection:
            return connection.execute(query).all()

    def _scalar(self, query: Select[Any]) -> Any:
        return next((row[0] for row in self._rows(query)), None)


def _within(table: Table, since: datetime, until: datetime | None) -> Iterable[ColumnElement[bool]]:
    yield table.c.begins >= milliseconds(since)
    if until is not None:
        yield table.c.begins < milliseconds(until)


def _counts(since: datetime, minutes: int) -> Table:
    """The coarsest counts that tell stretches of so many minutes since then."""
    if minutes % (24 * 60) == 0 and milliseconds(since) % DAY == 0:
        return DAY_COUNTS
    return COUNTS if minutes % 60 == 0 and milliseconds(since) % HOUR == 0 else MINUTE_COUNTS


def _columns() -> Select[Any]:
    return select(*(VERDICTS.c[name] for name in Listed._fields))


def _conditions(wanted: Wanted) -> Iterable[ColumnElement[bool]]:
    named = {"source": wanted.sources, "model": wanted.models, "checker": wanted.checkers, "outcome": wanted.outcomes}
    for name, values in named.items():
        if values:
            yield VERDICTS.c[name].in_(values)
    if wanted.ids:
        yield VERDICTS.c.id.in_(wanted.ids) | VERDICTS.c.record_id.in_(wanted.ids)
    if wanted.since is not None:
        yield VERDICTS.c.checked_at >= milliseconds(wanted.since)
    if wanted.until is not None:
        yield VERDICTS.c.checked_at < milliseconds(wanted.until)


def _phrases(words: str) -> str:
    """The words as a query that has no operators."""
    return " ".join('"' + word.replace('"', '""') + '"' for word in words.split())


def read_verdict(data: bytes) -> Verdict:
    """The verdict in a message; raises `ValidationError`."""
    try:
        return Verdict.model_validate_json(data)
    except ValidationError as error:
        # A later version may know evidence that this one does not.
        if any(fault["loc"][:1] != ("evidence",) for fault in error.errors(include_url=False, include_input=False)):
            raise
        document = orjson.loads(data)
        findings = document.get("evidence")
        document["evidence"] = {"type": "plugin", "checker": document["checker"], "findings": findings}
        return Verdict.model_validate(document)
