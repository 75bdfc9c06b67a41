"""Opening a store: its address, its tables, their version, and the one who may write to a file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event, insert, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, OperationalError

from store.tables import METADATA, SCHEMA

VERSION: Final = 1
"""Of the tables."""

_BUSY_SECONDS: Final = 30.0
"""The longest that another connection holds a file is a slice of deleting, well below a second."""

_WRITERS: Final = 0x61_73_73_61_79
"""The advisory lock of PostgreSQL that whoever writes holds: numbers then become visible in their order."""

_POSTGRESQL: Final = {
    "connect_timeout": 5,
    # A connection that died silently is noticed after half a minute, not after two hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}

_UNUSABLE: Final = {"SQLITE_CANTOPEN", "SQLITE_NOTADB", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CORRUPT"}

# An index of words beside the rows: triggers keep it in the same transaction, whoever writes.
_WORDS: Final = (
    """CREATE VIRTUAL TABLE verdict_words
        USING fts5(reason, record_id, source, model, content='verdict', content_rowid='seq')""",
    """CREATE TRIGGER verdict_inserted AFTER INSERT ON verdict BEGIN
        INSERT INTO verdict_words (rowid, reason, record_id, source, model)
        VALUES (new.seq, new.reason, new.record_id, new.source, new.model); END""",
    """CREATE TRIGGER verdict_deleted AFTER DELETE ON verdict BEGIN
        INSERT INTO verdict_words (verdict_words, rowid, reason, record_id, source, model)
        VALUES ('delete', old.seq, old.reason, old.record_id, old.source, old.model); END""",
)


class StoreError(Exception):
    """The store cannot be used as it is configured; the message says what to do."""


class StoreAway(Exception):
    """The store cannot be reached or written to just now."""


def open_store(url: str) -> Engine:
    """Connect, and create what is missing.

    Raises:
        StoreError: a wrong address, a missing package, or a store of a newer version.
        StoreAway: the database does not answer, or its disk is full.
    """
    address = _address(url)
    if address.drivername == "sqlite":
        engine = create_engine(address, connect_args={"timeout": _BUSY_SECONDS})
        event.listen(engine, "connect", _prepare_sqlite)
    else:
        try:
            engine = create_engine(address, connect_args=_POSTGRESQL, pool_pre_ping=True)
        except ImportError:
            raise StoreError("store.url: PostgreSQL needs a package: pip install 'assay[postgresql]'") from None
    try:
        with writing(engine) as connection:
            _create(connection, shown(url))
    except DBAPIError as error:
        engine.dispose()
        reason = f"{shown(url)}: {str(error.orig).splitlines()[0]}"
        if _code(error) in _UNUSABLE:
            raise StoreError(f"store.url: {reason}") from None
        raise StoreAway(reason) from None
    except StoreError:
        engine.dispose()
        raise
    return engine


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction while which nobody else writes."""
    sqlite = engine.dialect.name == "sqlite"
    with engine.begin() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if sqlite else f"SELECT pg_advisory_xact_lock({_WRITERS})")
        yield connection


@contextlib.contextmanager
def sole_archivist(url: str) -> Iterator[None]:
    """Keep a second archivist from a file, until the context or the process ends. Many may share PostgreSQL.

    Raises:
        StoreError: there is one already, or the folder cannot be written to.
    """
    address = _address(url)
    if address.drivername != "sqlite":
        yield
        return
    file = Path(address.database or "")
    lock = FileLock(file.with_name(f"{file.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise StoreError(
            f"store.url: another archivist writes to {file} (it holds {lock.lock_file}); stop it, run this worker "
            "without the archivist, or let them share PostgreSQL"
        ) from None
    except OSError as error:
        raise StoreError(f"store.url: {file.absolute()} cannot be written to: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def faults(unfit: type[Exception] | None = None) -> Iterator[None]:
    """Tell what the database says, without what it quotes: `StoreAway`, or `unfit` where it refuses a value."""
    try:
        yield
    except DBAPIError as error:
        # 54: a limit of PostgreSQL, such as that of an index's entry.
        if unfit is not None and (isinstance(error, DataError) or _code(error).startswith("54")):
            raise unfit from None
        raise StoreAway(_said(error)) from None
    except (ValueError, OverflowError):
        if unfit is None:
            raise
        raise unfit from None


def shown(url: str) -> str:
    """The address without its password."""
    return _address(url).set(drivername=url.partition(":")[0]).render_as_string(hide_password=True)


def _code(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None) or "")


def _said(error: DBAPIError) -> str:
    # Only of these can it be said that they quote no rows.
    if isinstance(error, OperationalError) and (lines := str(error.orig).splitlines()):
        return lines[0]
    return f"{type(error.orig).__name__} {_code(error)}".strip()


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(
            "store.url is no address; allowed are `sqlite:///FILE` and `postgresql://USER@HOST/DATABASE`"
        ) from None
    return address if address.drivername == "sqlite" else address.set(drivername="postgresql+psycopg")


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Readers go on beside the one who writes. After a power cut the last transactions are gone as a whole, their
    # topics' progress as well, and are written again.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "cache_size=-32768"):
        connection.execute(f"PRAGMA {pragma}")


def _create(connection: Connection, name: str) -> None:
    METADATA.create_all(connection)
    version = connection.execute(select(SCHEMA.c.version)).scalar()
    if version is None:
        if connection.dialect.name == "sqlite":
            for statement in _WORDS:
                connection.exec_driver_sql(statement)
        connection.execute(insert(SCHEMA).values(version=VERSION))
    elif version > VERSION:
        raise StoreError(
            f"store.url: {name} has tables of version {version}, and this assay knows them up to {VERSION}; upgrade "
            "it, or name another store"
        )
