"""pgvector: a temporary table in a PostgreSQL, which no other session sees and which ends with its own.

Every case is a transaction. At its end the server empties the table as TRUNCATE does, and builds its index anew.
"""

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Literal

from lab.audit.cases import AuditFailed, CannotAudit
from lab.audit.stores.store import Store, Vectors
from models.wording import first_line

_CONNECT_SECONDS = 5
"""A server that is there answers at once; three round trips and a handshake over a slow line take one or two."""

_SCHEMA = """
SELECT set_config('search_path', format('pg_temp, %I, pg_catalog', n.nspname), false)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""
"""The extension's objects by their plain names, wherever it was installed, and nothing of the user's."""


class PgvectorStore(Store):
    title = "PostgreSQL"
    errors = (psycopg.Error,)

    def open(self) -> None:
        shown = self.address.shown
        self.connection = self.stack.enter_context(self._connected())
        if self.connection.execute(_SCHEMA).fetchone() is None:
            raise AuditFailed(
                f"{shown}: the database has no pgvector; an administrator can run CREATE EXTENSION vector"
            )
        register_vector(self.connection)
        operator, _, operators = self.space.partition(" ")
        self.query = SQL("SELECT id FROM assay_audit ORDER BY embedding {} %s LIMIT 1").format(SQL(operator))
        table = "CREATE TEMPORARY TABLE assay_audit (id int, embedding vector({})) ON COMMIT DELETE ROWS"
        self.connection.execute(SQL(table).format(Literal(self.dimension)))
        if self.address.index == "hnsw":
            self.connection.execute(SQL("CREATE INDEX ON assay_audit USING hnsw (embedding {})").format(SQL(operators)))
            # The planner reads a table of two rows without its index.
            self.connection.execute("SET enable_seqscan = off")

    def ask(self, candidates: Vectors, query: Vectors) -> int | None:
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany("INSERT INTO assay_audit (id, embedding) VALUES (%s, %s)", list(enumerate(candidates)))
            row = cursor.execute(self.query, (query,)).fetchone()
        return None if row is None else int(row[0])

    def _connected(self) -> psycopg.Connection:
        ours: dict[str, str | int | None] = {
            "connect_timeout": _CONNECT_SECONDS,
            "application_name": "assay audit store",
        }
        try:
            options = conninfo_to_dict(self.address.database)
        except psycopg.ProgrammingError:
            # The message would repeat parts of the address, and a password may be one.
            raise CannotAudit(f"{self.address.shown}: PostgreSQL's client library cannot read this address") from None
        try:
            return psycopg.connect(make_conninfo("", **(ours | options)), autocommit=True)
        except psycopg.OperationalError as error:
            raise AuditFailed(f"{self.address.shown}: {first_line(error)}") from error


STORE = PgvectorStore
