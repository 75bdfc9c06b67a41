"""Annoy: a forest of random projection trees in memory."""

from typing import Any

from annoy import AnnoyIndex

from lab.audit.stores.store import Store, Vectors

_TREES = 10
"""As in Annoy's own examples; two vectors are in one leaf of any."""


class AnnoyStore(Store):
    title = "Annoy"

    def ask(self, candidates: Vectors, query: Vectors) -> int:
        # Its own types allow only names that are written out.
        space: Any = self.space
        index = AnnoyIndex(self.dimension, space)
        # Trees are drawn: the same ones every time.
        index.set_seed(1)
        for row, vector in enumerate(candidates):
            index.add_item(row, vector)
        index.build(_TREES, n_jobs=1)
        return int(index.get_nns_by_vector(query, 1)[0])


STORE = AnnoyStore
