"""FAISS: indexes in memory, flat or a graph."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType

import faiss
import numpy as np

from checkers.retrieval.audit.stores.address import Address
from checkers.retrieval.audit.stores.store import Store, StoreFailed, StoreMetric, Vectors

_METRICS: MappingProxyType[StoreMetric, int] = MappingProxyType(
    {
        # FAISS has no cosine; its users scale vectors to length 1 and take the inner product.
        "cosine": faiss.METRIC_INNER_PRODUCT,
        "euclidean": faiss.METRIC_L2,
        "manhattan": faiss.METRIC_L1,
        "inner_product": faiss.METRIC_INNER_PRODUCT,
        "bray_curtis": faiss.METRIC_BrayCurtis,
        "lance_williams": faiss.METRIC_Canberra,
    }
)

_LINKS = 32
"""Neighbours of a vector in the graph, as FAISS' own examples have them."""


class _FaissCollection:
    def __init__(self, index: faiss.Index, *, scaled: bool) -> None:
        self._index = index
        self._scaled = scaled
        self._ids: Sequence[str] = ()

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        self._ids = ids
        self._index.add(self._prepared(vectors))

    def nearest(self, vector: Vectors) -> str:
        _, numbers = self._index.search(self._prepared(vector[None, :]), 1)
        number = int(numbers[0, 0])
        if number < 0:
            raise StoreFailed("faiss found none: it cannot compare these vectors by this metric")
        return self._ids[number]

    def _prepared(self, vectors: Vectors) -> Vectors:
        # What FAISS scales, it scales in place.
        rows: Vectors = np.array(vectors, dtype=np.float32, order="C")
        if self._scaled:
            faiss.normalize_L2(rows)
        return rows


class _FaissStore:
    def __init__(self, address: Address, metric: StoreMetric, dimension: int) -> None:
        self._hnsw = address.index == "hnsw"
        self._scaled = metric == "cosine"
        self._metric = _METRICS[metric]
        self._dimension = dimension

    @contextmanager
    def fresh(self) -> Iterator[_FaissCollection]:
        """An index in memory."""
        index: faiss.Index
        if self._hnsw:
            index = faiss.IndexHNSWFlat(self._dimension, _LINKS, self._metric)
        else:
            index = faiss.IndexFlat(self._dimension, self._metric)
        yield _FaissCollection(index, scaled=self._scaled)


@contextmanager
def opened(address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """FAISS in this process, on one thread: waking others takes longer than comparing a handful of vectors."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield _FaissStore(address, metric, dimension)
    finally:
        faiss.omp_set_num_threads(threads)
