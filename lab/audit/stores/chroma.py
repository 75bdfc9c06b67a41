"""Chroma: within this process in memory or in a folder, or a server.

Of every collection that it ever had, deleted ones too, Chroma keeps 2.6 MB of memory, four open files and the files of
its index. In this process the whole database is made anew now and then. A server's cannot be: there one collection
serves many cases and is emptied between them; the graph of so few vectors is searched completely.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, Literal, Self, TypeVar, cast

import chromadb
import httpx
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration, CreateHNSWConfiguration
from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings

from lab.audit.stores.address import KEYS, Address, Server, StoreMetric
from lab.audit.stores.store import (
    Store,
    StoreFailed,
    Vectors,
    require_answer,
    scratch_folder,
    scratch_name,
)
from models.wording import first_line

_Space = Literal["cosine", "l2", "ip"]

_SPACES: dict[StoreMetric, _Space] = {"cosine": "cosine", "euclidean": "l2", "inner_product": "ip"}

_COLLECTIONS_OF_A_DATABASE = 8
"""20 MB of memory and 32 open files. To open a database takes as long as a case; larger ones leave holes in memory."""

_CASES_OF_A_COLLECTION = 100
"""A graph of 200 vectors, deleted ones included; 50 collections for 5,000 cases."""

_REQUEST_SECONDS = 60.0
"""Chroma's client would wait for ever; a server makes a collection in milliseconds."""

T = TypeVar("T")


class _Renewed(Generic[T]):
    """Something that is opened anew after so many uses."""

    def __init__(self, opened: Callable[[], AbstractContextManager[T]], *, uses: int) -> None:
        self._opened = opened
        self._uses = uses
        self._left = 0
        self._stack = ExitStack()
        self._current: T

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def take(self) -> T:
        """The present one, or a new one where it was used up."""
        if not self._left:
            self._stack.close()
            self._current = self._stack.enter_context(self._opened())
            self._left = self._uses
        self._left -= 1
        return self._current


class _LocalChroma:
    """A database within this process; a case has a collection of a new name."""

    def __init__(self, clients: _Renewed[Client], space: _Space) -> None:
        self._clients = clients
        self._space = space

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        with _collection(self._clients.take(), self._space) as collection:
            return _nearest(collection, candidates, query)


class _RemoteChroma:
    """A server; a case has a collection that was emptied, or a new one."""

    def __init__(self, collections: _Renewed[chromadb.Collection]) -> None:
        self._collections = collections

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        collection = self._collections.take()
        try:
            return _nearest(collection, candidates, query)
        finally:
            with _chroma_errors():
                collection.delete(ids=_ids(candidates))


def _ids(candidates: Vectors) -> list[str]:
    return [str(row) for row in range(len(candidates))]


def _nearest(collection: chromadb.Collection, candidates: Vectors, query: Vectors) -> int:
    with _chroma_errors():
        collection.add(ids=_ids(candidates), embeddings=candidates)
        found = collection.query(query_embeddings=query[None, :], n_results=1, include=[])["ids"][0]
    if not found:
        raise StoreFailed("Chroma named no vector of the collection of the case")
    return int(found[0])


@contextmanager
def opened(address: Address, metric: StoreMetric, _dimension: int) -> Iterator[Store]:
    space = _SPACES[metric]
    if address.server is None:
        with (
            scratch_folder(address, address.folder) if address.folder else nullcontext() as folder,
            _Renewed(lambda: _local(folder), uses=_COLLECTIONS_OF_A_DATABASE) as clients,
        ):
            yield _LocalChroma(clients, space)
    else:
        with (
            _remote(address, address.server) as client,
            _Renewed(lambda: _collection(client, space), uses=_CASES_OF_A_COLLECTION) as collections,
        ):
            yield _RemoteChroma(collections)


@contextmanager
def _local(folder: Path | None) -> Iterator[Client]:
    with ExitStack() as stack:
        if folder is None:
            with _chroma_errors():
                made = chromadb.EphemeralClient(_settings())
        else:
            place = stack.enter_context(TemporaryDirectory(dir=folder))
            with _chroma_errors():
                made = chromadb.PersistentClient(place, _settings())
        client = cast("Client", made)
        stack.callback(client.close)
        yield client


@contextmanager
def _remote(address: Address, server: Server) -> Iterator[Client]:
    require_answer(address, server)
    tenant, _, database = server.path.partition("/")
    key = os.environ.get(KEYS["chroma"])
    with _chroma_errors():
        made = chromadb.HttpClient(
            # A host alone would lose the brackets of an IPv6 address.
            host=server.url,
            port=server.port,
            ssl=server.secure,
            headers={"X-Chroma-Token": key} if key else None,
            settings=_settings(),
            tenant=tenant or DEFAULT_TENANT,
            database=database or DEFAULT_DATABASE,
        )
    client = cast("Client", made)
    # There is no public way to give it a limit.
    client._server._session.timeout = httpx.Timeout(_REQUEST_SECONDS)  # type: ignore[attr-defined]  # noqa: SLF001
    with ExitStack() as stack:
        stack.callback(client.close)
        yield client


@contextmanager
def _collection(client: Client, space: _Space) -> Iterator[chromadb.Collection]:
    name = scratch_name()
    configuration = CreateCollectionConfiguration(hnsw=CreateHNSWConfiguration(space=space))
    with _chroma_errors():
        collection = client.create_collection(name, configuration=configuration, embedding_function=None)
    try:
        yield collection
    finally:
        with _chroma_errors():
            client.delete_collection(name)


def _settings() -> Settings:
    # It would read any .env file in the current folder.
    return Settings(_env_file=None, anonymized_telemetry=False)


@contextmanager
def _chroma_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # Its client raises errors of its own, those of httpx, ValueError, and Exception itself.
        raise StoreFailed(f"Chroma: {first_line(error)}") from error
