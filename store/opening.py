"""Opening a store: its address, its tables and their version, and the one who may write to a file."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, OperationalError

from store.settings import ALLOWED
from store.tables import METADATA, SCHEMA, WORDS_ON_SQLITE

VERSION: Final = 3  # of the tables

# Others hold a file for a slice of deleting at most, well below a second.
_SQLITE: Final = {"timeout": 30.0}
# A connection that died silently is noticed after half a minute, not after two hours.
_POSTGRESQL: Final = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "tcp_user_timeout": 30_000}
# A page answers within milliseconds; what takes longer than half a minute helps nobody.
_READING: Final = {"options": "-c default_transaction_read_only=on -c statement_timeout=30000"}
# Readers go on next to the one who writes. After a power cut the last transactions are gone as a whole, their topics'
# progress as well, and are written again.
_PRAGMAS: Final = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "cache_size=-32768")
# The advisory lock of anyone who writes to PostgreSQL: one at a time, so that rows become visible in their order.
_WRITERS: Final = 0x6173736179


class StoreError(Exception):
    """The store cannot be used as it is configured; the message says what to do."""


class StoreAway(Exception):
    """The store cannot be reached or written to just now, or refuses a value as `unfit`."""

    def __init__(self, said: str, *, unfit: bool = False) -> None:
        super().__init__(said)
        self.unfit = unfit


def open_store(url: str) -> Engine:
    """Connect, and create what is missing.

    Raises StoreError for a wrong address, a missing package or a store of another version, and StoreAway if the
    database does not answer or its disk is full.
    """
    address = _address(url)
    engine = _engine(address)
    if address.drivername == "sqlite":
        pragmas = "; ".join(f"PRAGMA {pragma}" for pragma in _PRAGMAS)
        event.listen(engine, "connect", lambda connection, _: connection.executescript(pragmas))
    try:
        with writing(engine) as connection:
            version = _created(connection)
    except DBAPIError as error:
        engine.dispose()
        wrong = getattr(error.orig, "sqlite_errorname", None) in {"SQLITE_CANTOPEN", "SQLITE_NOTADB"}
        raise (StoreError if wrong else StoreAway)(f"store.url: {address}: {_first_line(error)}") from None
    return _of_this_version(engine, version)


def open_for_reading(url: str) -> Engine:
    """Connect to a store that is there, to read alone; raises as `open_store`, and StoreAway if there is none yet."""
    address = _address(url)
    if address.drivername == "sqlite":
        if not (file := Path(address.database or "")).is_file():
            raise StoreAway(f"there is no {file.absolute()} yet; the archivist of `assay worker` makes it (store.url)")
        address = address.set(database=f"file:{quote(str(file))}", query={"mode": "ro", "uri": "true"})
    engine = _engine(address, **_READING)
    with faults(), engine.connect() as connection:
        is_made = inspect(connection).has_table(SCHEMA.name)
        version = connection.execute(select(SCHEMA.c.version)).scalar() if is_made else None
    if version is None:
        engine.dispose()
        raise StoreAway(f"{_address(url)} has no tables yet; the archivist of `assay worker` makes them (store.url)")
    return _of_this_version(engine, version)


def _of_this_version(engine: Engine, version: int) -> Engine:
    if version != VERSION:
        engine.dispose()
        raise StoreError(
            f"store.url: it has tables of version {version}, and this assay has those of version {VERSION}; name "
            "another store"
        )
    return engine


def require_writable(url: str) -> None:
    """Raise StoreError if no archivist on this machine could write to the store's file."""
    address = _address(url)
    if address.drivername != "sqlite":
        return
    file = Path(address.database or "").absolute()
    try:
        with tempfile.TemporaryFile(dir=file.parent), file.open("ab") if file.exists() else contextlib.nullcontext():
            pass
    except OSError as error:
        raise StoreError(f"store.url: {file} cannot be written to: {error.strerror}") from None


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction while which nobody else writes."""
    on_file = engine.dialect.name == "sqlite"
    with engine.begin() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if on_file else f"SELECT pg_advisory_xact_lock({_WRITERS})")
        yield connection


@contextlib.contextmanager
def sole_archivist(url: str) -> Iterator[None]:
    """Keep a second archivist from a file, until the context or the process ends. Many may share PostgreSQL.

    Raises StoreError if there is one already, or the file cannot be written to.
    """
    require_writable(url)
    address = _address(url)
    if address.drivername != "sqlite":
        yield
        return
    try:
        with FileLock(f"{address.database}.lock", timeout=0):
            yield
    except Timeout as error:
        raise StoreError(
            f"store.url: another archivist writes to {address.database} (it holds {error.lock_file}); stop it, run "
            "this worker without the archivist, or let them share PostgreSQL"
        ) from None


@contextlib.contextmanager
def faults() -> Iterator[None]:
    """Turn what the database says into `StoreAway`; quotes no row."""
    try:
        yield
    except DBAPIError as error:
        # Class 54: a limit of PostgreSQL, such as that of an index's entry.
        limit = str(getattr(error.orig, "sqlstate", None)).startswith("54")
        said = _first_line(error) if isinstance(error, OperationalError) else type(error.orig).__name__
        raise StoreAway(said, unfit=limit or isinstance(error, DataError)) from None


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(f"store.url is no address; {ALLOWED}") from None
    return address if address.drivername == "sqlite" else address.set(drivername="postgresql+psycopg")


def _created(connection: Connection) -> int:
    """The version of the tables, which are created if they are missing."""
    METADATA.create_all(connection)
    version = connection.execute(select(SCHEMA.c.version)).scalar()
    if version is None:
        for statement in WORDS_ON_SQLITE if connection.dialect.name == "sqlite" else ():
            connection.exec_driver_sql(statement)
        connection.execute(insert(SCHEMA).values(version=VERSION))
    return version or VERSION


def _engine(address: URL, **postgresql: Any) -> Engine:
    options: dict[str, Any] = _SQLITE if address.drivername == "sqlite" else _POSTGRESQL | postgresql
    try:
        return create_engine(address, connect_args=options, pool_pre_ping=True)
    except ImportError:
        raise StoreError("store.url: PostgreSQL needs a package: pip install 'assay[postgresql]'") from None


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).partition("\n")[0]
