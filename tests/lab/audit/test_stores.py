"""Every store in its place, and what is told of one that fails."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL

from assay.cli.common import CannotRun, NotFinished
from lab.audit import stores
from lab.audit.stores import without_password
from tests.support.ports import free_port
from tests.support.postgres import Postgres
from tests.support.stores import StorePromises, distances, opened

PAIR = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], dtype=np.float32)
TABLES = SQL("SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY 1, 2")
OWN_TABLE = (
    # A table of the user's may have any name, that of ours too.
    SQL("CREATE TABLE assay_audit (id int PRIMARY KEY, embedding vector(2))"),
    SQL("INSERT INTO assay_audit VALUES (1, '[1,2]'), (2, '[3,4]')"),
)


@pytest.fixture
def database(postgres: Postgres, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database of the test's own, with the extension."""
    with postgres.database(f"t{abs(hash(request.node.nodeid)):x}") as url:
        yield url


class TestFaiss(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "faiss"


class TestChroma(StorePromises):
    @pytest.fixture
    def url(self) -> str:
        return "chroma"

    def test_emptied_collections_answer_as_fresh_ones_do(self, url, monkeypatch):
        monkeypatch.setattr(stores, "_CASES_OF_A_COLLECTION", 8)
        rng = np.random.default_rng(7)
        base = rng.normal(size=8).astype(np.float32)
        with opened(url, "euclidean", dimension=8) as nearest:
            # All around the same place, and more cases than two collections serve.
            for _ in range(20):
                pair = (base + rng.normal(scale=0.1, size=(2, 8))).astype(np.float32)
                assert nearest(pair, base) == int(np.argmin(distances("euclidean", base, pair)))


class TestPgvector(StorePromises):
    @pytest.fixture
    def url(self, database: str) -> str:
        return database

    @pytest.fixture
    def contents(self, postgres: Postgres, database: str) -> Callable[[], object]:
        name = database.rpartition("/")[2]
        postgres.execute(name, *OWN_TABLE)

        def read() -> object:
            rows = postgres.execute(name, SQL("SELECT id, embedding::text FROM public.assay_audit ORDER BY id"))
            # The server keeps an emptied schema for temporary tables of each session that it ever had.
            tables = [row for row in postgres.execute(name, TABLES) if not str(row[0]).startswith("pg_toast_temp")]
            return rows, tables

        return read


def test_the_extension_may_be_in_any_schema_and_must_be_there(postgres):
    with postgres.database("elsewhere", pgvector=False) as url:
        told = "no pgvector; an administrator can run CREATE EXTENSION vector"
        with pytest.raises(NotFinished, match=told), opened(url):
            pass
        statements = (SQL('CREATE SCHEMA "Odd one"'), SQL('CREATE EXTENSION vector SCHEMA "Odd one"'))
        postgres.execute("elsewhere", *statements)
        with opened(url, "manhattan") as nearest:
            assert nearest(PAIR, PAIR[1]) == 1


def test_a_role_that_may_make_temporary_tables_and_nothing_else_is_enough(postgres, database):
    name = database.rpartition("/")[2]
    postgres.execute(name, SQL("CREATE ROLE reader LOGIN"), SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    try:
        with opened(postgres.url(name, user="reader")) as nearest:
            assert nearest(PAIR, PAIR[1]) == 1
    finally:
        # The server drops a session's tables a moment after its end.
        postgres.execute(name, SQL("DROP OWNED BY reader CASCADE"), SQL("DROP ROLE reader"))


def test_a_session_that_the_server_ends_is_told(postgres, database):
    end = SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assay audit store'")
    with opened(database) as nearest:
        postgres.execute(database.rpartition("/")[2], end)
        with pytest.raises(NotFinished, match="pgvector: ") as raised:
            nearest(PAIR, PAIR[0])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("database_name", ["missing", "mis%20sing"])
def test_a_database_that_is_not_there_is_told(postgres, database_name):
    with pytest.raises(NotFinished, match="does not exist") as raised, opened(postgres.url(database_name)):
        pass
    assert "\n" not in str(raised.value)


def test_an_address_that_postgresql_cannot_read_is_told_without_its_password():
    with pytest.raises(CannotRun, match="cannot read this address") as raised:
        opened("postgresql://u:hush@[::1/d").__enter__()
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize("address", ["", "chroma:", "chroma://here", "faiss:hnsw", "qdrant", "postgresql:d"])
def test_what_is_no_store_is_told_with_what_is_allowed(address):
    with pytest.raises(CannotRun, match="is no store; allowed are chroma, faiss, postgresql://HOST/DATABASE"):
        opened(address).__enter__()


def test_a_server_that_is_not_there_is_told_without_its_password():
    url = f"postgresql://u:hush@127.0.0.1:{free_port()}/d?connect_timeout=2"
    with pytest.raises(NotFinished, match="Connection refused") as raised, opened(url):
        pass
    assert "hush" not in str(raised.value)


@given(st.text("ab:/?#@&=%", max_size=8), st.text("ab:/?#@&=%", max_size=8))
def test_no_password_is_shown(before, after):
    secret = f"{before}hush{after}"
    for text in (f"postgresql://user:{secret}@host/d", f"postgresql://user@host/d?password={secret}"):
        assert "hush" not in without_password(text)


def test_no_environment_file_of_the_current_folder_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("CHROMA_API_IMPL=nonsense\nIS_PERSISTENT=TRUE\n")
    with opened("chroma") as nearest:
        assert nearest(PAIR, PAIR[0]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_faiss_leaves_vectors_as_they_are_and_tells_what_it_cannot_compare():
    import faiss

    before = PAIR.copy()
    with opened("faiss") as nearest:
        nearest(PAIR, PAIR[0])
        assert faiss.omp_get_max_threads() == 1
    assert (before == PAIR).all()
    # Both are zero in one dimension: the metric divides zero by zero there.
    vectors = np.array([[0, 1], [0, 2]], dtype=np.float32)
    told = "cannot compare them by lance_williams"
    with pytest.raises(NotFinished, match=told), opened("faiss", "lance_williams", dimension=2) as nearest:
        nearest(vectors, vectors[0])
