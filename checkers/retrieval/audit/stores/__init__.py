"""Vector stores behind one adapter, asked as MeTMaP asks them: a fresh collection a case, k = 1.

    with open_store(read_address("faiss:hnsw"), metric="cosine", dimension=384) as store:
        store.nearest(candidates, query)

The libraries are imported when a store of theirs is opened; each is an extra of its own.
"""

from checkers.retrieval.audit.stores.address import (
    ENGINES,
    Address,
    Engine,
    StoreMetric,
    WrongAddress,
    read_address,
)
from checkers.retrieval.audit.stores.store import (
    Store,
    StoreExtraMissing,
    StoreFailed,
    UnsupportedMetric,
    Vectors,
    open_store,
    require_metric,
)

__all__ = [
    "ENGINES",
    "Address",
    "Engine",
    "Store",
    "StoreExtraMissing",
    "StoreFailed",
    "StoreMetric",
    "UnsupportedMetric",
    "Vectors",
    "WrongAddress",
    "open_store",
    "read_address",
    "require_metric",
]
