"""hnswlib: a graph of neighbours in memory."""

import numpy as np
from hnswlib import Index

from lab.audit.stores.store import Store, Vectors


class HnswStore(Store):
    title = "hnswlib"

    def ask(self, candidates: Vectors, query: Vectors) -> int:
        if query.shape != (self.dimension,):
            # The library would read past the query's end.
            raise ValueError(f"a query of shape {query.shape}; expected ({self.dimension},)")
        index = Index(self.space, self.dimension)
        index.init_index(max_elements=len(candidates))
        index.add_items(candidates, np.arange(len(candidates)), num_threads=1)
        rows, _ = index.knn_query(query, k=1, num_threads=1)
        return int(rows[0, 0])


STORE = HnswStore
