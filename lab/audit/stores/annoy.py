"""Annoy: a forest of random projection trees in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from annoy import AnnoyIndex

from lab.audit.stores.address import Address, StoreMetric
from lab.audit.stores.store import Store, Vectors

_Space = Literal["angular", "euclidean", "manhattan", "dot"]

_SPACES: dict[StoreMetric, _Space] = {
    "cosine": "angular",
    "euclidean": "euclidean",
    "manhattan": "manhattan",
    "inner_product": "dot",
}

_TREES = 10
"""As in Annoy's own examples; two vectors are in one leaf of any."""

_SEED = 1
"""Trees are drawn: the same ones every time."""


class _AnnoyStore:
    def __init__(self, metric: StoreMetric, dimension: int) -> None:
        self._space = _SPACES[metric]
        self._dimension = dimension

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        index = AnnoyIndex(self._dimension, self._space)
        index.set_seed(_SEED)
        for row, vector in enumerate(candidates):
            index.add_item(row, vector)
        index.build(_TREES, n_jobs=1)
        (nearest,) = index.get_nns_by_vector(query, 1)
        return int(nearest)


@contextmanager
def opened(_address: Address, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    yield _AnnoyStore(metric, dimension)
