"""Queries of page and command line: lists touch no evidence, and go on behind a key instead of a number of rows.

Lists are bounded, newest first. All of it is synchronous and only reads; who runs an event loop calls it in a thread.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

import orjson
import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from schemas import OUTCOMES, Alert, Improvement, SeriesAnew, TrueRateAlert, Verdict
from store.opening import faults
from store.tables import (
    ALERTS,
    COUNTS,
    DAY,
    DAY_COUNTS,
    EVIDENCE,
    HOUR,
    IMPROVEMENTS,
    MINUTE,
    MINUTE_COUNTS,
    RECORDS,
    VERDICTS,
    WORDS,
    milliseconds,
    moment,
)

MOST = 500  # rows of a list at most

_WORDS = sa.table("verdict_words", sa.column("rowid", sa.Integer))

AlertMessage: TypeAlias = Alert | SeriesAnew | TrueRateAlert

read_alert = TypeAdapter[AlertMessage](AlertMessage).validate_json
"""Reads a message of the topic of alerts."""

ReadT = TypeVar("ReadT")


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
    fault: str = ""
    """What `store.failures.fault_of` says of the verdict."""
    words: str = ""
    """All of them must be in the verdict."""


Key: TypeAlias = tuple[int, int]
"""The place of a verdict in a list: milliseconds since 1970 when it was given, and its number."""


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
    fault: str | None
    checked_at: datetime

    @property
    def key(self) -> Key:
        return milliseconds(self.checked_at), self.seq


_COLUMNS = sa.select(*(VERDICTS.c[name] for name in Listed._fields))


class Series(NamedTuple):
    """The subject of one success rate."""

    source: str
    model: str
    checker: str

    def wanted(self, **more: Any) -> Wanted:
        """Its verdicts, as far as `more` wants them."""
        return Wanted(sources=(self.source,), models=(self.model,), checkers=(self.checker,), **more)


class Outcomes(NamedTuple):
    """Verdicts with one outcome, in the stretch of time that begins at `begins`."""

    begins: datetime
    outcome: str
    verdicts: int


class Reader:
    """Reads a store. Whatever it is asked for, `StoreAway` says that the database does not answer."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    def close(self) -> None:
        """End the connections."""
        self.engine.dispose()

    def verdicts(self, wanted: Wanted, *, before: Key | None = None, limit: int = MOST) -> list[Listed]:
        """Verdicts behind `before`, latest first; those with certain words by their arrival."""
        query, order = self._listed(wanted)
        if before is not None:
            query = query.where(sa.tuple_(*order) < before[-len(order) :])
        return self._list(query.order_by(*(one.desc() for one in order)), limit)

    def outcomes(self, wanted: Wanted, since: datetime, *, minutes: int, most: int) -> list[Outcomes]:
        """Outcomes of the latest `most` of the verdicts, in stretches of so many minutes since then."""
        rows = _latest(*self._listed(wanted), most, "checked_at", "outcome")
        begins = (rows.c.checked_at - milliseconds(since)) // (minutes * MINUTE)
        query = sa.select(begins, rows.c.outcome, sa.func.count()).group_by(begins, rows.c.outcome)
        return [_outcomes(since, minutes, *row) for row in self.rows(query)]

    def all_outcomes(self, wanted: Wanted, since: datetime, *, until: datetime, minutes: int) -> list[Outcomes]:
        """Outcomes of all that were given, also of those that are deleted; `wanted` has neither words nor a fault."""
        table, query = _counted(since, until, minutes, "outcome", begins=True)
        query = query.where(table.c.outcome.in_(wanted.outcomes or OUTCOMES), *_named(table, wanted))
        return [_outcomes(since, minutes, at, outcome, number) for outcome, at, number in self.rows(query)]

    def faults(self, wanted: Wanted, *, most: int) -> list[tuple[str, str, int]]:
        """Checker and fault of the latest `most` verdicts that have one, and how many have it; the commonest first."""
        query, order = self._listed(wanted)
        query = query.where(VERDICTS.c.fault.is_not(None))
        if not wanted.words:
            # Without statistics SQLite takes an index in which most verdicts have none.
            query = query.with_hint(VERDICTS, "INDEXED BY verdict_faulty", "sqlite")
        rows, number = _latest(query, order, most, "checker", "fault"), sa.func.count()
        found = sa.select(rows.c.checker, rows.c.fault, number).group_by(rows.c.checker, rows.c.fault)
        found = found.having(number > 1).order_by(number.desc(), rows.c.fault)
        return [(checker, fault, times) for checker, fault, times in self.rows(found.limit(8))]

    def oldest(self) -> datetime | None:
        """Time of the first verdict that is kept."""
        return self._moment(sa.func.min(VERDICTS.c.checked_at))

    def after(self, seq: int, wanted: Wanted, *, limit: int = MOST) -> list[Listed]:
        """Verdicts that came after the one numbered `seq`, in the order in which they came."""
        query, (*_, number) = self._listed(wanted)
        return self._list(query.where(number > seq).order_by(number), limit)

    def newest(self) -> int:
        """The number of the verdict that came last; 0 if there is none."""
        return int(self.scalar(sa.select(sa.func.max(VERDICTS.c.seq))) or 0)

    def of_record(self, source: str, record_id: str) -> list[Listed]:
        """All verdicts on a record, latest first."""
        query = _COLUMNS.where(VERDICTS.c.source == source, VERDICTS.c.record_id == record_id)
        return self._list(query.order_by(VERDICTS.c.checked_at.desc(), VERDICTS.c.seq.desc()), MOST)

    def verdict(self, identifier: str) -> Verdict | None:
        """A verdict with all its evidence; None if it is not kept."""
        query = sa.select(EVIDENCE.c.body).join(VERDICTS, VERDICTS.c.seq == EVIDENCE.c.seq)
        return self.body(query.where(VERDICTS.c.id == identifier), read_verdict)

    def record(self, source: str, identifier: str) -> bytes | None:
        """A record as JSON; None if it is not kept."""
        query = sa.select(RECORDS.c.body).where(RECORDS.c.source == source, RECORDS.c.id == identifier)
        return self.body(query, bytes)

    def improvements(self, verdict_id: str) -> list[Improvement]:
        """The improvement of a rejected response, if there is one."""
        query = sa.select(IMPROVEMENTS.c.body).where(IMPROVEMENTS.c.verdict_id == verdict_id).limit(MOST)
        return self.bodies(query, Improvement.model_validate_json)

    def alerts(self, *, before: int | None = None, limit: int = MOST) -> list[tuple[int, AlertMessage]]:
        """Messages of the topic of alerts with their numbers, latest first."""
        query = sa.select(ALERTS.c.seq, ALERTS.c.body).order_by(ALERTS.c.seq.desc()).limit(min(limit, MOST))
        if before is not None:
            query = query.where(ALERTS.c.seq < before)
        return [(seq, read_alert(zlib.decompress(body))) for seq, body in self.rows(query)]

    def alerts_between(self, since: datetime, until: datetime) -> list[AlertMessage]:
        """Those that were raised in that time, latest first."""
        raised = ALERTS.c.raised_at
        query = sa.select(ALERTS.c.body).where(raised.between(milliseconds(since), milliseconds(until)))
        return self.bodies(query.order_by(raised.desc()).limit(MOST), read_alert)

    def last_alerts(self) -> list[AlertMessage]:
        """The last message about each series, and the last on its true rate, latest first; none on versions."""
        of = (ALERTS.c.source, ALERTS.c.model, ALERTS.c.checker, ALERTS.c.kind == "true_rate")
        latest = sa.select(sa.func.max(ALERTS.c.seq)).where(ALERTS.c.kind != "version_worse").group_by(*of)
        query = sa.select(ALERTS.c.body).where(ALERTS.c.seq.in_(latest)).order_by(ALERTS.c.seq.desc()).limit(MOST)
        return self.bodies(query, read_alert)

    def alert(self, identifier: str) -> AlertMessage | None:
        """A message of the topic of alerts; None if it is not kept."""
        return self.body(sa.select(ALERTS.c.body).where(ALERTS.c.id == identifier), read_alert)

    def totals(self, since: datetime, *, until: datetime, minutes: int) -> dict[Series, dict[str, int]]:
        """Outcomes of each series in that time, which `counts` has in such stretches.

        Dead letters are outcomes as well, of a series without source and model.
        """
        _, query = _counted(since, until, minutes, *Series._fields, "outcome")
        found: dict[Series, dict[str, int]] = defaultdict(dict)
        for *series, outcome, verdicts in self.rows(query):
            found[Series(*series)][outcome] = int(verdicts)
        return found

    def counts(
        self, series: Sequence[Series], since: datetime, *, until: datetime, minutes: int
    ) -> dict[Series, list[Outcomes]]:
        """Verdicts of these series, in stretches of so many minutes; those of less than an hour for two days back."""
        table, query = _counted(since, until, minutes, *Series._fields, "outcome", begins=True)
        query = query.where(sa.tuple_(*(table.c[name] for name in Series._fields)).in_(series))
        found: dict[Series, list[Outcomes]] = defaultdict(list)
        for *of, outcome, at, verdicts in self.rows(query):
            found[Series(*of)].append(_outcomes(since, minutes, at, outcome, verdicts))
        return found

    def last(self, checker: str) -> datetime | None:
        """Time of a checker's last verdict that is kept."""
        return self._moment(sa.func.max(VERDICTS.c.checked_at), VERDICTS.c.checker == checker)

    def names(self, column: str) -> list[str]:
        """All values of `source`, `model` or `checker` in the verdicts that are kept, as far as lists go."""
        named = VERDICTS.c[column]
        # From each to the next by the index: there are few, and a distinct selection reads all verdicts.
        found = sa.select(sa.func.min(named).label("name")).cte(recursive=True)
        following = sa.select(sa.func.min(named)).where(named > found.c.name).scalar_subquery()
        found = found.union_all(sa.select(following).where(found.c.name.is_not(None)))
        return [name for (name,) in self.rows(sa.select(found.c.name).where(found.c.name.is_not(None)).limit(MOST))]

    def _listed(self, wanted: Wanted) -> tuple[sa.Select[Any], list[sa.ColumnElement[int]]]:
        """Verdicts, and the columns of a `Key`, to order them by.

        An index of words gives its hits by their numbers alone without finding all of them.
        """
        query = _COLUMNS.where(*conditions(wanted))
        if not wanted.words:
            return query, [VERDICTS.c.checked_at, VERDICTS.c.seq]
        if self.engine.dialect.name == "sqlite":
            # Words in quotes: a query without operators.
            words = " ".join('"' + word.replace('"', '""') + '"' for word in wanted.words.split())
            query = query.join(_WORDS, _WORDS.c.rowid == VERDICTS.c.seq).where(sa.text("verdict_words MATCH :words"))
            return query.params(words=words), [_WORDS.c.rowid]
        hits = WORDS.op("@@")(sa.func.plainto_tsquery(sa.literal_column("'simple'"), wanted.words))
        return query.where(hits), [VERDICTS.c.seq]

    def _list(self, query: sa.Select[Any], limit: int) -> list[Listed]:
        return [Listed._make((*row[:-1], moment(row[-1]))) for row in self.rows(query.limit(min(limit, MOST)))]

    def rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        """All rows of any query."""
        with faults(), self.engine.connect() as connection:
            return connection.execute(query).all()

    def bodies(self, query: sa.Select[Any], read: Callable[[bytes], ReadT]) -> list[ReadT]:
        """What a query of bodies finds, as `read` reads it."""
        return [read(zlib.decompress(body)) for (body,) in self.rows(query)]

    def body(self, query: sa.Select[Any], read: Callable[[bytes], ReadT]) -> ReadT | None:
        """The first of them; None if there is none."""
        return next(iter(self.bodies(query, read)), None)

    def scalar(self, query: sa.Select[Any]) -> Any:
        """The first column of its first row; None if there is none."""
        return next((row[0] for row in self.rows(query)), None)

    def _moment(self, time: sa.ColumnElement[int], *conditions: sa.ColumnElement[bool]) -> datetime | None:
        found = self.scalar(sa.select(time).where(*conditions))
        return None if found is None else moment(found)


