"""Vector stores behind one adapter, asked as MeTMaP asks them: a fresh collection a case, k = 1.

    with open_store(read_address("faiss:hnsw"), metric="cosine", dimension=384) as store:
        with store.fresh() as collection:
            collection.add(("positive", "negative"), candidates)
            collection.nearest(base)

The libraries are imported when a store of theirs is opened; each is an extra of its own.
"""

from checkers.retrieval.audit.stores.address import Address, WrongAddress, read_address
from checkers.retrieval.audit.stores.engines import ENGINES, Engine
from checkers.retrieval.audit.stores.opening import open_store, require_metric
from checkers.retrieval.audit.stores.store import (
    Collection,
    Store,
    StoreError,
    StoreExtraMissing,
    StoreFailed,
    StoreMetric,
    UnsupportedMetric,
    Vectors,
)

__all__ = [
    "ENGINES",
    "Address",
    "Collection",
    "Engine",
    "Store",
    "StoreError",
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
