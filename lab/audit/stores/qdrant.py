"""Qdrant: within this process in memory or in a folder, or a server."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ApiException
from qdrant_client.models import Batch, Distance, VectorParams

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

_DISTANCES: dict[StoreMetric, Distance] = {
    "cosine": Distance.COSINE,
    "euclidean": Distance.EUCLID,
    "manhattan": Distance.MANHATTAN,
    "inner_product": Distance.DOT,
}

_REQUEST_SECONDS = 60
"""A cluster makes a collection in seconds; this long only one takes that never will."""


class _QdrantStore:
    def __init__(self, client: QdrantClient, metric: StoreMetric, dimension: int) -> None:
        self._client = client
        self._vectors = VectorParams(size=dimension, distance=_DISTANCES[metric])

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        name = scratch_name()
        try:
            with _qdrant_errors():
                self._client.create_collection(name, vectors_config=self._vectors)
                batch = Batch(ids=list(range(len(candidates))), vectors=candidates.tolist())
                self._client.upsert(name, batch, wait=True)
                points = self._client.query_points(name, query=query.tolist(), limit=1).points
        finally:
            # Also after a creation that was broken off: whether it was done, only the server knows.
            with _qdrant_errors():
                self._client.delete_collection(name)
        if not points:
            raise StoreFailed("Qdrant named no point of the collection of the case")
        return int(points[0].id)


@contextmanager
def opened(address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    with ExitStack() as stack:
        if address.server is not None:
            require_answer(address, address.server)
            client = _remote(address.server)
        elif address.folder is not None:
            client = QdrantClient(path=str(stack.enter_context(scratch_folder(address, address.folder))))
        else:
            client = QdrantClient(":memory:")
        stack.callback(client.close)
        yield _QdrantStore(client, metric, dimension)


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
def _qdrant_errors() -> Iterator[None]:
    try:
        yield
    except ApiException as error:
        raise StoreFailed(f"Qdrant: {first_line(error)}") from error
