"""Qdrant: within this process in memory or in a folder, or a server."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import MappingProxyType

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ApiException
from qdrant_client.models import Batch, Distance, VectorParams

from checkers.retrieval.audit.stores.address import KEYS, Address, Server
from checkers.retrieval.audit.stores.scratch import scratch_folder, scratch_name
from checkers.retrieval.audit.stores.server import require_answer
from checkers.retrieval.audit.stores.store import Store, StoreFailed, StoreMetric, Vectors, first_line

_DISTANCES: MappingProxyType[StoreMetric, Distance] = MappingProxyType(
    {
        "cosine": Distance.COSINE,
        "euclidean": Distance.EUCLID,
        "manhattan": Distance.MANHATTAN,
        "inner_product": Distance.DOT,
    }
)

_REQUEST_SECONDS = 60
"""A cluster makes a collection in seconds; this long only one takes that never will."""


class _QdrantCollection:
    def __init__(self, client: QdrantClient, name: str) -> None:
        self._client = client
        self._name = name
        self._ids: Sequence[str] = ()

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        # Qdrant's own ids are numbers and UUIDs.
        self._ids = ids
        with _told():
            self._client.upsert(self._name, Batch(ids=list(range(len(ids))), vectors=vectors.tolist()), wait=True)

    def nearest(self, vector: Vectors) -> str:
        with _told():
            points = self._client.query_points(self._name, query=vector.tolist(), limit=1).points
        if not points:
            raise StoreFailed("Qdrant named no point of the collection of the case")
        return self._ids[int(points[0].id)]


class _QdrantStore:
    def __init__(self, client: QdrantClient, metric: StoreMetric, dimension: int) -> None:
        self._client = client
        self._vectors = VectorParams(size=dimension, distance=_DISTANCES[metric])

    @contextmanager
    def fresh(self) -> Iterator[_QdrantCollection]:
        """A collection of a new name."""
        name = scratch_name()
        try:
            with _told():
                self._client.create_collection(name, vectors_config=self._vectors)
            yield _QdrantCollection(self._client, name)
        finally:
            # Also after a creation that was broken off: whether it was done, only the server knows.
            with _told():
                self._client.delete_collection(name)


@contextmanager
def opened(address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """Qdrant at this address."""
    with _client(address) as client:
        yield _QdrantStore(client, metric, dimension)


@contextmanager
def _client(address: Address) -> Iterator[QdrantClient]:
    with ExitStack() as stack:
        if address.server is not None:
            require_answer(address, address.server)
            client = _remote(address.server)
        elif address.folder is not None:
            client = QdrantClient(path=str(stack.enter_context(scratch_folder(address, address.folder))))
        else:
            client = QdrantClient(":memory:")
        stack.callback(client.close)
        yield client


def _remote(server: Server) -> QdrantClient:
    return QdrantClient(
        url=server.url,
        port=server.port,
        prefix=server.path or None,
        api_key=os.environ.get(KEYS["qdrant"]) or None,
        timeout=_REQUEST_SECONDS,
        check_compatibility=False,
    )


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except ApiException as error:
        raise StoreFailed(f"Qdrant: {first_line(error)}") from error
