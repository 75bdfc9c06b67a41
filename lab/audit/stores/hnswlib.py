"""hnswlib: a graph of neighbours in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from hnswlib import Index

from lab.audit.stores.address import Address, StoreMetric
from lab.audit.stores.store import Store, Vectors

_SPACES: dict[StoreMetric, str] = {"cosine": "cosine", "euclidean": "l2", "inner_product": "ip"}


class _HnswStore:
    def __init__(self, metric: StoreMetric, dimension: int) -> None:
        self._space = _SPACES[metric]
        self._dimension = dimension

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        if query.shape != (self._dimension,):
            # The library would read past the query's end.
            raise ValueError(f"a query of shape {query.shape}; expected ({self._dimension},)")
        index = Index(self._space, self._dimension)
        index.init_index(max_elements=len(candidates))
        index.add_items(candidates, np.arange(len(candidates)), num_threads=1)
        rows, _ = index.knn_query(query, k=1, num_threads=1)
        return int(rows[0, 0])


@contextmanager
def opened(_address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """The library in this process."""
    yield _HnswStore(metric, dimension)
