"""The seven distances that the paper measures embeddings by, over rows of vectors of length 1 (paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from checkers.retrieval.audit.cases import Metric

Floats: TypeAlias = npt.NDArray[np.float64]

_LEAST_VARIANCE = 1e-10
"""Of the largest; the pseudo-inverse leaves directions with less out."""


class Pairs:
    """Rows of two arrays (pairs, dimensions) side by side; what several distances need is computed once."""

    def __init__(self, one: Floats, other: Floats) -> None:
        self.one = one
        self.other = other

    @cached_property
    def differences(self) -> Floats:
        """Row by row and number by number."""
        return self.one - self.other

    @cached_property
    def magnitudes(self) -> Floats:
        """Of the differences."""
        return np.abs(self.differences)

    @cached_property
    def squares(self) -> Floats:
        """Squared length of each difference."""
        return np.asarray(np.einsum("ij,ij->i", self.differences, self.differences))


class Whitening:
    """The linear map under which Euclidean distances are Mahalanobis distances."""

    def __init__(self, chunks: Iterable[Floats]) -> None:
        """By the pseudo-inverse covariance of all rows (rows, dimensions), which come in chunks."""
        count, total, products = 0, np.zeros(0), np.zeros((0, 0))
        for rows in chunks:
            if not count:
                total, products = np.zeros(rows.shape[1]), np.zeros((rows.shape[1], rows.shape[1]))
            count += len(rows)
            total += rows.sum(axis=0)
            products += rows.T @ rows
        mean = total / max(count, 1)
        covariance = (products - count * np.outer(mean, mean)) / max(count - 1, 1)
        values, directions = np.linalg.eigh(covariance)
        largest = values[-1] if len(values) else 0.0
        # Models compute in single precision: what is smaller than this is the rounding of directions without breadth.
        kept = values > _LEAST_VARIANCE * largest
        self.rank = int(kept.sum())
        self.map: Floats = directions[:, kept] / np.sqrt(values[kept])

    def tells(self, distinct: int) -> bool:
        """Whether `distinct` vectors are enough for their distances to differ.

        No more than one vector to each dimension that they span, and every two of them are equally far apart.
        """
        return distinct > self.rank + 1


def distances(metric: Metric, pairs: Pairs, whitening: Whitening | None = None) -> Floats:
    """The distance of each pair (pairs,).

    Raises:
        ValueError: Mahalanobis distances without a whitening.
    """
    if metric == "mahalanobis":
        if whitening is None:
            raise ValueError("Mahalanobis distances need the covariance that they are measured by")
        return np.asarray(np.linalg.norm(pairs.differences @ whitening.map, axis=1))
    return _PLAIN[metric](pairs)


def unit(vectors: npt.NDArray[np.floating]) -> Floats:
    """Rows scaled to length 1 in double precision; rows of zeros stay."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))


def _cosine(pairs: Pairs) -> Floats:
    # Of vectors of length 1; exact where they are almost the same, as 1 minus their product is not.
    return pairs.squares / 2


def _euclidean(pairs: Pairs) -> Floats:
    return np.sqrt(pairs.squares)


def _manhattan(pairs: Pairs) -> Floats:
    return np.asarray(pairs.magnitudes.sum(axis=1))


def _pearson(pairs: Pairs) -> Floats:
    """1 - r; a row of equal numbers correlates with nothing."""
    one = pairs.one - pairs.one.mean(axis=1, keepdims=True)
    other = pairs.other - pairs.other.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("ij,ij->i", one, other)
    return 1 - _quotients(products, lengths)


def _bray_curtis(pairs: Pairs) -> Floats:
    sums = np.abs(pairs.one + pairs.other).sum(axis=1)
    return _quotients(pairs.magnitudes.sum(axis=1), sums)


def _lance_williams(pairs: Pairs) -> Floats:
    """Also known as Canberra; nothing beside nothing adds nothing."""
    sums = np.abs(pairs.one) + np.abs(pairs.other)
    return np.asarray(_quotients(pairs.magnitudes, sums).sum(axis=1))


def _quotients(numbers: Floats, divisors: Floats) -> Floats:
    """Number by number; 0 where the divisor is 0."""
    return np.asarray(np.divide(numbers, divisors, out=np.zeros_like(numbers), where=divisors > 0))


_PLAIN: Mapping[Metric, Callable[[Pairs], Floats]] = {
    "cosine": _cosine,
    "euclidean": _euclidean,
    "manhattan": _manhattan,
    "pearson": _pearson,
    "bray_curtis": _bray_curtis,
    "lance_williams": _lance_williams,
}
