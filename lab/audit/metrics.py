"""The seven distances that the paper measures embeddings by, over rows of vectors of length 1 (paper, section 4.1)."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lab.audit.cases import Metric

Floats: TypeAlias = npt.NDArray[np.float64]

_LEAST_VARIANCE = 1e-10
"""As a share of the largest. Models compute in single precision: what is smaller is the rounding of directions without
breadth, and the pseudo-inverse leaves it out."""


class Whitening:
    """The linear map under which Euclidean distances are Mahalanobis distances."""

    def __init__(self, chunks: Iterable[Floats]) -> None:
        """By the pseudo-inverse covariance of all rows (rows, dimensions), which come in chunks."""
        count, total, products = 0, np.zeros(1), np.zeros((1, 1))
        for rows in chunks:
            count, total, products = count + len(rows), total + rows.sum(axis=0), products + rows.T @ rows
        mean = total / max(count, 1)
        values, directions = np.linalg.eigh((products - count * np.outer(mean, mean)) / max(count - 1, 1))
        kept = values > _LEAST_VARIANCE * values[-1]
        self.rank = int(kept.sum())
        self.map: Floats = directions[:, kept] / np.sqrt(values[kept])

    def tells(self, distinct: int) -> bool:
        """True if `distinct` vectors are enough for their distances to differ.

        No more than one vector to each dimension that they span, and every two of them are equally far apart.
        """
        return distinct > self.rank + 1


def distances(metric: Metric, one: Floats, other: Floats, whitening: Whitening | None = None) -> Floats:
    """The distance of each pair of rows of two arrays (pairs, dimensions), as an array (pairs,).

    Raises:
        ValueError: Mahalanobis distances without a whitening.
    """
    differences = one - other
    match metric:
        case "cosine":
            # Of vectors of length 1; exact if they are almost the same, as 1 minus their product is not.
            found = np.square(differences).sum(axis=1) / 2
        case "euclidean":
            found = np.sqrt(np.square(differences).sum(axis=1))
        case "manhattan":
            found = np.abs(differences).sum(axis=1)
        case "pearson":
            # 1 - r; a row of equal numbers correlates with nothing.
            centred, other_centred = (rows - rows.mean(axis=1, keepdims=True) for rows in (one, other))
            lengths = np.linalg.norm(centred, axis=1) * np.linalg.norm(other_centred, axis=1)
            found = 1 - _quotients((centred * other_centred).sum(axis=1), lengths)
        case "bray_curtis":
            found = _quotients(np.abs(differences).sum(axis=1), np.abs(one + other).sum(axis=1))
        case "lance_williams":
            # Also known as Canberra; nothing beside nothing adds nothing.
            found = _quotients(np.abs(differences), np.abs(one) + np.abs(other)).sum(axis=1)
        case "mahalanobis":
            if whitening is None:
                raise ValueError("Mahalanobis distances need the covariance that they are measured by")
            found = np.linalg.norm(differences @ whitening.map, axis=1)
    return np.asarray(found)


def unit(vectors: npt.NDArray[np.floating]) -> Floats:
    """Rows scaled to length 1 in double precision; rows of zeros stay."""
    rows = vectors.astype(np.float64)
    return _quotients(rows, np.linalg.norm(rows, axis=1, keepdims=True))


def _quotients(numbers: Floats, divisors: Floats) -> Floats:
    """Number by number; 0 if the divisor is 0."""
    return np.asarray(np.divide(numbers, divisors, out=np.zeros_like(numbers), where=divisors > 0))