def _counted(
    since: datetime, until: datetime, minutes: int, *names: str, begins: bool = False
) -> tuple[sa.Table, sa.Select[Any]]:
    """The coarsest counts that tell stretches of so many minutes since then, and their sums by these columns."""
    table = COUNTS if minutes % 60 == 0 and milliseconds(since) % HOUR == 0 else MINUTE_COUNTS
    if minutes % (24 * 60) == 0 and milliseconds(since) % DAY == 0:
        table = DAY_COUNTS
    columns: list[sa.ColumnElement[Any]] = [table.c[name] for name in names]
    if begins:
        columns.append((table.c.begins - milliseconds(since)) // (minutes * MINUTE))
    query = sa.select(*columns, sa.func.sum(table.c.verdicts)).group_by(*columns)
    return table, query.where(table.c.begins >= milliseconds(since), table.c.begins < milliseconds(until))


def _outcomes(since: datetime, minutes: int, at: int, outcome: str, verdicts: int) -> Outcomes:
    return Outcomes(since + timedelta(minutes=minutes * int(at)), outcome, int(verdicts))


def _latest(query: sa.Select[Any], order: list[sa.ColumnElement[int]], most: int, *names: str) -> sa.Subquery:
    """These columns of the latest: not more than an index has."""
    latest = query.order_by(order[0].desc()).limit(most)
    return latest.with_only_columns(*(VERDICTS.c[name] for name in names)).subquery()


def conditions(wanted: Wanted) -> Iterable[sa.ColumnElement[bool]]:
    """What a query of verdicts needs, but for words."""
    yield from _named(VERDICTS, wanted)
    if wanted.outcomes:
        yield VERDICTS.c.outcome.in_(wanted.outcomes)
    if wanted.fault:
        yield VERDICTS.c.fault == wanted.fault
    if wanted.ids:
        yield VERDICTS.c.id.in_(wanted.ids) | VERDICTS.c.record_id.in_(wanted.ids)
    if wanted.since is not None:
        yield VERDICTS.c.checked_at >= milliseconds(wanted.since)
    if wanted.until is not None:
        yield VERDICTS.c.checked_at < milliseconds(wanted.until)


def _named(table: sa.Table, wanted: Wanted) -> Iterable[sa.ColumnElement[bool]]:
    for name, values in {"source": wanted.sources, "model": wanted.models, "checker": wanted.checkers}.items():
        if values:
            yield table.c[name].in_(values)


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
