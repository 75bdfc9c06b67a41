"""Every store that can be installed here, in all its places, and what is told of one that fails."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from psycopg.sql import SQL

from lab.audit.cases import AuditFailed, CannotAudit
from tests.lab.audit.conftest import OWN
from tests.support.ports import free_port
from tests.support.postgres import Postgres
from tests.support.store_servers import chroma, refusing_server, silent_server
from tests.support.stores import StorePromises, distances, opened

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from qdrant_client import QdrantClient

PAIR = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], dtype=np.float32)
TABLES = SQL("SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY 1, 2")
OWN_TABLE = (
    # A table of the user's may have any name, that of ours too.
    SQL("CREATE TABLE assay_audit (id int PRIMARY KEY, embedding vector(2))"),
    SQL("INSERT INTO assay_audit VALUES (1, '[1,2]'), (2, '[3,4]')"),
)


def in_chroma(client: "ClientAPI") -> object:
    """All that is there, for comparing."""
    try:
        everything = {one.name: one.get(include=["embeddings", "documents"]) for one in client.list_collections()}
        assert everything
        return {name: (got["ids"], got["embeddings"].tolist(), got["documents"]) for name, got in everything.items()}
    finally:
        client.close()


def qdrant(path: Path) -> "QdrantClient":
    from qdrant_client import QdrantClient

    return QdrantClient(path=str(path))


def fill(client: "QdrantClient") -> None:
    """A collection of the user's."""
    from qdrant_client import models

    client.create_collection("the-users", models.VectorParams(size=2, distance=models.Distance.DOT))
    client.upsert("the-users", models.Batch(ids=[1, 2], vectors=[[1, 2], [3, 4]], payloads=[{"text": "one"}, {}]))


def in_qdrant(client: "QdrantClient") -> object:
    names = [collection.name for collection in client.get_collections().collections]
    assert names
    return {name: client.scroll(name, with_vectors=True)[0] for name in names}


class TestInMemory(StorePromises):
    examples = 20

    @pytest.fixture(params=["faiss:flat", "faiss:hnsw", "qdrant:"])
    def url(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)


class TestChromaInMemory(StorePromises):
    @pytest.fixture
    def url(self) -> str:
        return "chroma:"


class TestChromaInAFolder(StorePromises):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        client = chroma(tmp_path)
        client.create_collection("the-users", embedding_function=None).add(**OWN)
        client.close()
        return f"chroma:{tmp_path}"

    @pytest.fixture
    def contents(self, tmp_path: Path) -> Callable[[], object]:
        return lambda: (sorted(tmp_path.rglob("*")), in_chroma(chroma(tmp_path)))


class TestAServerOfChroma(StorePromises):
    @pytest.fixture
    def url(self, chroma_port: int) -> str:
        return f"chroma+http://127.0.0.1:{chroma_port}"

    @pytest.fixture
    def contents(self, chroma_port: int) -> Callable[[], object]:
        return lambda: in_chroma(chroma(chroma_port))

    def test_emptied_collections_answer_as_fresh_ones_do(self, url, contents, monkeypatch):
        monkeypatch.setattr("lab.audit.stores.chroma._CASES_OF_A_COLLECTION", 8)
        before = contents()
        rng = np.random.default_rng(7)
        base = rng.normal(size=8).astype(np.float32)
        with opened(url, "euclidean", dimension=8) as store:
            # All around the same place, and more cases than two collections serve.
            for _ in range(20):
                pair = (base + rng.normal(scale=0.1, size=(2, 8))).astype(np.float32)
                assert store.nearest(pair, base) == int(np.argmin(distances("euclidean", base, pair)))
        assert contents() == before

    def test_a_tenant_and_a_database_follow_the_port(self, url):
        with opened(f"{url}/default_tenant/default_database") as store:
            assert store.nearest(PAIR, PAIR[0]) == 0
        with pytest.raises(AuditFailed, match="Chroma: "), opened(f"{url}/nobody/nothing"):
            pass


class TestQdrantInAFolder(StorePromises):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        client = qdrant(tmp_path)
        fill(client)
        client.close()
        return f"qdrant:{tmp_path}"

    @pytest.fixture
    def contents(self, tmp_path: Path) -> Callable[[], object]:
        def read() -> object:
            client = qdrant(tmp_path)
            try:
                return in_qdrant(client), sorted(tmp_path.rglob("*"))
            finally:
                client.close()

        return read

    def test_a_folder_that_somebody_has_open_can_be_used(self, url, tmp_path):
        held = qdrant(tmp_path)
        try:
            with opened(url) as store:
                store.nearest(PAIR, PAIR[0])
        finally:
            held.close()


class TestPgvector(StorePromises):
    @pytest.fixture(params=["postgresql:", "postgresql+hnsw:"])
    def url(self, database: str, request: pytest.FixtureRequest) -> str:
        return database.replace("postgresql:", request.param)

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


def test_the_index_is_what_is_asked_and_has_its_limits(database):
    url = database.replace("postgresql:", "postgresql+hnsw:")
    with opened(url) as store:
        plan = store.connection.execute(f"EXPLAIN {store.query.as_string()}", (PAIR[0],)).fetchall()
    assert "Index Scan using assay_audit_embedding_idx" in str(plan)
    with pytest.raises(AuditFailed, match="2000 dimensions") as raised, opened(url, dimension=2001):
        pass
    assert "\n" not in str(raised.value)


