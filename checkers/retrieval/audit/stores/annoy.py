"""Annoy: a forest of random projection trees, built once and then only read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Literal

from annoy import AnnoyIndex

from checkers.retrieval.audit.stores.store import Store, StoreMetric, Vectors

_Space = Literal["angular", "euclidean", "manhattan", "dot"]

_SPACES: MappingProxyType[StoreMetric, _Space] = MappingProxyType(
    {"cosine": "angular", "euclidean": "euclidean", "manhattan": "manhattan", "inner_product": "dot"}
)

_TREES = 10
"""As in Annoy's own examples; two vectors are in one leaf of any."""

_SEED = 1
"""Trees are drawn: the same ones every time."""


class _AnnoyCollection:
    def __init__(self, space: _Space, dimension: int) -> None:
        self._index = AnnoyIndex(dimension, space)
        self._index.set_seed(_SEED)
        self._ids: Sequence[str] = ()

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        self._ids = ids
        for number, vector in enumerate(vectors):
            self._index.add_item(number, vector)
        self._index.build(_TREES, n_jobs=1)

    def nearest(self, vector: Vectors) -> str:
        number: int
        (number,) = self._index.get_nns_by_vector(vector, 1)
        return self._ids[number]


class _AnnoyStore:
    def __init__(self, metric: StoreMetric, dimension: int) -> None:
        self._space = _SPACES[metric]
        self._dimension = dimension

    @contextmanager
    def fresh(self) -> Iterator[_AnnoyCollection]:
        """An index in memory."""
        yield _AnnoyCollection(self._space, self._dimension)


@contextmanager
def opened(metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """Annoy in this process."""
    yield _AnnoyStore(metric, dimension)
