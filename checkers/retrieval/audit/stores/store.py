"""What every store can do, and what can go wrong with one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    """One vector, shape (dimension), or several, shape (count, dimension)."""
else:
    Vectors = "numpy.ndarray"

StoreMetric = Literal["cosine", "euclidean", "manhattan", "inner_product", "bray_curtis", "lance_williams"]
"""How a store compares vectors; the nearest has the smallest distance, or the largest inner product."""


class StoreError(Exception):
    """A store cannot be audited; the message says which, why and what is allowed."""


class UnsupportedMetric(StoreError):
    """The store does not have this metric."""


class StoreExtraMissing(StoreError):
    """The store's library is not installed."""


class StoreFailed(StoreError):
    """The store is not there, or did not do what it was asked."""


class Collection(Protocol):
    """Vectors in a store that hold nothing else."""

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Store `vectors`, shape (count, dimension), once; the ids are all different.

        Raises:
            StoreFailed: the store refused.
        """

    def nearest(self, vector: Vectors) -> str:
        """The id that the store names when asked for the one nearest to `vector`.

        Raises:
            StoreFailed: the store refused, or named none.
        """


class Store(Protocol):
    """An open store."""

    def fresh(self) -> AbstractContextManager[Collection]:
        """An empty collection; nothing is left of it when the context ends, after an error neither.

        Raises:
            StoreFailed: the store refused.
        """


def first_line(error: BaseException) -> str:
    """What an error says, on one line; its class where it says nothing."""
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__
