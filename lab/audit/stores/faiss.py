"""FAISS: indexes in memory, flat or a graph."""

import faiss
import numpy as np

from lab.audit.stores.store import Store, Vectors

_LINKS = 32
"""Neighbours of a vector in the graph, as FAISS' own examples have them."""


class FaissStore(Store):
    title = "faiss"

    def open(self) -> None:
        # One thread: waking others takes longer than comparing a handful of vectors.
        self.stack.callback(faiss.omp_set_num_threads, faiss.omp_get_max_threads())
        faiss.omp_set_num_threads(1)

    def ask(self, candidates: Vectors, query: Vectors) -> int:
        metric = getattr(faiss, self.space)
        hnsw = self.address.index == "hnsw"
        index = faiss.IndexHNSWFlat(self.dimension, _LINKS, metric) if hnsw else faiss.IndexFlat(self.dimension, metric)
        index.add(self._prepared(candidates))
        _, rows = index.search(self._prepared(query[None, :]), 1)
        return int(rows[0, 0])

    def _prepared(self, vectors: Vectors) -> Vectors:
        # What FAISS scales, it scales in place.
        rows: Vectors = np.array(vectors, dtype=np.float32, order="C")
        if self.metric == "cosine":
            faiss.normalize_L2(rows)
        return rows


STORE = FaissStore
