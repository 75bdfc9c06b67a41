"""pgvector on a real PostgreSQL."""

from collections.abc import Callable

import numpy as np
import pytest
from psycopg.sql import SQL

from lab.audit.stores.address import WrongAddress
from lab.audit.stores.store import StoreFailed
from tests.support.ports import free_port
from tests.support.postgres import Postgres
from tests.support.store_servers import silent_server
from tests.support.stores import StorePromises, opened

OWN = (
    # A table of the user's may have any name, that of ours too.
    SQL("CREATE TABLE assay_audit (id int PRIMARY KEY, embedding vector(2))"),
    SQL("INSERT INTO assay_audit VALUES (1, '[1,2]'), (2, '[3,4]')"),
)
ALL = SQL("SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY 1, 2")
PAIR = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], dtype=np.float32)


class PgvectorPromises(StorePromises):
    @pytest.fixture
    def contents(self, postgres: Postgres, database: str) -> Callable[[], object]:
        name = database.rpartition("/")[2]
        postgres.execute(name, *OWN)

        def read() -> object:
            rows = postgres.execute(name, SQL("SELECT id, embedding::text FROM public.assay_audit ORDER BY id"))
            # The server keeps an emptied schema for temporary tables of each session that it ever had.
            tables = [row for row in postgres.execute(name, ALL) if not str(row[0]).startswith("pg_toast_temp")]
            return rows, tables

        return read


class TestTable(PgvectorPromises):
    @pytest.fixture
    def url(self, database: str) -> str:
        return database


class TestGraph(PgvectorPromises):
    @pytest.fixture
    def url(self, database: str) -> str:
        return database.replace("postgresql:", "postgresql+hnsw:")

    def test_the_index_is_what_is_asked(self, url):
        with opened(url) as store:
            plan = store.connection.execute(f"EXPLAIN {store.query.as_string()}", (PAIR[0],)).fetchall()
        assert "Index Scan using assay_audit_embedding_idx" in str(plan)

    def test_vectors_that_the_index_cannot_hold_are_told(self, url):
        with pytest.raises(StoreFailed, match="2000 dimensions") as raised, opened(url, dimension=2001):
            pass
        assert "\n" not in str(raised.value)


def test_the_extension_may_be_in_any_schema(postgres):
    with postgres.database("elsewhere", pgvector=False) as url:
        statements = (SQL('CREATE SCHEMA "Odd one"'), SQL('CREATE EXTENSION vector SCHEMA "Odd one"'))
        postgres.execute("elsewhere", *statements)
        with opened(url, "manhattan") as store:
            assert store.nearest(PAIR, PAIR[1]) == 1


def test_a_role_that_may_make_temporary_tables_and_nothing_else_is_enough(postgres, database):
    name = database.rpartition("/")[2]
    postgres.execute(name, SQL("CREATE ROLE reader LOGIN"), SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    try:
        url = postgres.url(name, user="reader", scheme="postgresql+hnsw")
        with opened(url) as store:
            assert store.nearest(PAIR, PAIR[1]) == 1
    finally:
        postgres.execute(name, SQL("DROP ROLE reader"))


def test_a_database_without_the_extension_is_told(postgres):
    told = "no pgvector; an administrator can run CREATE EXTENSION vector"
    with postgres.database("bare", pgvector=False) as url, pytest.raises(StoreFailed, match=told), opened(url):
        pass


def test_a_session_that_the_server_ends_is_told(postgres, database):
    name = database.rpartition("/")[2]
    end = SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assay audit store'")
    with opened(database) as store:
        postgres.execute(name, end)
        with pytest.raises(StoreFailed, match="PostgreSQL: ") as raised:
            store.nearest(PAIR, PAIR[0])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("database_name", ["missing", "mis%20sing"])
def test_a_database_that_is_not_there_is_told(postgres, database_name):
    with pytest.raises(StoreFailed, match="does not exist") as raised, opened(postgres.url(database_name)):
        pass
    assert "\n" not in str(raised.value)


def test_a_server_that_is_not_there_or_says_nothing_is_told():
    url = f"postgresql://u:hush@127.0.0.1:{free_port()}/d"
    with pytest.raises(StoreFailed, match="Connection refused") as raised, opened(url):
        pass
    assert "hush" not in str(raised.value)
    with silent_server() as port:
        url = f"postgresql://127.0.0.1:{port}/d?connect_timeout=2"
        with pytest.raises(StoreFailed, match="timeout"), opened(url):
            pass


def test_an_address_that_postgresql_cannot_read_is_told_without_its_password():
    with pytest.raises(WrongAddress, match="cannot read this address") as raised:
        opened("postgresql://u:hush@[::1/d").__enter__()
    assert "hush" not in str(raised.value)