def test_the_extension_may_be_in_any_schema_and_must_be_there(postgres):
    with postgres.database("elsewhere", pgvector=False) as url:
        told = "no pgvector; an administrator can run CREATE EXTENSION vector"
        with pytest.raises(AuditFailed, match=told), opened(url):
            pass
        statements = (SQL('CREATE SCHEMA "Odd one"'), SQL('CREATE EXTENSION vector SCHEMA "Odd one"'))
        postgres.execute("elsewhere", *statements)
        with opened(url, "manhattan") as store:
            assert store.nearest(PAIR, PAIR[1]) == 1


def test_a_role_that_may_make_temporary_tables_and_nothing_else_is_enough(postgres, database):
    name = database.rpartition("/")[2]
    postgres.execute(name, SQL("CREATE ROLE reader LOGIN"), SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    try:
        with opened(postgres.url(name, user="reader", scheme="postgresql+hnsw")) as store:
            assert store.nearest(PAIR, PAIR[1]) == 1
    finally:
        # The server drops a session's tables a moment after its end.
        postgres.execute(name, SQL("DROP OWNED BY reader CASCADE"), SQL("DROP ROLE reader"))


def test_a_session_that_the_server_ends_is_told(postgres, database):
    end = SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assay audit store'")
    with opened(database) as store:
        postgres.execute(database.rpartition("/")[2], end)
        with pytest.raises(AuditFailed, match="PostgreSQL: ") as raised:
            store.nearest(PAIR, PAIR[0])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("database_name", ["missing", "mis%20sing"])
def test_a_database_that_is_not_there_is_told(postgres, database_name):
    with pytest.raises(AuditFailed, match="does not exist") as raised, opened(postgres.url(database_name)):
        pass
    assert "\n" not in str(raised.value)


def test_an_address_that_postgresql_cannot_read_is_told_without_its_password():
    with pytest.raises(CannotAudit, match="cannot read this address") as raised:
        opened("postgresql://u:hush@[::1/d").__enter__()
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("chroma+http://127.0.0.1:{}", "cannot be reached: "),
        ("qdrant+http://127.0.0.1:{}", "cannot be reached: "),
        ("postgresql://u:hush@127.0.0.1:{}/d?connect_timeout=2", "Connection refused"),
    ],
)
def test_a_server_that_is_not_there_or_says_nothing_is_told(url, refused, monkeypatch):
    monkeypatch.setattr("lab.audit.stores.store._PATIENCE_SECONDS", 0.5)
    with pytest.raises(AuditFailed, match=refused) as raised, opened(url.format(free_port())):
        pass
    assert "hush" not in str(raised.value)
    with silent_server() as port, pytest.raises(AuditFailed, match=r"within 0\.5 s|timeout"), opened(url.format(port)):
        pass


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
@pytest.mark.parametrize(
    ("title", "header", "place"),
    [("Chroma", "x-chroma-token", "/some/data"), ("Qdrant", "api-key", "/vectors/")],
)
def test_a_refusal_is_one_line_and_the_key_comes_from_the_environment(title, header, place, monkeypatch):
    monkeypatch.setenv(f"{title.upper()}_API_KEY", "k-1")
    with refusing_server() as (port, seen):
        url = f"{title.lower()}+http://127.0.0.1:{port}{place}"
        with pytest.raises(AuditFailed, match=f"^{title}: ") as raised, opened(url) as store:
            store.nearest(PAIR, PAIR[0])
        # The first question, whether anybody is there, needs no key.
        assert {request.get(header) for request in seen[1:]} == {"k-1"}
        assert title == "Chroma" or seen[-1]["path"].startswith("/vectors/collections/assay-audit-")
    assert "\n" not in str(raised.value)
    assert "k-1" not in str(raised.value)


@pytest.mark.parametrize("engine", ["chroma", "qdrant"])
def test_a_folder_that_is_not_there_is_told(tmp_path, engine):
    told = r"no folder can be made in .*missing: No such file"
    with pytest.raises(AuditFailed, match=told), opened(f"{engine}:{tmp_path / 'missing'}"):
        pass


def test_no_environment_file_of_the_current_folder_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("CHROMA_API_IMPL=nonsense\nIS_PERSISTENT=TRUE\n")
    with opened("chroma:") as store:
        assert store.nearest(PAIR, PAIR[0]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_faiss_leaves_vectors_and_threads_as_they_are_and_tells_what_it_cannot_compare():
    import faiss

    before, threads = PAIR.copy(), faiss.omp_get_max_threads()
    with opened("faiss:") as store:
        store.nearest(PAIR, PAIR[0])
        assert faiss.omp_get_max_threads() == 1
    assert (before == PAIR).all()
    assert faiss.omp_get_max_threads() == threads
    # Both are zero in one dimension: the metric divides zero by zero there.
    vectors = np.array([[0, 1], [0, 2]], dtype=np.float32)
    told = "cannot compare them by lance_williams"
    with pytest.raises(AuditFailed, match=told), opened("faiss:", "lance_williams", dimension=2) as store:
        store.nearest(vectors, vectors[0])
