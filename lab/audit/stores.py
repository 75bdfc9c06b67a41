"""Vector stores, asked as MeTMaP asks them: two candidates, k = 1, nothing else in the collection.

A store's library is imported when the store is opened; each is its own extra.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.cli.common import CannotRun, NotFinished
from lab.audit import STORE_METRICS, StoreMetric
from models.wording import first_line

Vectors: TypeAlias = npt.NDArray[np.float32]
"""One vector, shape (dimension), or several, shape (count, dimension)."""
Nearest: TypeAlias = Callable[[Vectors, Vectors], int]
"""From candidates and a query to the row of the candidate that the store names; negative if it names none."""

_CONNECT_SECONDS = 5
# The extension's objects by their plain names, where it was installed, and nothing of the user's.
_SCHEMA = """
SELECT set_config('search_path', format('pg_temp, %I, pg_catalog', n.nspname), false)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""


@contextmanager
def _chroma(_: str, space: str, __: int) -> Iterator[Nearest]:
    """Chroma within this process, in memory."""
    import chromadb
    from chromadb.api.collection_configuration import CreateCollectionConfiguration, CreateHNSWConfiguration
    from chromadb.config import Settings

    metric: Any = space
    # It would read any .env file in the current folder.
    client: Any = chromadb.EphemeralClient(Settings(_env_file=None, anonymized_telemetry=False))
    configuration = CreateCollectionConfiguration(hnsw=CreateHNSWConfiguration(space=metric))
    try:
        collection = client.create_collection("assay-audit", configuration=configuration, embedding_function=None)

        def nearest(candidates: Vectors, query: Vectors) -> int:
            # In place of those of the case before: Chroma keeps memory and open files of every collection it ever had.
            collection.upsert(ids=[str(row) for row in range(len(candidates))], embeddings=candidates)
            found = collection.query(query_embeddings=query[None, :], n_results=1, include=[])["ids"][0]
            return int(found[0]) if found else -1

        yield nearest
        client.delete_collection("assay-audit")
    finally:
        client.close()


@contextmanager
def _faiss(_: str, space: str, dimension: int) -> Iterator[Nearest]:
    """FAISS in memory. It has no cosine; its users scale vectors to length 1 and take the inner product."""
    import faiss

    def nearest(candidates: Vectors, query: Vectors) -> int:
        index = faiss.IndexFlat(dimension, getattr(faiss, space.removesuffix(" scaled")))
        # What FAISS scales, it scales in place.
        rows, asked = (one.astype("float32", order="C", copy=True) for one in (candidates, query[None, :]))
        if space.endswith(" scaled"):
            faiss.normalize_L2(rows)
            faiss.normalize_L2(asked)
        index.add(rows)
        return int(index.search(asked, 1)[1][0, 0])

    # One thread: waking others takes longer than comparing a handful of vectors.
    faiss.omp_set_num_threads(1)
    yield nearest


@contextmanager
def _pgvector(address: str, operator: str, dimension: int) -> Iterator[Nearest]:
    """A temporary table in a PostgreSQL, which no other session sees and which ends with its own.

    Every case is a transaction, at whose end the server empties the table as TRUNCATE does.
    """
    import psycopg
    from pgvector.psycopg import register_vector
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
    from psycopg.sql import SQL, Literal

    shown = without_password(address)
    ours: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, "application_name": "assay audit store"}
    try:
        information = make_conninfo("", **(ours | conninfo_to_dict(address)))
    except psycopg.ProgrammingError:
        # The message would repeat parts of the address, and a password may be one.
        raise CannotRun(f"{shown}: PostgreSQL's client library cannot read this address") from None
    query = SQL("SELECT id FROM assay_audit ORDER BY embedding {} %s LIMIT 1").format(SQL(operator))
    table = SQL("CREATE TEMPORARY TABLE assay_audit (id int, embedding vector({})) ON COMMIT DELETE ROWS")
    with psycopg.connect(information, autocommit=True) as connection:
        if connection.execute(_SCHEMA).fetchone() is None:
            raise NotFinished(
                f"{shown}: the database has no pgvector; an administrator can run CREATE EXTENSION vector"
            )
        register_vector(connection)
        connection.execute(table.format(Literal(dimension)))

        def nearest(candidates: Vectors, asked: Vectors) -> int:
            with connection.transaction(), connection.cursor() as cursor:
                rows = list(enumerate(candidates))
                cursor.executemany("INSERT INTO assay_audit (id, embedding) VALUES (%s, %s)", rows)
                row = cursor.execute(query, (asked,)).fetchone()
            return -1 if row is None else int(row[0])

        yield nearest


# By the beginning of its address: its library's extra, what opens it, and the names of `STORE_METRICS` there.
_STORES = {
    "chroma": ("chroma", _chroma, ("cosine", "l2", "ip")),
    "faiss": ("faiss", _faiss, ("METRIC_INNER_PRODUCT scaled", "METRIC_L2", "METRIC_INNER_PRODUCT")),
    "postgresql://": ("pgvector", _pgvector, ("<=>", "<->", "<#>")),
}


def without_password(address: str) -> str:
    """An address without what may be secret in it: a password, or options, which may hold one."""
    head, slashes, rest = address.partition("//")
    who, at, where = rest.rpartition("@")
    if "?" in who:
        # An option with an at sign or a password with a question mark: either way, there is a secret here.
        return f"{head}{slashes}…"
    return f"{head}{slashes}{who.partition(':')[0]}{at}{where.partition('?')[0].partition('#')[0]}"


@contextmanager
def open_store(address: str, *, metric: StoreMetric, dimension: int) -> Iterator[Nearest]:
    """The store for as long as the context lasts, comparing vectors of `dimension` numbers by `metric`."""
    shown, (scheme, slashes, _) = without_password(address), address.partition("://")
    if (scheme + slashes) not in _STORES:
        raise CannotRun(f"{shown!r} is no store; allowed are chroma, faiss, postgresql://HOST/DATABASE")
    extra, opened, spaces = _STORES[scheme + slashes]
    with ExitStack() as stack:
        try:
            nearest = stack.enter_context(opened(address, spaces[STORE_METRICS.index(metric)], dimension))
        except (NotFinished, CannotRun):
            raise
        except ImportError as error:
            raise CannotRun(f"{shown} needs {extra} ({error}): pip install 'assay-lab[{extra}]'") from error
        except Exception as error:
            # The libraries raise their own errors, and Chroma's also ValueError and Exception itself.
            raise NotFinished(f"{shown}: {first_line(error)}") from error

        def asked(candidates: Vectors, query: Vectors) -> int:
            try:
                row = nearest(candidates, query)
            except Exception as error:
                raise NotFinished(f"{extra}: {first_line(error)}") from error
            if row < 0:
                raise NotFinished(f"{extra} named none of the candidates")
            return row

        yield asked
