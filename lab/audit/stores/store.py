"""What every store does for an audit, opening one, and what can go wrong."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from lab.audit.cases import AuditFailed, CannotAudit
from lab.audit.stores.address import Address, Server, StoreMetric
from models.wording import first_line

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    """One vector, shape (dimension), or several, shape (count, dimension)."""
else:
    Vectors = "numpy.ndarray"

_SCRATCH_PREFIX = "assay-audit-"

_PATIENCE_SECONDS = 5.0
"""A server that is up answers in milliseconds; the clients of the stores would wait for minutes, or for ever."""


class UnsupportedMetric(CannotAudit):
    """The store does not have this metric."""


class StoreExtraMissing(CannotAudit):
    """The store's library is not installed."""


class StoreFailed(AuditFailed):
    """The store is not there, or did not do what it was asked."""


class Store(Protocol):
    """An open store."""

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        """The row of `candidates`, shape (count, dimension), that the store names as the nearest to `query`.

        It is asked with k = 1 in a collection that holds nothing else and that is removed afterwards, after an error
        too.

        Raises:
            StoreFailed: the store refused, or named none.
        """


@contextmanager
def open_store(address: Address, *, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """The store for as long as the context lasts, comparing vectors of `dimension` numbers by `metric`.

    Raises:
        UnsupportedMetric: the store does not have this metric.
        StoreExtraMissing: its library is not installed.
        StoreFailed: it is not there, or refused.
    """
    engine = address.engine
    if metric not in engine.metrics:
        raise UnsupportedMetric(f"{engine.name} does not compare by {metric}; it has {', '.join(engine.metrics)}")
    try:
        module = import_module(f"lab.audit.stores.{engine.name}")
    except ImportError as error:
        raise StoreExtraMissing(f"{address.shown} needs {engine.name} ({error}): {engine.install}") from error
    with module.opened(address, metric, dimension) as store:
        yield store


def require_answer(address: Address, server: Server) -> None:
    """Return once the server has answered anything.

    Raises:
        StoreFailed: it is not there, or did not answer in time.
    """
    import httpx

    try:
        httpx.get(server.url, timeout=_PATIENCE_SECONDS)
    except httpx.TimeoutException as error:
        raise StoreFailed(f"{address.shown} did not answer within {_PATIENCE_SECONDS:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreFailed(f"{address.shown} cannot be reached: {first_line(error)}") from error


def scratch_name() -> str:
    """A name for a collection that no other has."""
    return f"{_SCRATCH_PREFIX}{uuid.uuid4().hex[:16]}"


@contextmanager
def scratch_folder(address: Address, parent: Path) -> Iterator[Path]:
    """An empty folder in `parent`, removed with all that is in it when the context ends.

    Raises:
        StoreFailed: `parent` is no folder, or nothing can be written there.
    """
    try:
        folder = TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=parent)
    except OSError as error:
        raise StoreFailed(f"{address.shown}: no folder can be made in {parent}: {error.strerror}") from error
    with folder as name:
        yield Path(name)
