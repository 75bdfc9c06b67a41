"""Every store in its place, what each promises to an audit, and what is told of one that fails."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import scipy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL

from assay.cli.common import CannotRun, NotFinished
from lab.audit import STORE_METRICS, StoreMetric
from lab.audit.stores import open_store, without_password
from tests.support.postgres import Postgres
from tests.support.waiting import wait_until

Vectors: TypeAlias = npt.NDArray[np.float32]

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


_CASES = 4
_CLEAR = 1e-3
"""Distances that differ by less, as a share, are no case: stores round in different places."""


def distances(metric: StoreMetric, one: Vectors, others: Vectors) -> list[float]:
    """The distances that the metric's definition gives; smaller is nearer."""
    first, rest = one.astype(np.float64), others.astype(np.float64)
    if metric == "inner_product":
        return [-(first @ other) for other in rest]
    return [getattr(scipy.spatial.distance, metric)(first, other) for other in rest]


def cases(metric: StoreMetric, seed: int, dimension: int) -> list[Vectors]:
    """Base and two candidates of all lengths, shape (3, dimension) each, one candidate clearly nearer."""
    rng = np.random.default_rng(seed)
    drawn: list[Vectors] = []
    while len(drawn) < _CASES:
        base = rng.normal(size=dimension)
        others = base + rng.normal(size=(2, dimension))
        scaled = np.vstack([base, others * rng.uniform(0.2, 3.0, size=(2, 1))]).astype(np.float32)
        nearer, further = sorted(distances(metric, scaled[0], scaled[1:]))
        if further - nearer > _CLEAR * max(abs(nearer), abs(further)):
            drawn.append(scaled)
    return drawn


@contextlib.contextmanager
def opened(url: str, metric: StoreMetric = "cosine", dimension: int = 4) -> Iterator[Any]:
    """The store at an address."""
    with open_store(url, metric=metric, dimension=dimension) as nearest:
        yield nearest


class StorePromises:
    """Inherited by a class a store, which adds a fixture `url`: the store's address."""

    examples = 2
    """Seeds and dimensions to try; more where a case takes no time."""

    @pytest.fixture
    def contents(self, url: str) -> object:
        """Tells what is in the store, read by other means than the adapter's."""
        return lambda: None

    def test_the_nearest_is_the_one_that_the_metric_says(self, url):
        seen = set()

        @settings(max_examples=self.examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(seed=st.integers(0, 2**32 - 1), dimension=st.integers(2, 400))
        def holds(seed: int, dimension: int) -> None:
            for metric in STORE_METRICS:
                with opened(url, metric, dimension) as nearest:
                    for base, *others in cases(metric, seed, dimension):
                        candidates = np.array(others)
                        right = int(np.argmin(distances(metric, base, candidates)))
                        assert nearest(candidates, base) == right
                        seen.add(right)

        holds()
        assert seen == {0, 1}

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


class TestFaiss(StorePromises):
    examples = 20

    @pytest.fixture
    def url(self) -> str:
        return "faiss"


class TestChroma(StorePromises):
    @pytest.fixture
    def url(self) -> str:
        return "chroma"


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
