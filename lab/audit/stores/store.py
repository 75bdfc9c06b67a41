"""The base of all stores: opening one, asking it, and what is told if it fails."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import httpx

from lab.audit.cases import AuditFailed, CannotAudit
from lab.audit.stores.address import Address, StoreMetric
from models.wording import first_line

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]
    """One vector, shape (dimension), or several, shape (count, dimension)."""
else:
    Vectors = "numpy.ndarray"

_OURS = "assay-audit-"
_PATIENCE_SECONDS = 5.0
"""A server that is up answers in milliseconds; the clients of the stores would wait for minutes, or for ever."""


class Store(ABC):
    """An open store; an adapter says how it is opened and asked."""

    title: ClassVar[str]
    errors: ClassVar[tuple[type[Exception], ...]] = ()
    """The exceptions of the store's library."""

    def __init__(self, address: Address, metric: StoreMetric, dimension: int) -> None:
        self.address = address
        self.metric = metric
        self.space = address.engine.spaces[metric]
        """The metric in the library's words."""
        self.dimension = dimension
        self.stack = ExitStack()
        """Closed with the store."""

    def open(self) -> None:  # noqa: B027
        """Get ready for cases; what is in memory alone is."""

    @abstractmethod
    def ask(self, candidates: Vectors, query: Vectors) -> int | str | None:
        """The row of the nearest, among nothing but the candidates; None if none is named. Nothing may stay behind."""

    def nearest(self, candidates: Vectors, query: Vectors) -> int:
        """The row of `candidates`, shape (count, dimension), that the store names as the nearest to `query`.

        Raises:
            AuditFailed: the store refused, or named none.
        """
        with self.failures():
            row = self.ask(candidates, query)
        if row is None or int(row) < 0:
            raise AuditFailed(f"{self.title} named none of the candidates: it cannot compare them by {self.metric}")
        return int(row)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Make AuditFailed, in one line, of the library's errors."""
        try:
            yield
        except (AuditFailed, CannotAudit):
            raise
        except self.errors as error:
            raise AuditFailed(f"{self.title}: {first_line(error)}") from error

    def scratch_folder(self) -> Path:
        """An empty folder in that of the address, removed with the store."""
        parent = self.address.folder
        try:
            folder = TemporaryDirectory(prefix=_OURS, dir=parent)
        except OSError as error:
            raise AuditFailed(f"{self.address.shown}: no folder can be made in {parent}: {error.strerror}") from error
        return Path(self.stack.enter_context(folder))

    def require_answer(self) -> None:
        """Return once the server has answered anything."""
        try:
            httpx.get(self.address.url, timeout=_PATIENCE_SECONDS)
        except httpx.TimeoutException as error:
            raise AuditFailed(f"{self.address.shown} did not answer within {_PATIENCE_SECONDS:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise AuditFailed(f"{self.address.shown} cannot be reached: {first_line(error)}") from error


def scratch_name() -> str:
    """A name for a collection that no other has."""
    return f"{_OURS}{uuid.uuid4().hex[:16]}"


@contextmanager
def open_store(address: Address, *, metric: StoreMetric, dimension: int) -> Iterator[Store]:
    """The store for as long as the context lasts, comparing vectors of `dimension` numbers by `metric`.

    Raises:
        CannotAudit: the store does not have this metric, or its library is not installed.
        AuditFailed: it is not there, or refused.
    """
    engine = address.engine
    if metric not in engine.spaces:
        raise CannotAudit(f"{engine.name} does not compare by {metric}; it has {', '.join(engine.spaces)}")
    try:
        adapter: type[Store] = import_module(f"lab.audit.stores.{engine.name}").STORE
    except ImportError as error:
        install = f"pip install 'assay[{engine.name}]'"
        raise CannotAudit(f"{address.shown} needs {engine.name} ({error}): {install}") from error
    store = adapter(address, metric, dimension)
    try:
        with store.failures():
            store.open()
        yield store
    finally:
        with store.failures():
            store.stack.close()
