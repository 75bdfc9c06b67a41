"""pgvector: a temporary table in a PostgreSQL, which no other session sees and which ends with its own.

Every case is a transaction. At its end the server empties the table as TRUNCATE does, and builds its index anew.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Literal

from lab.audit.stores.address import Address, StoreMetric, WrongAddress
from lab.audit.stores.store import Store, StoreFailed, Vectors
from models.wording import first_line

_OPERATORS: dict[StoreMetric, tuple[SQL, SQL]] = {
    "cosine": (SQL("<=>"), SQL("vector_cosine_ops")),
    "euclidean": (SQL("<->"), SQL("vector_l2_ops")),
    "manhattan": (SQL("<+>"), SQL("vector_l1_ops")),
    "inner_product": (SQL("<#>"), SQL("vector_ip_ops")),
}
"""The operator that sorts by the metric, and its class for the index."""

_CONNECT_SECONDS = 5
"""A server that is there answers at once; three round trips and a handshake over a slow line take one or two."""

_SCHEMA = """
SELECT set_config('search_path', format('pg_temp, %I, pg_catalog', n.nspname), false)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""
"""The extension's objects by their plain names, wherever it was installed, and nothing of the user's."""


class _PgvectorStore:
    def __init__(self, connection: psycopg.Connection, metric: StoreMetric) -> None:
        self._connection = connection
        operator, _ = _OPERATORS[metric]
        self._query = SQL("SELECT id FROM assay_audit ORDER BY embedding {} %s LIMIT 1").format(operator)

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        with _postgres_errors(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany("INSERT INTO assay_audit (id, embedding) VALUES (%s, %s)", list(enumerate(candidates)))
            row = cursor.execute(self._query, (query,)).fetchone()
        if row is None:
            raise StoreFailed("PostgreSQL named no row of the table of the case")
        return int(row[0])


@contextmanager
def opened(address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """A session in the database, with the table."""
    with _connection(address) as connection:
        with _postgres_errors():
            found = connection.execute(_SCHEMA).fetchone()
            if found is None:
                raise StoreFailed(
                    f"{address.shown}: the database has no pgvector; an administrator can run CREATE EXTENSION vector"
                )
            register_vector(connection)
            connection.execute(
                SQL("CREATE TEMPORARY TABLE assay_audit (id int, embedding vector({})) ON COMMIT DELETE ROWS").format(
                    Literal(dimension)
                )
            )
            if address.index == "hnsw":
                _, operators = _OPERATORS[metric]
                connection.execute(SQL("CREATE INDEX ON assay_audit USING hnsw (embedding {})").format(operators))
                # The planner reads a table of two rows without its index.
                connection.execute("SET enable_seqscan = off")
        yield _PgvectorStore(connection, metric)


@contextmanager
def _connection(address: Address) -> Iterator[psycopg.Connection]:
    try:
        options = conninfo_to_dict(address.database or "")
    except psycopg.ProgrammingError:
        # The message would repeat parts of the address, and a password may be one.
        raise WrongAddress(f"{address.shown}: PostgreSQL's client library cannot read this address") from None
    ours: dict[str, str | int | None] = {"connect_timeout": _CONNECT_SECONDS, "application_name": "assay audit store"}
    try:
        connection = psycopg.connect(make_conninfo("", **(ours | options)), autocommit=True)
    except psycopg.OperationalError as error:
        raise StoreFailed(f"{address.shown}: {first_line(error)}") from error
    with connection:
        yield connection


@contextmanager
def _postgres_errors() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise StoreFailed(f"PostgreSQL: {first_line(error)}") from error
