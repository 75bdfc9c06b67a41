"""Every store in its place, what each promises to an audit, and what is told of one that fails."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL

from assay.cli.common import CannotRun, NotFinished
from lab.audit import STORE_METRICS, StoreMetric
from lab.audit.stores import Nearest, open_store, without_password
from tests.support.postgres import Postgres
from tests.support.waiting import wait_until

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


BASE = np.array([2, 0], dtype=np.float32)
NEAREST = [
    ([(2, 1), (10, 1)], {"cosine": 1, "euclidean": 0, "inner_product": 1}),
    ([(1, 0), (2, 0.5)], {"cosine": 0, "euclidean": 1, "inner_product": 1}),
    ([(3, 3), (-1, 0)], {"cosine": 0, "euclidean": 1, "inner_product": 0}),
]
"""Two candidates, and the row of the nearest to `BASE` by each metric, whatever the lengths."""


def opened(url: str, metric: StoreMetric = "cosine", dimension: int = 4) -> AbstractContextManager[Nearest]:
    return open_store(url, metric=metric, dimension=dimension)


class StorePromises:
    """Inherited with a fixture `url`: the store's address."""

    @pytest.fixture
    def contents(self, url: str) -> object:
        """Tells what is in the store, read by other means than the adapter's."""
        return lambda: None

    @pytest.mark.parametrize("metric", STORE_METRICS)
    def test_the_nearest_is_the_one_that_the_metric_says(self, url, metric):
        with opened(url, metric, dimension=2) as nearest:
            for candidates, right in NEAREST:
                assert nearest(np.array(candidates, dtype=np.float32), BASE) == right[metric]

    def test_nothing_is_left_after_an_error_and_the_store_goes_on(self, url, contents):
        before = contents()
        base = np.array([1, 2, 3, 4], dtype=np.float32)
        with opened(url) as nearest:
            for _ in range(2):
                # The candidates are in the store when it sees that the query does not go with them.
                with pytest.raises(Exception):  # noqa: B017, PT011
                    nearest(np.stack([base, -base]), base[:3])
            assert nearest(np.stack([-base, base]), base) == 1
        with pytest.raises(KeyboardInterrupt), opened(url):
            raise KeyboardInterrupt
        wait_until(lambda: contents() == before, lambda: (contents(), before))


class TestInMemory(StorePromises):
    @pytest.fixture(params=["faiss", "chroma"])
    def url(self, request: pytest.FixtureRequest) -> str:
        return request.param


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
        with opened(url, "euclidean") as nearest:
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


@pytest.mark.parametrize("address", ["chroma://here", "qdrant", "postgresql:d"])
def test_what_is_no_store_is_told_with_what_is_allowed(address):
    with pytest.raises(CannotRun, match="is no store; allowed are chroma, faiss, postgresql://HOST/DATABASE"):
        opened(address).__enter__()


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
