"""Qdrant: within this process in memory or in a folder, or a server."""

import os

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ApiException
from qdrant_client.models import Batch, Distance, VectorParams

from lab.audit.stores.store import Store, Vectors, scratch_name

_REQUEST_SECONDS = 60
"""A cluster makes a collection in seconds; this long only one takes that never will."""


class QdrantStore(Store):
    title = "Qdrant"
    errors = (ApiException,)

    def open(self) -> None:
        if self.address.url:
            self.require_answer()
            self._client = QdrantClient(
                url=self.address.url,
                prefix=self.address.path or None,
                api_key=os.environ.get(self.address.engine.key) or None,
                timeout=_REQUEST_SECONDS,
                check_compatibility=False,
            )
        elif self.address.folder is not None:
            self._client = QdrantClient(path=str(self.scratch_folder()))
        else:
            self._client = QdrantClient(":memory:")
        self.stack.callback(self._client.close)

    def ask(self, candidates: Vectors, query: Vectors) -> int | str | None:
        name = scratch_name()
        try:
            vectors = VectorParams(size=self.dimension, distance=Distance(self.space))
            self._client.create_collection(name, vectors_config=vectors)
            self._client.upsert(name, Batch(ids=list(range(len(candidates))), vectors=candidates.tolist()), wait=True)
            points = self._client.query_points(name, query=query.tolist(), limit=1).points
        finally:
            # Also after a creation that was broken off: whether it was done, only the server knows.
            self._client.delete_collection(name)
        return int(points[0].id) if points else None


STORE = QdrantStore
