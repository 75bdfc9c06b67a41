"""From an address to an open store."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from checkers.retrieval.audit.stores.address import Address
from checkers.retrieval.audit.stores.engines import Engine
from checkers.retrieval.audit.stores.store import Store, StoreExtraMissing, StoreMetric, UnsupportedMetric


@contextmanager
def open_store(address: Address, *, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """The store for as long as the context lasts, comparing vectors of `dimension` numbers by `metric`.

    Raises:
        UnsupportedMetric: the store does not have this metric.
        StoreExtraMissing: its library is not installed.
        StoreFailed: it is not there, or refused.
    """
    engine = address.engine
    require_metric(engine, metric)
    try:
        opened = _opened(address, metric, dimension)
    except ImportError as error:
        raise StoreExtraMissing(f"{address.shown} needs {engine.name} ({error}): {engine.install}") from error
    with opened as store:
        yield store


def require_metric(engine: Engine, metric: StoreMetric) -> None:
    """Return if the engine has this metric.

    Raises:
        UnsupportedMetric: it does not; the message says which it has.
    """
    if metric not in engine.metrics:
        raise UnsupportedMetric(f"{engine.name} does not compare by {metric}; it has {', '.join(engine.metrics)}")


def _opened(address: Address, metric: StoreMetric, dimension: int) -> AbstractContextManager[Store]:
    match address.engine.name:
        case "annoy":
            from checkers.retrieval.audit.stores import annoy

            return annoy.opened(metric, dimension)
        case "chroma":
            from checkers.retrieval.audit.stores import chroma

            return chroma.opened(address, metric)
        case "faiss":
            from checkers.retrieval.audit.stores import faiss

            return faiss.opened(address, metric, dimension)
        case "hnswlib":
            from checkers.retrieval.audit.stores import hnswlib

            return hnswlib.opened(metric, dimension)
        case "pgvector":
            from checkers.retrieval.audit.stores import pgvector

            return pgvector.opened(address, metric, dimension)
        case "qdrant":
            from checkers.retrieval.audit.stores import qdrant

            return qdrant.opened(address, metric, dimension)
