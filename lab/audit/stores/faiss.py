"""FAISS: indexes in memory, flat or a graph."""

from collections.abc import Iterator
from contextlib import contextmanager

import faiss
import numpy as np

from lab.audit.stores.address import Address, Index, StoreMetric
from lab.audit.stores.store import Store, StoreFailed, Vectors

_METRICS: dict[StoreMetric, int] = {
    # FAISS has no cosine; its users scale vectors to length 1 and take the inner product.
    "cosine": faiss.METRIC_INNER_PRODUCT,
    "euclidean": faiss.METRIC_L2,
    "manhattan": faiss.METRIC_L1,
    "inner_product": faiss.METRIC_INNER_PRODUCT,
    "bray_curtis": faiss.METRIC_BrayCurtis,
    "lance_williams": faiss.METRIC_Canberra,
}

_LINKS = 32
"""Neighbours of a vector in the graph, as FAISS' own examples have them."""


class _FaissStore:
    def __init__(self, index: Index | None, metric: StoreMetric, dimension: int) -> None:
        self._hnsw = index == "hnsw"
        self._scaled = metric == "cosine"
        self._metric = _METRICS[metric]
        self._dimension = dimension

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        index: faiss.Index
        if self._hnsw:
            index = faiss.IndexHNSWFlat(self._dimension, _LINKS, self._metric)
        else:
            index = faiss.IndexFlat(self._dimension, self._metric)
        index.add(self._prepared(candidates))
        _, rows = index.search(self._prepared(query[None, :]), 1)
        row = int(rows[0, 0])
        if row < 0:
            raise StoreFailed("faiss found none: it cannot compare these vectors by this metric")
        return row

    def _prepared(self, vectors: Vectors) -> Vectors:
        # What FAISS scales, it scales in place.
        rows: Vectors = np.array(vectors, dtype=np.float32, order="C")
        if self._scaled:
            faiss.normalize_L2(rows)
        return rows


@contextmanager
def opened(address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """FAISS in this process, on one thread: waking others takes longer than comparing a handful of vectors."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield _FaissStore(address.index, metric, dimension)
    finally:
        faiss.omp_set_num_threads(threads)
