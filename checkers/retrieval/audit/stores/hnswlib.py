"""hnswlib: a graph of neighbours in memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType

import numpy as np
from hnswlib import Index

from checkers.retrieval.audit.stores.store import Store, StoreMetric, Vectors

_SPACES: MappingProxyType[StoreMetric, str] = MappingProxyType(
    {"cosine": "cosine", "euclidean": "l2", "inner_product": "ip"}
)


class _HnswCollection:
    def __init__(self, space: str, dimension: int) -> None:
        self._index = Index(space, dimension)
        self._ids: Sequence[str] = ()

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        self._ids = ids
        self._index.init_index(max_elements=len(ids))
        self._index.add_items(vectors, np.arange(len(ids)), num_threads=1)

    def nearest(self, vector: Vectors) -> str:
        numbers, _ = self._index.knn_query(vector, k=1, num_threads=1)
        return self._ids[int(numbers[0, 0])]


class _HnswStore:
    def __init__(self, metric: StoreMetric, dimension: int) -> None:
        self._space = _SPACES[metric]
        self._dimension = dimension

    @contextmanager
    def fresh(self) -> Iterator[_HnswCollection]:
        """A graph in memory."""
        yield _HnswCollection(self._space, self._dimension)


@contextmanager
def opened(metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """The library in this process."""
    yield _HnswStore(metric, dimension)
